-- Who may ask, and what was charged. Times are milliseconds since the epoch; credits are whole. Number 1 was that of development versions,
-- whose files are refused.
CREATE TABLE accounts (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  subscription TEXT NOT NULL CHECK (subscription IN ('starter', 'professional', 'custom')),
  credits_per_month INTEGER NOT NULL,
  credits_per_minute INTEGER NOT NULL,
  overage_rate REAL,
  overages INTEGER NOT NULL CHECK (overages IN (0, 1)),
  signed_up_at INTEGER NOT NULL
) STRICT;

-- A key is held as its SHA-256 only. It works until the earliest of the three times that are set.
CREATE TABLE keys (
  id INTEGER PRIMARY KEY,
  account INTEGER NOT NULL REFERENCES accounts (id),
  hash BLOB NOT NULL UNIQUE,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  retires_at INTEGER,
  revoked_at INTEGER,
  replaced_by INTEGER REFERENCES keys (id)
) STRICT;

-- The running services. An instance has crashed if no process holds the lock on the file that is named after its token.
CREATE TABLE instances (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  token TEXT NOT NULL UNIQUE,
  started_at INTEGER NOT NULL
) STRICT;

-- One row for each charged call. Until its answer has been delivered, `pending_by` names the instance that sends it. AUTOINCREMENT: the id of
-- a reversed charge is never used again, so that a late settlement cannot change another call's charge.
CREATE TABLE charges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account INTEGER NOT NULL REFERENCES accounts (id),
  key INTEGER NOT NULL REFERENCES keys (id),
  kind TEXT NOT NULL CHECK (kind IN ('single', 'standard', 'enterprise')),
  topic TEXT,
  credits INTEGER NOT NULL,
  charged_at INTEGER NOT NULL,
  period_start INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  pending_by INTEGER
) STRICT;
CREATE INDEX charges_by_time ON charges (account, charged_at, credits);
CREATE INDEX charges_pending ON charges (pending_by) WHERE pending_by IS NOT NULL;

-- Sums of the charges, kept by the transactions that write them: summing a month at each call would cost more than the
-- call. `minute_credits` is the sum of the charges after `minute_from`.
CREATE TABLE minutes (
  account INTEGER PRIMARY KEY REFERENCES accounts (id),
  minute_from INTEGER NOT NULL,
  minute_credits INTEGER NOT NULL
) STRICT;

-- `allowance` and `overage_rate` are those under which the period's last call was charged, so that a statement of a past
-- period does not change with the account's subscription.
CREATE TABLE periods (
  account INTEGER NOT NULL REFERENCES accounts (id),
  period_start INTEGER NOT NULL,
  credits INTEGER NOT NULL,
  single INTEGER NOT NULL,
  standard INTEGER NOT NULL,
  enterprise INTEGER NOT NULL,
  allowance INTEGER NOT NULL,
  overage_rate REAL,
  PRIMARY KEY (account, period_start)
) STRICT, WITHOUT ROWID;
