-- The output folders of part files. readings: how many runs have begun to write there; parts: how many the latest one has.
CREATE TABLE part_folders (
  folder text COLLATE "C" PRIMARY KEY,
  job text COLLATE "C" NOT NULL,
  parts integer NOT NULL,
  readings integer NOT NULL
);
-- version grows with each claim. owner is null where nobody writes the part. written: JSON of WrittenPart (part-store.ts), null
-- where it was never written.
CREATE TABLE parts (
  folder text COLLATE "C" NOT NULL REFERENCES part_folders (folder),
  part text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  run bigint NOT NULL REFERENCES runs (id),
  owner text,
  lease_until bigint NOT NULL,
  written text,
  PRIMARY KEY (folder, part)
);
