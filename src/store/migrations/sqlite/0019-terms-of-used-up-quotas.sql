-- Under which limit, and by which key, the service said that the quota is used up: under other terms, or by another key, it is asked
-- again. NULL in rows that an earlier version wrote: these hold for all.
ALTER TABLE periods ADD COLUMN exhausted_limit INTEGER;
ALTER TABLE periods ADD COLUMN exhausted_key TEXT;
