import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { openDataDatabase } from '../../src/data/tables/data-database.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import type { AreaRecord } from '../../src/data/tables/records.ts';
import { AREAS, info } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

/** Twenty-five places in a tract, one on its border, and one in another state. */
const BOOK = `lat,lng\n${Array.from({ length: 25 }, (_, number) => `40.2${number + 10},-99.75\n`).join('')}40.3,-99.5\n37.5,-77.4\n`;

function setUp(t: TestContext, records: readonly AreaRecord[], sample = false) {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'perilbook'));
  writeFileSync(join(folder, 'book.csv'), BOOK);
  if (records.length > 0) {
    using database = openDataDatabase(join(folder, 'perilbook/data.db'));
    importDataset(database, { kind: 'areas', info: info('areas', sample), records }, systemClock);
  }
  const options = { folder, env: { XDG_DATA_HOME: folder } };
  const paid = ['--topics', 'drought,hail', '--base-url', 'http://127.0.0.1:9/'];
  return {
    folder,
    plan: (...args: string[]) => perilbook(['plan', 'book.csv', ...paid, ...args], options),
    options,
  };
}

test('the plan says how many places have a tract, lie on a border, and lack boundaries, with the command', async (t) => {
  const { plan } = setUp(t, AREAS);
  const { stdout, code } = await plan('--areas', 'tract');
  assert.equal(code, 0);
  assert.match(stdout, / boundaries +25 places in an area; bought one by one: 1 on a border, 1 in states without/);
  assert.match(stdout, /boundaries of the other states: perilbook data get areas --for book\.csv\n/);
  const planned = JSON.parse((await plan('--areas', 'tract', '--json')).stdout);
  assert.equal(planned.credits, (1 + 20 + 2) * 2);
  assert.deepEqual(planned.areas, {
    ...{ representatives: 1, verified: 20, spared: 4 },
    ...{ areas_verified: 0, areas_differed: 0, each_place: false },
    ...{ found: 25, near_border: 1, in_no_area: 0, no_boundaries: 1 },
  });
  const byCounty = JSON.parse((await plan('--areas', 'county', '--json')).stdout);
  assert.deepEqual([byCounty.areas.found, byCounty.areas.near_border, byCounty.credits], [26, 0, 27 * 2]);
});

test('without boundaries, an error names the command before the input is read', async (t) => {
  const { plan, folder } = setUp(t, []);
  writeFileSync(join(folder, 'book.csv'), 'no location here\n');
  const { code, stderr } = await plan('--areas', 'tract');
  assert.equal(code, 2);
  assert.match(stderr, /There are no census tract boundaries on this machine\n.*data get areas --for book\.csv/);
  const counties = setUp(
    t,
    AREAS.filter(({ level }) => level === 'county'),
  );
  const one = await counties.plan('--areas', 'tract');
  assert.match(one.stderr, /There are county boundaries on this machine, but no census tract boundaries/);
  assert.match(one.stderr, /data get areas --for book\.csv, or set areas: county/);
  const sample = await setUp(t, AREAS, true).plan('--areas', 'tract');
  assert.match(sample.stderr, /no census tract boundaries on this machine/, 'sample areas are none of a paid service');
});
