-- Answers, ledger and runs. Times are milliseconds since the epoch; credits are whole. The numbers below 15 were those of development
-- versions, whose files are refused.
CREATE TABLE sources (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- Texts that come again (ratings, slugs of topics), by number; none is ever taken away.
CREATE TABLE texts (
  number INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;

-- One row a cell: all of its answers are read together, by the plan and by the write, so they lie together.
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

-- What is known of whole areas: one purchase serves all locations of a census tract or county (job, areas).
-- answers: JSON, cut to the fields that are per area; mismatched_at: two locations of it were answered differently.
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

-- Sources that have answered from sample data. until: when the newest of these answers was given; answers that are not newer
-- count as sample data. still: whether the source's latest answer was one.
CREATE TABLE sample_sources (
  source INTEGER PRIMARY KEY REFERENCES sources (id),
  until INTEGER NOT NULL,
  still INTEGER NOT NULL CHECK (still IN (0, 1))
) STRICT;

-- One row an account: so the minute, the quota and the budgets are exact. latest: when its newest call was settled; ahead: what is added
-- to the ledger's time, so that the account's never goes back.
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

-- The ledger: written as `sent` before a call leaves, settled when its outcome is known, never deleted.
-- credits_left: what the ledger thought was left at the claim; a call that the quota refuses then tells by how much it was wrong.
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
-- For calls that another anniversary day has put into another period (claim-usage.ts).
CREATE INDEX calls_of_period ON calls (account, period_start, claimed_at, charge, credits) WHERE credits > 0;
-- With the credits in it, a statement by run is read from the index alone.
CREATE INDEX calls_of_run ON calls (run, charge, credits);

-- The areas that calls in flight are made for: who wants one of these topics for the same area waits for their answer, though
-- it would ask at another cell. topics: a set of the contract's topics, one bit each. A row lives as long as its call is `sent`.
CREATE TABLE area_claims (
  call INTEGER NOT NULL REFERENCES calls (id),
  source INTEGER NOT NULL,
  area TEXT NOT NULL,
  topics INTEGER NOT NULL,
  PRIMARY KEY (call, area)
) STRICT, WITHOUT ROWID;
CREATE INDEX area_claims_by_area ON area_claims (source, area);

-- The ledger's own time: the machine's steady clock and this offset (a file in WAL mode has one machine). Spans (the minute,
-- the leases) are measured by it, so that a clock that is set while calls are in flight neither frees them nor holds them for
-- ever. calls.settled_at and calls.lease_until are in it; dates (claimed_at and all others) are by the wall clock.
CREATE TABLE ledger_clock (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  offset INTEGER NOT NULL
) STRICT;

-- Sums of the ledger by account and period, kept by the same transactions: a sum over a month of calls at every claim
-- would cost more than the claim.
-- exhausted_at: when the service said that the quota is used up; exhausted_left: what the ledger thought was left then.
-- elsewhere: credits of the period that the provider counts and this ledger does not, by the provider's page at corrected_at;
-- below 0 where calls of unknown charge turned out to be free. NULL: never corrected.
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

-- Under which terms each account was last bought with, so that `quota` without a job knows the allowance.
-- terms: JSON of AccountTerms (port.ts).
CREATE TABLE account_terms (
  account TEXT PRIMARY KEY,
  terms TEXT NOT NULL,
  run INTEGER NOT NULL REFERENCES runs (id)
) STRICT, WITHOUT ROWID;
