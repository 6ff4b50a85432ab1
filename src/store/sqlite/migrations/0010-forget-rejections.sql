-- Rejections of locations are forgotten, all of them: earlier versions took any 4xx with a code (a bill, a proxy, a lock) for
-- one and believed it for a year, and the code was not kept. To ask again costs nothing.
UPDATE cells
SET failures = (
  SELECT nullif(json_group_object(key, json(value)), '{}') FROM json_each(cells.failures)
  WHERE json_extract(value, '$[0]') <> 'rejected'
)
WHERE instr(failures, '["rejected"') > 0 AND json_valid(failures);
