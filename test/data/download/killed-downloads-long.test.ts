import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { startBin } from '../../cli/bin-process.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { AQI_HEADER } from '../loaders/loading.ts';
import { agencyMirror } from './agency-mirror.ts';

test('a process that is killed while it downloads leaves the old data; the next one goes on and loads', async (t) => {
  const folder = temporaryFolder(t);
  const mirror = await agencyMirror(t);
  const year = new Date().getUTCFullYear() - 1;
  const rows = Array.from(
    { length: 400 },
    () => `Virginia,Accomack,${year},360,350,10,0,0,0,0,90,60,40`,
  );
  const zip = Buffer.from(
    zipSync({ 'a.csv': strToU8(`${[AQI_HEADER, ...rows].join('\n')}\n`) }, { level: 0 }),
  );
  const file = `aqs.epa.gov/aqsweb/airdata/annual_aqi_by_county_${year}.zip`;
  mirror.files.set(file, { body: zip, etag: '"1"' });
  mkdirSync(join(folder, 'perilbook'));
  writeFileSync(join(folder, 'perilbook/sources.yaml'), 'extract: true\n');
  const args = ['data', 'get', 'air-quality', '--yes', '--mirror', mirror.url];
  const part = join(
    folder,
    `perilbook/downloads/air-quality/annual_aqi_by_county_${year}.zip.part`,
  );
  for (const bytes of [7_000, 15_000]) {
    mirror.fail(/annual_aqi/, 1, ({ headers }, response) => {
      const from = Number(/\d+/.exec(String(headers.range ?? ''))?.[0] ?? 0);
      const place =
        from === 0 ? {} : { 'content-range': `bytes ${from}-${zip.length - 1}/${zip.length}` };
      response.writeHead(from === 0 ? 200 : 206, {
        etag: '"1"',
        ...place,
        'content-length': zip.length - from,
      });
      response.write(zip.subarray(from, bytes));
    });
    const bin = startBin(t, args, folder);
    await until(() => statSync(part, { throwIfNoEntry: false })?.size === bytes);
    bin.kill('SIGKILL');
    assert.equal((await bin.ended).signal, 'SIGKILL');
    assert.ok(readFileSync(part).equals(zip.subarray(0, bytes)));
  }
  const ended = await startBin(t, args, folder).ended;
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(ended.stderr, /air-quality: loaded 1 record, /);
  assert.equal(mirror.requests.at(-1)!.headers.range, 'bytes=15000-');
  assert.ok(readFileSync(part.replace(/\.part$/, '')).equals(zip));
});
