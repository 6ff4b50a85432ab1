-- The states that a data set is of, by their letters with commas between; '' for the whole of the US.
ALTER TABLE datasets ADD COLUMN states TEXT NOT NULL DEFAULT '';
