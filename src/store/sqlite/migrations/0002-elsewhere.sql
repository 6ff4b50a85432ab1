-- What other programs spend of the same quota.

-- elsewhere: credits of the period that the provider counts and this ledger does not, by the provider's page at
-- corrected_at; below 0 where calls of unknown charge turned out to be free. NULL: never corrected.
ALTER TABLE periods ADD COLUMN elsewhere INTEGER;
ALTER TABLE periods ADD COLUMN corrected_at INTEGER;

-- What the ledger thought was left when the service said that the quota is used up.
ALTER TABLE periods ADD COLUMN exhausted_left INTEGER;

-- The same at the claim of each call: a refused one then tells by how much the ledger was wrong.
ALTER TABLE calls ADD COLUMN credits_left INTEGER;

-- With the credits in it, a statement by run is read from the index alone.
DROP INDEX calls_of_run;
CREATE INDEX calls_of_run ON calls (run, charge, credits);
