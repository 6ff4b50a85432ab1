-- The areas that calls in flight are made for: whoever wants one of these topics for the same area waits for their answer,
-- though it would ask at another cell. topics: a set of the contract's topics, one bit each. A row lives as long as its call
-- is `sent`.
CREATE TABLE area_claims (
  call INTEGER NOT NULL REFERENCES calls (id),
  source INTEGER NOT NULL,
  area TEXT NOT NULL,
  topics INTEGER NOT NULL,
  PRIMARY KEY (call, area)
) STRICT, WITHOUT ROWID;
CREATE INDEX area_claims_by_area ON area_claims (source, area);
