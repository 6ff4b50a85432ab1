-- What is known of whole areas: one purchase serves all locations of a census tract or county (job, areas).
-- answers as in cells, cut to the fields that are per area; mismatched_at: two locations of it were answered differently.
CREATE TABLE areas (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES sources (id),
  area TEXT NOT NULL,
  answers TEXT NOT NULL DEFAULT '{}',
  mismatched_at INTEGER,
  UNIQUE (source, area)
) STRICT;

-- The approved plan under which a run spends: several runs may share one, and together they stay within it.
ALTER TABLE runs ADD COLUMN plan TEXT;
CREATE INDEX runs_of_plan ON runs (plan) WHERE plan IS NOT NULL;
