-- Zones of FEMA's flood maps, the panels of the maps, and tiles: boxes outside of which the zones of their state were not loaded. A state without tiles is
-- loaded whole. The rings lie in a table of their own, so that all boxes are read without them.
CREATE TABLE flood_zones (
  id INTEGER PRIMARY KEY,
  -- The id of the study, which begins with the two digits of its state.
  geoid TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('zone', 'panel', 'tile')),
  -- Of a zone its code and subtype, of a panel its number and the day since which it is in force.
  code TEXT NOT NULL,
  detail TEXT NOT NULL,
  min_lng REAL NOT NULL,
  max_lng REAL NOT NULL,
  min_lat REAL NOT NULL,
  max_lat REAL NOT NULL,
  -- Of a zone its flag and its facts, as a JSON object.
  facts TEXT NOT NULL
) STRICT;
CREATE TABLE flood_zone_outlines (id INTEGER PRIMARY KEY, outline BLOB NOT NULL) STRICT;

-- As with areas, an id is never used again.
INSERT INTO next_ids VALUES ('zones', 1);
