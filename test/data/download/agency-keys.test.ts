import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkSources, obtainSources } from '../../../src/data/download/get-sources.ts';
import { createWebClient } from '../../../src/data/download/web-client.ts';
import type { FileDownload, Source } from '../../../src/data/sources/source.ts';
import { SOURCES } from '../../../src/data/sources/source-table.ts';
import { downloading } from './downloading.ts';

const AFDC = SOURCES.find(({ name }) => name === 'alternative-fuels-afdc')!;
const STATIONS = 'Fuel Type Code,Station Name,State,Latitude,Longitude\nE85,One,VA,37.5,-78.1\n';

test('the key of an agency goes to the agency, and elsewhere only where it was given for that address', async (t) => {
  const { mirror, folder, context, with: contextWith } = await downloading(t);
  const client = createWebClient({ userAgent: 'perilbook/0.0.0', env: {} });
  t.after(() => client.close());
  for (const path of ['v1.csv', '127.0.0.1/v1.csv']) mirror.files.set(path, { body: Buffer.from(STATIONS) });
  const keyFile = join(folder, 'afdc.key');
  writeFileSync(keyFile, 'key-in-file\n');
  const at = (url: string): Source => ({ ...AFDC, download: { ...(AFDC.download as FileDownload), files: [{ url }] } });
  const published = at(`${mirror.url}/v1.csv`);
  const keysSent = async (source: Source, download = contextWith({ client })) => {
    const env = { PERILBOOK_AFDC_KEY: 'key-of-env' };
    mirror.requests.length = 0;
    const [checked] = await checkSources([source], folder, () => ({}), env, download);
    const wanted = [{ source, slices: ['US'] }];
    const [got] = await obtainSources(wanted, { downloads: folder }, env, download, async (obtained) => obtained);
    assert.deepEqual([checked!.error, got!.error], [undefined, undefined]);
    return new Set(mirror.requests.map(({ headers }) => headers['x-api-key']));
  };
  assert.deepEqual(await keysSent(published), new Set(['key-of-env']));
  assert.deepEqual(await keysSent({ ...published, keyFile }), new Set(['key-in-file']));
  assert.deepEqual(await keysSent({ ...published, isElsewhere: true, keyFile }), new Set(['key-in-file']));
  assert.deepEqual(await keysSent({ ...published, isElsewhere: true }), new Set([undefined]));
  for (const source of [at('https://127.0.0.1/v1.csv'), { ...at('https://127.0.0.1/v1.csv'), keyFile }]) {
    assert.deepEqual(await keysSent(source, context), new Set([undefined]), 'of a mirror');
  }
});
