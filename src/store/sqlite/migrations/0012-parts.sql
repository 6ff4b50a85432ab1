-- The output folders of part files. readings: how many runs have begun to write there; parts: how many the latest one has.
CREATE TABLE part_folders (
  folder TEXT PRIMARY KEY,
  job TEXT NOT NULL,
  parts INTEGER NOT NULL,
  readings INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- version grows with each claim. owner is null where nobody writes the part. written: JSON of WrittenPart (part-store.ts), null
-- where it was never written.
CREATE TABLE parts (
  folder TEXT NOT NULL REFERENCES part_folders (folder),
  part TEXT NOT NULL,
  version INTEGER NOT NULL,
  run INTEGER NOT NULL REFERENCES runs (id),
  owner TEXT,
  lease_until INTEGER NOT NULL,
  written TEXT,
  PRIMARY KEY (folder, part)
) STRICT, WITHOUT ROWID;
