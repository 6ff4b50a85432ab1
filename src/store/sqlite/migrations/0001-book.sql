-- Answers, ledger and runs. Times are milliseconds since the epoch; credits are whole.
CREATE TABLE sources (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- One row a cell: all of its answers are read together, by the plan and by the write, so they lie together.
-- answers: {"wildfire":[asOf,[field,...]],...}; failures: {"ozone":["unavailable","note",at],...}
CREATE TABLE cells (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES sources (id),
  lat7 INTEGER NOT NULL,
  lng7 INTEGER NOT NULL,
  answers TEXT NOT NULL DEFAULT '{}',
  failures TEXT,
  UNIQUE (source, lat7, lng7)
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
  summary TEXT
) STRICT;

-- The ledger: written as `sent` before a call leaves, settled when its outcome is known, never deleted.
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
  settled_at INTEGER,
  outcome TEXT,
  request_id TEXT
) STRICT;
CREATE INDEX calls_open ON calls (source, lat7, lng7) WHERE charge = 'sent';
CREATE INDEX calls_recent ON calls (account, settled_at) WHERE credits > 0;
CREATE INDEX calls_of_run ON calls (run, charge);

-- Sums of the ledger by account and period, kept by the same transactions: a sum over a month of calls at every claim
-- would cost more than the claim.
CREATE TABLE periods (
  account TEXT NOT NULL,
  period_start INTEGER NOT NULL,
  charged INTEGER NOT NULL DEFAULT 0,
  unknown INTEGER NOT NULL DEFAULT 0,
  open INTEGER NOT NULL DEFAULT 0,
  exhausted_at INTEGER,
  PRIMARY KEY (account, period_start)
) STRICT, WITHOUT ROWID;
