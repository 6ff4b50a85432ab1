-- The areas whose places get the rating of their county (county-ratings.ts), with the hazards for which they do, with spaces between; '*' is each
-- hazard: tracts with an outline and without a rating of a hazard, and counties of which the outline of some tract is not here.
DROP TABLE county_rated_areas;
CREATE TABLE county_rated_areas (geoid TEXT PRIMARY KEY, topics TEXT NOT NULL) STRICT, WITHOUT ROWID;
