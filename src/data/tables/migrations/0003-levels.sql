-- Areas and ratings come by level, tracts or counties, and one level is replaced without touching the other: each has
-- tables of its own. A data set without levels has the level ''.
ALTER TABLE datasets RENAME TO datasets_before;
CREATE TABLE datasets (
  name TEXT NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('', 'tract', 'county')),
  source TEXT NOT NULL,
  vintage TEXT NOT NULL,
  licence TEXT NOT NULL,
  sample INTEGER NOT NULL CHECK (sample IN (0, 1)),
  rows INTEGER NOT NULL,
  loaded_at INTEGER NOT NULL,
  PRIMARY KEY (name, level)
) STRICT, WITHOUT ROWID;
INSERT INTO datasets
  SELECT name, '', source, vintage, licence, sample, rows, loaded_at FROM datasets_before
  WHERE name NOT IN ('areas', 'nri');
INSERT INTO datasets
  SELECT name, level, source, vintage, licence, sample, (SELECT count(*) FROM areas WHERE areas.level = levels.level), loaded_at
  FROM datasets_before, (SELECT DISTINCT level FROM areas) AS levels WHERE name = 'areas';
INSERT INTO datasets
  SELECT name, level, source, vintage, licence, sample, total, loaded_at
  FROM datasets_before, (SELECT iif(length(geoid) = 5, 'county', 'tract') AS level, count(*) AS total FROM ratings GROUP BY 1)
  WHERE name = 'nri';
DROP TABLE datasets_before;

-- An id is never used again (next_ids.next_id), so an outline that is cached by id can never be that of another load.
CREATE TABLE next_ids (kind TEXT PRIMARY KEY, next_id INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO next_ids VALUES ('areas', (SELECT ifnull(max(id), 0) + 1 FROM areas));

CREATE TABLE areas_tract (id INTEGER PRIMARY KEY, geoid TEXT NOT NULL UNIQUE, name TEXT NOT NULL, state TEXT NOT NULL, outline BLOB NOT NULL) STRICT;
CREATE TABLE areas_county (id INTEGER PRIMARY KEY, geoid TEXT NOT NULL UNIQUE, name TEXT NOT NULL, state TEXT NOT NULL, outline BLOB NOT NULL) STRICT;
CREATE VIRTUAL TABLE area_boxes_tract USING rtree (id, min_lng, max_lng, min_lat, max_lat, +geoid TEXT);
CREATE VIRTUAL TABLE area_boxes_county USING rtree (id, min_lng, max_lng, min_lat, max_lat, +geoid TEXT);
INSERT INTO areas_tract SELECT id, geoid, name, state, outline FROM areas WHERE level = 'tract';
INSERT INTO areas_county SELECT id, geoid, name, state, outline FROM areas WHERE level = 'county';
INSERT INTO area_boxes_tract SELECT id, min_lng, max_lng, min_lat, max_lat, geoid FROM area_boxes WHERE level = 'tract';
INSERT INTO area_boxes_county SELECT id, min_lng, max_lng, min_lat, max_lat, geoid FROM area_boxes WHERE level = 'county';
DROP TABLE areas;
DROP TABLE area_boxes;

CREATE TABLE ratings_tract (geoid TEXT NOT NULL, topic TEXT NOT NULL, rating TEXT NOT NULL, score REAL, frequency REAL, PRIMARY KEY (geoid, topic)) STRICT, WITHOUT ROWID;
CREATE TABLE ratings_county (geoid TEXT NOT NULL, topic TEXT NOT NULL, rating TEXT NOT NULL, score REAL, frequency REAL, PRIMARY KEY (geoid, topic)) STRICT, WITHOUT ROWID;
INSERT INTO ratings_tract SELECT * FROM ratings WHERE length(geoid) = 11;
INSERT INTO ratings_county SELECT * FROM ratings WHERE length(geoid) = 5;
DROP TABLE ratings;

-- Which load of a data set may put its tables in place: the one that began last.
CREATE TABLE loads (dataset TEXT NOT NULL, level TEXT NOT NULL, token TEXT NOT NULL, PRIMARY KEY (dataset, level)) STRICT, WITHOUT ROWID;
