-- The terms under which a period's last call was charged, so that a statement of a past period does not change with the
-- account's subscription. NULL in periods of before this migration: the terms of the account's subscription stand for them.
ALTER TABLE periods ADD COLUMN allowance INTEGER;
ALTER TABLE periods ADD COLUMN overage_rate REAL;
