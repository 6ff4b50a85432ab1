-- What the topics are answered from. Times are milliseconds since the epoch, coordinates WGS84 degrees.

-- The loaded datasets. Areas and ratings come by level, tracts or counties, and one level is replaced without touching the other: each has
-- tables of its own. A dataset without levels has the level ''.
CREATE TABLE datasets (
  name TEXT NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('', 'tract', 'county')),
  sample INTEGER NOT NULL CHECK (sample IN (0, 1)),
  -- A record of two parts is one row.
  rows INTEGER NOT NULL,
  -- When its records last changed.
  loaded_at INTEGER NOT NULL,
  PRIMARY KEY (name, level)
) STRICT, WITHOUT ROWID;

-- A dataset is a set of parts. A part is what was asked of its publisher: the whole US or one state. It is replaced whole, compared with
-- itself, and removed whole.
CREATE TABLE parts (
  dataset TEXT NOT NULL,
  level TEXT NOT NULL,
  -- Two letters, or 'US'.
  state TEXT NOT NULL,
  -- The source of `perilbook data get` that it was asked of; '' for a file that was loaded by hand.
  asked_of TEXT NOT NULL,
  -- How far around each place of its state it covers, in metres: 0 where the publisher lists by state, more where it was asked by box.
  reach INTEGER NOT NULL,
  source TEXT NOT NULL,
  -- Its files as a JSON list, each with name and SHA-256.
  files TEXT NOT NULL,
  vintage TEXT NOT NULL,
  licence TEXT NOT NULL,
  rows INTEGER NOT NULL,
  -- Of the whole US: the number of its records in each state, as a JSON object.
  state_rows TEXT NOT NULL,
  loaded_at INTEGER NOT NULL,
  PRIMARY KEY (dataset, level, state),
  FOREIGN KEY (dataset, level) REFERENCES datasets (name, level) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Which load of a dataset may put its tables in place: the one that began last.
CREATE TABLE loads (dataset TEXT NOT NULL, level TEXT NOT NULL, token TEXT NOT NULL, PRIMARY KEY (dataset, level)) STRICT, WITHOUT ROWID;

-- An id is never used again (next_ids.next_id), so an outline that is cached by id can never be that of another load.
CREATE TABLE next_ids (kind TEXT PRIMARY KEY, next_id INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO next_ids VALUES ('areas', 1);

CREATE TABLE areas_tract (id INTEGER PRIMARY KEY, geoid TEXT NOT NULL UNIQUE, name TEXT NOT NULL, state TEXT NOT NULL, outline BLOB NOT NULL) STRICT;
CREATE TABLE areas_county (id INTEGER PRIMARY KEY, geoid TEXT NOT NULL UNIQUE, name TEXT NOT NULL, state TEXT NOT NULL, outline BLOB NOT NULL) STRICT;
CREATE VIRTUAL TABLE area_boxes_tract USING rtree (id, min_lng, max_lng, min_lat, max_lat, +geoid TEXT);
CREATE VIRTUAL TABLE area_boxes_county USING rtree (id, min_lng, max_lng, min_lat, max_lat, +geoid TEXT);

CREATE TABLE ratings_tract (geoid TEXT NOT NULL, topic TEXT NOT NULL, rating TEXT NOT NULL, score REAL, frequency REAL, PRIMARY KEY (geoid, topic)) STRICT, WITHOUT ROWID;
CREATE TABLE ratings_county (geoid TEXT NOT NULL, topic TEXT NOT NULL, rating TEXT NOT NULL, score REAL, frequency REAL, PRIMARY KEY (geoid, topic)) STRICT, WITHOUT ROWID;

-- The areas whose places get the rating of their county (county-ratings.ts): tracts with an outline and without a rating, and counties of which the
-- outline of some tract is not here.
CREATE TABLE county_rated_areas (geoid TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TABLE air_quality (geoid TEXT PRIMARY KEY, year INTEGER NOT NULL, days TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE radon (geoid TEXT PRIMARY KEY, zone INTEGER NOT NULL CHECK (zone IN (1, 2, 3))) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE reading_boxes USING rtree (
  id, min_lng, max_lng, min_lat, max_lat,
  +pollutant TEXT, +monitor TEXT, +lat REAL, +lng REAL, +concentration REAL, +measured_at INTEGER
);

-- A loaded layer (sites of a topic, events of a kind) has tables of its own, an R*Tree and one more, made and dropped with its dataset by
-- layers.ts: to drop a table is quick, to delete a million rows from an R*Tree is not.
