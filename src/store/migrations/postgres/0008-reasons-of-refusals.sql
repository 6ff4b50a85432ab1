-- The service's sentence with which it refused a key this scope; NULL in rows that an earlier version wrote.
ALTER TABLE refused_scopes ADD COLUMN reason text;
