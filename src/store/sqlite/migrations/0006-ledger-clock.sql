-- The ledger's own time: the machine's steady clock and this offset (a file in WAL mode has one machine). Spans (the minute,
-- the leases) are measured by it, so that a clock that is set while calls are in flight neither frees them nor holds them for
-- ever. calls.settled_at and calls.lease_until are in it; dates (claimed_at and all others) are by the wall clock.
CREATE TABLE ledger_clock (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  offset INTEGER NOT NULL
) STRICT;
