-- The description of a user's layer by which its records were loaded: digests of what decides its records, and of what decides its answers. Answers
-- from before the other one was last seen to change do not count any more.
CREATE TABLE layers (
  dataset TEXT PRIMARY KEY,
  records TEXT NOT NULL,
  answers TEXT NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
