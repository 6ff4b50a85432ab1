-- The units of a part, as its publisher issues them (published-units.ts): a JSON object with the rows of each, and its vintage where it is another
-- than the part's. '{}' for a part that an earlier version loaded: nothing is compared with it.
ALTER TABLE parts ADD COLUMN units TEXT NOT NULL DEFAULT '{}';
-- 'whole': what has no record in its state has none at its publisher. 'units': only the units in it are loaded.
ALTER TABLE parts ADD COLUMN extent TEXT NOT NULL DEFAULT 'whole' CHECK (extent IN ('whole', 'units'));
