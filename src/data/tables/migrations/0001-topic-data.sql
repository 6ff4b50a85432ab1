-- What the topics are answered from. Times are milliseconds since the epoch, coordinates WGS84 degrees.
-- A loaded layer (sites of a topic, records of a feed) has an R*Tree table of its own, made and dropped with its data
-- set by layers.ts: to drop a table is quick, to delete a million rows from an R*Tree is not.
CREATE TABLE datasets (
  name TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  vintage TEXT NOT NULL,
  licence TEXT NOT NULL,
  sample INTEGER NOT NULL CHECK (sample IN (0, 1)),
  rows INTEGER NOT NULL,
  loaded_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- AUTOINCREMENT: an id is never used again, so an outline that is cached by id can never be that of another load.
CREATE TABLE areas (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  geoid TEXT NOT NULL UNIQUE,
  level TEXT NOT NULL CHECK (level IN ('tract', 'county')),
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  outline BLOB NOT NULL
) STRICT;

CREATE VIRTUAL TABLE area_boxes USING rtree (id, min_lng, max_lng, min_lat, max_lat, +geoid TEXT, +level TEXT);

CREATE TABLE ratings (
  geoid TEXT NOT NULL,
  topic TEXT NOT NULL,
  rating TEXT NOT NULL,
  score REAL,
  frequency REAL,
  PRIMARY KEY (geoid, topic)
) STRICT, WITHOUT ROWID;

CREATE TABLE air_quality (
  county TEXT PRIMARY KEY,
  year INTEGER NOT NULL,
  days TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE radon (
  county TEXT PRIMARY KEY,
  zone INTEGER NOT NULL CHECK (zone IN (1, 2, 3))
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE reading_boxes USING rtree (
  id, min_lng, max_lng, min_lat, max_lat,
  +pollutant TEXT, +monitor TEXT, +lat REAL, +lng REAL, +concentration REAL, +measured_at INTEGER
);
