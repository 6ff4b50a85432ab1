-- When data of a dataset was last removed, all of it or some states: older answers from it do not count any more. It is later than each load
-- and removal before it, even if the clock stood or was set back.
CREATE TABLE removals (dataset TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
