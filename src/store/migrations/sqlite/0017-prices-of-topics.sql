-- What a service last charged for an item: a bundle, or the single of a topic. charged_at: since when it holds, for a day
-- (seen-services.ts). credits: NULL where calls for it were answered free of charge only.
DROP TABLE prices;
CREATE TABLE prices (
  source INTEGER NOT NULL REFERENCES sources (id),
  item TEXT NOT NULL,
  credits INTEGER,
  charged_at INTEGER NOT NULL,
  PRIMARY KEY (source, item)
) STRICT, WITHOUT ROWID;

INSERT INTO prices (source, item, credits, charged_at)
SELECT source, coalesce(topic, kind), credits, claimed_at FROM calls
WHERE id IN (SELECT max(id) FROM calls WHERE charge = 'charged' GROUP BY source, kind, topic);
