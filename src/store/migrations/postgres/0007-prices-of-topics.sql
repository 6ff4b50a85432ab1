-- What a service last charged for an item: a bundle, or the single of a topic. charged_at: since when it holds, for a day
-- (seen-services.ts). credits: NULL where calls for it were answered free of charge only.
DROP TABLE prices;
CREATE TABLE prices (
  source integer NOT NULL REFERENCES sources (id),
  item text COLLATE "C" NOT NULL,
  credits integer,
  charged_at bigint NOT NULL,
  PRIMARY KEY (source, item)
);

INSERT INTO prices (source, item, credits, charged_at)
SELECT source, coalesce(topic, kind), credits, claimed_at FROM calls
WHERE id IN (SELECT max(id) FROM calls WHERE charge = 'charged' GROUP BY source, kind, topic);
