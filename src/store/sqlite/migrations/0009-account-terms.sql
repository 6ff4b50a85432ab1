-- Under which terms each account was last bought with, so that `quota` without a job knows the allowance.
-- terms: JSON of AccountTerms (port.ts).
CREATE TABLE account_terms (
  account TEXT PRIMARY KEY,
  terms TEXT NOT NULL,
  run INTEGER NOT NULL REFERENCES runs (id)
) STRICT, WITHOUT ROWID;
