import assert from 'node:assert/strict';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { resultOrNull } from '../../src/base/errors.ts';
import { firstRows } from '../../src/rows/location/file-head.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const MANY = 20_000;
const row = (nth: number) => ({ id: nth, lat: 40 + nth / 1e5, lng: -99 });
const point = (nth: number) => ({ type: 'Point', coordinates: [row(nth).lng, row(nth).lat] });
const feature = (nth: number) => ({
  type: 'Feature',
  properties: { id: nth },
  geometry: point(nth),
});
const lines = (of: (nth: number) => string, end = '\n') =>
  Array.from({ length: MANY }, (_, nth) => of(nth)).join(end);

const FILES = {
  'rows.csv': `id,lat,lng\n${lines((nth) => Object.values(row(nth)).join(','))}\n`,
  'rows.ndjson': `${lines((nth) => JSON.stringify(row(nth)))}\n`,
  'rows.json': `[${lines((nth) => JSON.stringify(row(nth)), ',')}]`,
  'rows.geojson': `{"type":"FeatureCollection","features":[${lines((nth) => JSON.stringify(feature(nth)), ',')}]}`,
};

const skip = process.platform !== 'linux' && 'Linux alone lists the files that a process has open';

for (const [name, text] of Object.entries(FILES)) {
  test(`a reader of ${name} that takes the first rows alone leaves no file open`, {
    skip,
  }, async (t) => {
    const folder = temporaryFolder(t);
    const file = join(folder, name);
    writeFileSync(file, text);
    const rowFile = await openRowFile(file, {});
    assert.equal((await firstRows(rowFile, [0], 3)).length, 3);
    const open = readdirSync('/proc/self/fd').map((fd) =>
      resultOrNull(() => readlinkSync(`/proc/self/fd/${fd}`)),
    );
    assert.deepEqual(
      open.filter((path) => path?.startsWith(folder)),
      [],
    );
  });
}
