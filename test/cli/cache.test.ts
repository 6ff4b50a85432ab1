import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook, provideSampleData } from './command-line.ts';

test('details that were kept are counted by cache stats and printed by cache export --details', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'book.csv'), 'id,lat,lng\n1,29.7604,-95.3698\n');
  provideSampleData(join(folder, 'store.db'));
  const store = ['--store', 'store.db'];
  const words = ['run', 'book.csv', '-t', 'all', '-b', '100', '--details', 'keep', ...store];
  const ran = await perilbook(words, { folder });
  assert.equal(ran.code, 0, ran.stderr);

  const exported = await perilbook(['cache', 'export', '--details', ...store], { folder });
  const lines = exported.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const tanks = lines.find(({ topic }) => topic === 'ustFacility');
  assert.deepEqual([tanks.lat, tanks.lng, tanks.details.type], [29.7604, -95.3698, 'FeatureCollection']);
  assert.ok(!('fields' in tanks) && !Number.isNaN(Date.parse(tanks.as_of)));

  const stats = await perilbook(['cache', 'stats', '--json', ...store], { folder });
  const { details } = JSON.parse(stats.stdout);
  assert.equal(details.answers, lines.length);
  // Houston's bundle weighs 5 to 7 MB; all of it but the values is details.
  assert.ok(details.json_bytes > 4e6 && details.bytes < details.json_bytes / 3, JSON.stringify(details));
  assert.match(
    (await perilbook(['cache', 'stats', ...store], { folder })).stdout,
    /details +of \d+ answers, .* as JSON/,
  );

  const refused = await perilbook([...words.slice(0, -3), 'all', ...store], { folder });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /--details all: /);
});
