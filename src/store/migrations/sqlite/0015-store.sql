-- Answers, ledger and runs. Times are milliseconds since the epoch; credits are whole numbers. Migrations below 15 belonged to
-- development versions, whose files are refused.
CREATE TABLE sources (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- Numbers of repeated texts (ratings, slugs of topics). They are never deleted.
CREATE TABLE texts (
  number INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;

-- One row per cell, because plan and write read all answers of a cell together.
-- answers: packed as packed-answers.ts says; failures: {"ozone":["unavailable","note",at],...}
CREATE TABLE cells (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES sources (id),
  lat7 INTEGER NOT NULL,
  lng7 INTEGER NOT NULL,
  answers BLOB NOT NULL DEFAULT x'',
  failures TEXT,
  UNIQUE (source, lat7, lng7)
) STRICT;

-- Answers for whole areas: one purchase serves all locations of a census tract or county (`areas` in a job).
-- answers: JSON, with only the fields that hold for the area; mismatched_at: when two of its locations got different answers.
CREATE TABLE areas (
  source INTEGER NOT NULL REFERENCES sources (id),
  area TEXT NOT NULL,
  answers TEXT NOT NULL DEFAULT '{}',
  mismatched_at INTEGER,
  PRIMARY KEY (source, area)
) STRICT;

CREATE TABLE bundles (
  source INTEGER NOT NULL REFERENCES sources (id),
  kind TEXT NOT NULL CHECK (kind IN ('standard', 'enterprise')),
  topics TEXT NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (source, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE refused_scopes (
  source INTEGER NOT NULL REFERENCES sources (id),
  key TEXT NOT NULL,
  scope TEXT NOT NULL,
  refused_at INTEGER NOT NULL,
  PRIMARY KEY (source, key, scope)
) STRICT, WITHOUT ROWID;

-- Sources that have answered from sample data. until: the time of the newest such answer; older answers count as sample data too.
-- still: whether the source's latest answer was one.
CREATE TABLE sample_sources (
  source INTEGER PRIMARY KEY REFERENCES sources (id),
  until INTEGER NOT NULL,
  still INTEGER NOT NULL CHECK (still IN (0, 1))
) STRICT;

-- latest: when the account's newest call was settled; ahead: what is added to the ledger's time, so that the account's time never
-- decreases.
CREATE TABLE accounts (
  account TEXT PRIMARY KEY,
  ahead INTEGER NOT NULL DEFAULT 0,
  latest INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  job TEXT NOT NULL,
  input TEXT NOT NULL,
  output TEXT NOT NULL,
  account TEXT NOT NULL,
  owner TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  state TEXT NOT NULL CHECK (state IN ('running', 'complete', 'incomplete', 'paused', 'stopped', 'interrupted')),
  planned_credits INTEGER NOT NULL,
  budget INTEGER NOT NULL,
  charged INTEGER NOT NULL DEFAULT 0,
  unknown INTEGER NOT NULL DEFAULT 0,
  open INTEGER NOT NULL DEFAULT 0,
  resume_after INTEGER,
  settings TEXT,
  summary TEXT
) STRICT;

-- The ledger: a row is written as `sent` before its call is sent, settled when the outcome is known, and never deleted.
-- credits_left: the credits left at the claim, by the ledger; if the quota then refuses the call, it shows by how much that was wrong.
CREATE TABLE calls (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (id),
  source INTEGER NOT NULL REFERENCES sources (id),
  account TEXT NOT NULL,
  period_start INTEGER NOT NULL,
  key TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('single', 'standard', 'enterprise')),
  topic TEXT,
  lat7 INTEGER NOT NULL,
  lng7 INTEGER NOT NULL,
  price INTEGER NOT NULL,
  charge TEXT NOT NULL CHECK (charge IN ('sent', 'charged', 'free', 'unknown')),
  credits INTEGER NOT NULL,
  owner TEXT NOT NULL,
  claimed_at INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  credits_left INTEGER,
  settled_at INTEGER,
  outcome TEXT,
  request_id TEXT
) STRICT;
CREATE INDEX calls_open ON calls (source, lat7, lng7) WHERE charge = 'sent';
CREATE INDEX calls_recent ON calls (account, settled_at) WHERE credits > 0;
-- For calls that were counted under another anniversary day (claim-usage.ts).
CREATE INDEX calls_of_period ON calls (account, period_start, claimed_at, charge, credits) WHERE credits > 0;
-- It contains the credits, so a statement by run reads the index alone.
CREATE INDEX calls_of_run ON calls (run, charge, credits);

-- The areas for which calls in flight are bought. A run that wants one of these topics for the same area waits for the answer, also at
-- another cell. topics: one bit per topic of the contract. A row is deleted when its call is settled.
CREATE TABLE area_claims (
  call INTEGER NOT NULL REFERENCES calls (id),
  source INTEGER NOT NULL,
  area TEXT NOT NULL,
  topics INTEGER NOT NULL,
  PRIMARY KEY (call, area)
) STRICT, WITHOUT ROWID;
CREATE INDEX area_claims_by_area ON area_claims (source, area);

-- The ledger's time: the machine's steady clock plus this offset (a file in WAL mode is used on one machine). It measures the minute and
-- the leases, so that setting the wall clock neither frees calls in flight nor holds them for ever. calls.settled_at and
-- calls.lease_until are in this time; claimed_at and all other dates are by the wall clock.
CREATE TABLE ledger_clock (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  offset INTEGER NOT NULL
) STRICT;

-- Sums of the ledger by account and period, written by the same transactions as the calls: a sum over a month of calls at each claim
-- would cost more than the claim.
-- exhausted_at: when the service said that the quota is used up; exhausted_left: the credits left at that time, by the ledger.
-- elsewhere: credits that the provider's page counted at corrected_at and this ledger does not; below 0 where calls of unknown charge
-- were free; NULL if never corrected.
CREATE TABLE periods (
  account TEXT NOT NULL,
  period_start INTEGER NOT NULL,
  charged INTEGER NOT NULL DEFAULT 0,
  unknown INTEGER NOT NULL DEFAULT 0,
  open INTEGER NOT NULL DEFAULT 0,
  exhausted_at INTEGER,
  exhausted_left INTEGER,
  elsewhere INTEGER,
  corrected_at INTEGER,
  PRIMARY KEY (account, period_start)
) STRICT, WITHOUT ROWID;

-- The terms of each account's last run, from which `quota` without a job takes the allowance. terms: JSON of AccountTerms (runs/port.ts).
CREATE TABLE account_terms (
  account TEXT PRIMARY KEY,
  terms TEXT NOT NULL,
  run INTEGER NOT NULL REFERENCES runs (id)
) STRICT, WITHOUT ROWID;
