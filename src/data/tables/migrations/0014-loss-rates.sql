-- The expected annual loss of buildings in dollars for each dollar of their value (FEMA's ALRB). Null: the index has none, or an earlier version loaded it.
ALTER TABLE ratings_tract ADD COLUMN loss_rate REAL;
ALTER TABLE ratings_county ADD COLUMN loss_rate REAL;
