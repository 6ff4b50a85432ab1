-- The ledger's own time: a machine's steady clock and this offset. Spans (the minute, the leases) are measured by it, so that
-- a clock that is set while calls are in flight neither frees them nor holds them for ever. calls.settled_at and
-- calls.lease_until are in it; dates (claimed_at and all others) are by the wall clock.
CREATE TABLE ledger_clocks (
  machine TEXT PRIMARY KEY,
  offset INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
