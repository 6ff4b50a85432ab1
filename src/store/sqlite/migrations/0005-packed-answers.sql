-- Answers of cells are kept packed, as packed-answers.ts says, in place of JSON: the step of the same name in database.ts
-- turns the old ones. Texts that come again (ratings, slugs of topics) are kept once, by number; none is ever taken away.
CREATE TABLE texts (
  number INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;

ALTER TABLE cells RENAME COLUMN answers TO answers_json;
ALTER TABLE cells ADD COLUMN answers BLOB NOT NULL DEFAULT x'';
