-- The `details` of answers, where a job asks for them: apart from the cells, which every plan and every write reads.
-- json: compressed by zstd; bytes: its size before that, so that nothing need be unpacked to be counted.
CREATE TABLE details (
  id INTEGER PRIMARY KEY,
  cell INTEGER NOT NULL REFERENCES cells (id),
  topic TEXT NOT NULL,
  as_of INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  json BLOB NOT NULL,
  UNIQUE (cell, topic)
) STRICT;
