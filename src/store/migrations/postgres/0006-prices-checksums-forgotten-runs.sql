-- What each kind of call of a service was last charged. credits: NULL where calls of the kind were answered free of charge only.
CREATE TABLE prices (
  source integer NOT NULL REFERENCES sources (id),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('single', 'standard', 'enterprise')),
  credits integer,
  charged_at bigint NOT NULL,
  PRIMARY KEY (source, kind)
);

INSERT INTO prices (source, kind, credits, charged_at)
SELECT source, kind, credits, claimed_at FROM calls
WHERE id IN (SELECT max(id) FROM calls WHERE charge = 'charged' GROUP BY source, kind);

-- The CRC-32 of a row, as a signed number (packed-answers.ts); NULL in rows that an earlier version wrote.
ALTER TABLE cells ADD COLUMN checksum integer;
ALTER TABLE texts ADD COLUMN checksum integer;
ALTER TABLE areas ADD COLUMN checksum integer;

-- When the user had a run forgotten: its files, settings and summary are gone. Its calls stay in the ledger.
ALTER TABLE runs ADD COLUMN forgotten_at bigint;
