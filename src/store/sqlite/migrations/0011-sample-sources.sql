-- Sources that have answered from sample data. until: when the newest of these answers was said; answers that are not newer
-- count as sample data. still: whether the source's latest answer was one.
CREATE TABLE sample_sources (
  source INTEGER PRIMARY KEY REFERENCES sources (id),
  until INTEGER NOT NULL,
  still INTEGER NOT NULL CHECK (still IN (0, 1))
) STRICT;
