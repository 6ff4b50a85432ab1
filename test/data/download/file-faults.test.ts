import assert from 'node:assert/strict';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { type DownloadContext, downloadFile } from '../../../src/data/download/download-file.ts';
import type { FileEntry } from '../../../src/data/download/downloads-folder.ts';
import { sendPage } from './agency-mirror.ts';
import { type Downloading, downloading } from './downloading.ts';

const HOST = 'www.spc.noaa.gov/wcm/data';
const URL_OF = (name: string) => `https://${HOST}/${name}`;
const CSV = Buffer.from(
  `om,yr,mo\n${Array.from({ length: 400 }, (_, row) => `${row},2025,7\n`).join('')}`,
);
const MODIFIED = 'Mon, 02 Mar 2026 00:00:00 GMT';
const OLD = 'om,yr,mo\n1,2024,1\n';

function get(
  here: Downloading,
  name = 'hail.csv',
  context: DownloadContext = here.context,
  entry?: FileEntry,
) {
  const request = { url: URL_OF(name), target: join(here.folder, name), mostBytes: 100_000 };
  return downloadFile(request, entry, context);
}

/** A mirror that has the file. */
async function serving(t: TestContext, silenceMs?: number): Promise<Downloading> {
  const here = await downloading(t, silenceMs);
  here.mirror.files.set(`${HOST}/hail.csv`, { body: CSV, etag: '"1"' });
  return here;
}

/** The old file is there, and a download that fails leaves it so. */
async function keepsOld(
  here: Downloading,
  name: string,
  message: RegExp,
  hint: RegExp = /unchanged/,
): Promise<void> {
  writeFileSync(join(here.folder, name), OLD);
  await assert.rejects(get(here, name), { code: 'DOWNLOAD_FAILED', message, hint });
  assert.equal(here.read(name), OLD);
}

/** Sends the beginning of a body and breaks the connection. */
function breakAfter(
  response: ServerResponse,
  body: Buffer,
  bytes: number,
  headers: Record<string, string>,
): void {
  response.writeHead(200, { ...headers, 'content-length': body.length });
  response.flushHeaders();
  if (bytes === 0) response.socket!.end();
  else response.write(body.subarray(0, bytes), () => response.socket!.end());
}

test('a download that breaks off at any byte goes on there, and the file is whole', async (t) => {
  const here = await downloading(t);
  for (const bytes of [0, 1, 2, 511, 1_023, 1_024, 1_025, CSV.length - 2, CSV.length - 1]) {
    const name = `hail-${bytes}.csv`;
    here.mirror.files.set(`${HOST}/${name}`, { body: CSV, etag: '"1"' });
    here.mirror.fail(new RegExp(name), 1, (_, response) =>
      breakAfter(response, CSV, bytes, { etag: '"1"' }),
    );
    assert.equal(typeof (await get(here, name)), 'object');
    assert.equal(here.read(name), CSV.toString());
    const { headers } = here.mirror.requests.at(-1)!;
    assert.equal(headers.range, bytes === 0 ? undefined : `bytes=${bytes}-`);
    assert.equal(headers['if-range'], bytes === 0 ? undefined : '"1"');
  }
  const left = readdirSync(here.folder).filter((file) => file.includes('.part'));
  assert.deepEqual(left, []);
});

test('a server that breaks off again and again is asked as long as it brings something', async (t) => {
  const here = await serving(t);
  here.mirror.fail(/hail/, 12, ({ headers }, response) => {
    const from = Number(/\d+/.exec(String(headers.range ?? ''))?.[0] ?? 0);
    const part = CSV.subarray(from);
    const place =
      from === 0 ? {} : { 'content-range': `bytes ${from}-${CSV.length - 1}/${CSV.length}` };
    response.writeHead(from === 0 ? 200 : 206, {
      etag: '"1"',
      ...place,
      'content-length': part.length,
    });
    response.write(part.subarray(0, 300), () => response.socket!.end());
  });
  await get(here);
  assert.equal(here.read('hail.csv'), CSV.toString());
});

test('a file that changes between two parts is taken anew: two versions never mix', async (t) => {
  const here = await downloading(t);
  const next = Buffer.from(CSV.toString().replaceAll('2025', '2026'));
  const file = `${HOST}/hail.csv`;
  here.mirror.fail(/hail/, 1, (_, response) => {
    here.mirror.files.set(file, { body: next, etag: '"2"' });
    return breakAfter(response, CSV, 900, { etag: '"1"' });
  });
  await get(here);
  assert.equal(here.read('hail.csv'), next.toString());

  // A server that sends the rest of the new file, whatever If-Range says.
  here.mirror.fail(/hail/, 1, (_, response) => breakAfter(response, CSV, 900, { etag: '"1"' }));
  here.mirror.fail(/hail/, 1, (_, response) => {
    const rest = next.subarray(900);
    const place = { 'content-range': `bytes 900-${next.length - 1}/${next.length}` };
    response.writeHead(206, { etag: '"2"', ...place, 'content-length': rest.length }).end(rest);
  });
  rmSync(join(here.folder, 'hail.csv'));
  await get(here);
  assert.equal(here.read('hail.csv'), next.toString());
});

test('what a kill leaves behind is gone on with, or begun anew where nothing certain is known of it', async (t) => {
  const here = await downloading(t);
  here.mirror.files.set(`${HOST}/hail.csv`, { body: CSV, etag: '"1"', lastModified: MODIFIED });
  const part = join(here.folder, 'hail.csv.part');
  const state = { url: URL_OF('hail.csv'), etag: '"1"', total: CSV.length };
  const cases: [bytes: Buffer | null, state: string | null, condition: string | undefined][] = [
    [CSV.subarray(0, 700), JSON.stringify(state), '"1"'],
    [CSV.subarray(0, 700), JSON.stringify({ ...state, etag: 'W/"1"' }), undefined],
    // A date goes on where a weak ETag may not.
    [
      CSV.subarray(0, 700),
      JSON.stringify({ ...state, etag: 'W/"1"', lastModified: MODIFIED }),
      MODIFIED,
    ],
    [CSV.subarray(0, 700), JSON.stringify({ ...state, url: URL_OF('other.csv') }), undefined],
    [CSV.subarray(0, 700), '{"url":"htt', undefined],
    [CSV.subarray(0, 700), null, undefined],
    [null, JSON.stringify(state), undefined],
    [Buffer.concat([CSV, CSV]), JSON.stringify(state), undefined],
  ];
  for (const [bytes, text, condition] of cases) {
    if (bytes !== null) writeFileSync(part, bytes);
    if (text !== null) writeFileSync(`${part}.json`, text);
    await get(here);
    assert.equal(here.read('hail.csv'), CSV.toString());
    const { range, 'if-range': sent } = here.mirror.requests.at(-1)!.headers;
    assert.deepEqual([range, sent], [condition && 'bytes=700-', condition], String(text));
  }
  // Killed between the last byte and the rename.
  writeFileSync(part, CSV);
  writeFileSync(`${part}.json`, JSON.stringify(state));
  rmSync(join(here.folder, 'hail.csv'));
  const asked = here.mirror.requests.length;
  await get(here);
  assert.equal(here.read('hail.csv'), CSV.toString());
  assert.equal(here.mirror.requests.length, asked);
});

test('a stop ends the download, and the next one goes on', async (t) => {
  const here = await serving(t);
  const stop = new AbortController();
  here.mirror.fail(/hail/, 1, (_, response) => {
    response
      .writeHead(200, { etag: '"1"', 'content-length': CSV.length })
      .write(CSV.subarray(0, 2_000));
  });
  const context = here.with({ signal: stop.signal, onBytes: () => stop.abort() });
  await assert.rejects(get(here, 'hail.csv', context), { name: 'AbortError' });
  assert.equal(here.read('hail.csv'), null);
  assert.equal(statSync(join(here.folder, 'hail.csv.part')).size, 2_000);
  await get(here);
  assert.equal(here.read('hail.csv'), CSV.toString());
  assert.equal(here.mirror.requests.at(-1)!.headers.range, 'bytes=2000-');
});

const LARGE = Buffer.from(`om,yr,mo\n${'1,2025,7\n'.repeat(20_000)}`);
const PACKED = gzipSync(LARGE);
const TOO_LARGE = /at most 1 MB are expected/;
const UNENDED = `HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${CSV}`;

for (const [what, answer, message, hint] of [
  [
    'a page of HTML',
    (to) => sendPage(to, 200),
    /hail\.csv answered with a web page instead of data/,
  ],
  [
    'a 403',
    (to) => sendPage(to, 403),
    /status 403: it refuses programs/,
    /browser.*perilbook data load/,
  ],
  [
    'more than expected',
    (to) => to.writeHead(200, { 'content-length': LARGE.length }).end(LARGE),
    TOO_LARGE,
  ],
  ['more than expected, of no stated size', (to) => to.writeHead(200).end(LARGE), TOO_LARGE],
  [
    'more than expected, packed',
    (to) =>
      to
        .writeHead(200, { 'content-encoding': 'gzip', 'content-length': PACKED.length })
        .end(PACKED),
    TOO_LARGE,
  ],
  [
    'an answer whose end could not be told from a break',
    (to) => to.socket!.end(UNENDED),
    /states no length/,
  ],
] as readonly (readonly [string, (to: ServerResponse) => unknown, RegExp, RegExp?])[]) {
  test(`${what} never replaces data`, async (t) => {
    const here = await downloading(t);
    here.mirror.fail(/./, 1, (_, response) => answer(response));
    await keepsOld(here, 'hail.csv', message, hint);
  });
}

test('a page in place of a zip says where addresses are set, and a file that is not there is missing', async (t) => {
  const here = await downloading(t);
  here.mirror.fail(/./, 1, (_, response) => sendPage(response, 200));
  await keepsOld(here, 'hail.csv.zip', /answered with a web page instead of a zip/, /address/);
  assert.equal(await get(here, 'nowhere.csv'), 'missing');
});

for (const [status, wait] of [
  [429, { 'retry-after': '120' }],
  [403, { 'retry-after': '120' }],
  [503, { 'retry-after-ms': '120000' }],
] as const) {
  test(`a server that asks to wait is left alone for so long: ${status}`, async (t) => {
    const here = await serving(t);
    here.mirror.fail(/./, 1, (_, response) =>
      response.writeHead(status, { ...wait, 'content-length': 0 }).end(),
    );
    const begun = here.clock.now();
    await get(here);
    assert.equal(here.clock.now() - begun, 120_000);
    assert.equal(here.read('hail.csv'), CSV.toString());
  });
}

test('failures of a moment are tried again, lasting ones end after six attempts', async (t) => {
  const here = await serving(t);
  const failing = (_: unknown, response: ServerResponse) =>
    response.writeHead(503, { 'content-length': 0 }).end();
  here.mirror.fail(/./, 2, failing);
  await get(here);
  assert.equal(here.read('hail.csv'), CSV.toString());
  here.mirror.fail(/./, 6, failing);
  const asked = here.mirror.requests.length;
  await keepsOld(here, 'hail.csv', /status 503/, /again/);
  assert.equal(here.mirror.requests.length - asked, 6);
});

test('a server that says nothing is given up and asked again', async (t) => {
  const here = await serving(t, 100);
  here.mirror.fail(/./, 1, () => true);
  await get(here);
  assert.equal(here.read('hail.csv'), CSV.toString());
});

test('a damaged zip, and one that unpacks to far more than it should, are refused', async (t) => {
  const here = await downloading(t);
  const zip = Buffer.from(zipSync({ 'hail.csv': strToU8(CSV.toString()) }));
  const damaged = Buffer.from(zip);
  damaged[60] = damaged[60]! ^ 0xff;
  here.mirror.files.set(`${HOST}/damaged.zip`, { body: damaged, etag: '"1"' });
  await keepsOld(here, 'damaged.zip', /zip of .* is damaged/);
  const bomb = Buffer.from(zipSync({ 'hail.csv': new Uint8Array(6_500_000) }, { level: 1 }));
  here.mirror.files.set(`${HOST}/bomb.zip`, { body: bomb, etag: '"1"' });
  const request = {
    url: URL_OF('bomb.zip'),
    target: join(here.folder, 'bomb.zip'),
    mostBytes: 10_000_000,
  };
  await assert.rejects(downloadFile(request, undefined, here.context), /unpacks to more than 6 MB/);
  const left = readdirSync(here.folder).filter((file) => file.startsWith('bomb'));
  assert.deepEqual(left, []);
});

test('a disk without room for the file is not written to', async (t) => {
  const here = await downloading(t);
  here.mirror.files.set(`${HOST}/hail.csv`, { body: CSV });
  const full = get(here, 'hail.csv', here.with({ freeBytes: () => 100 }));
  await assert.rejects(full, { message: /needs 1 MB more.*has 1 MB left/, hint: /XDG_DATA_HOME/ });
  assert.deepEqual(readdirSync(here.folder), []);
});

test('a packed answer is unpacked, and a file that did not change is not sent again', async (t) => {
  const here = await serving(t);
  here.mirror.fail(/./, 1, (_, response) => {
    const body = gzipSync(CSV);
    response
      .writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length, etag: '"1"' })
      .end(body);
  });
  await get(here);
  assert.equal(here.read('hail.csv'), CSV.toString());
  const known = {
    etag: '"1"',
    bytes: CSV.length,
    file: 'hail.csv',
    url: URL_OF('hail.csv'),
  };
  const entry: FileEntry = { ...known, fetchedAt: 0, checkedAt: 0 };
  assert.equal(await get(here, 'hail.csv', here.context, entry), 'unchanged');
  // The file was cut by something else: the manifest is not trusted.
  writeFileSync(join(here.folder, 'hail.csv'), OLD);
  assert.notEqual(await get(here, 'hail.csv', here.context, entry), 'unchanged');
  assert.equal(here.read('hail.csv'), CSV.toString());
});

test('a server that goes on with a byte at a time is given up, though each attempt brings some', async (t) => {
  const here = await downloading(t, 5_000, 300);
  const all = 90_000;
  here.mirror.fail(/hail/, 100, ({ headers }, response) => {
    const from = Number(/bytes=(\d+)-/.exec(String(headers.range))?.[1] ?? 0);
    const place = from === 0 ? {} : { 'content-range': `bytes ${from}-${all - 1}/${all}` };
    const status = from === 0 ? 200 : 206;
    response.writeHead(status, { etag: '"1"', 'content-length': all - from, ...place });
    const drip = setInterval(() => response.write('a'), 20);
    response.on('close', () => clearInterval(drip));
  });
  await assert.rejects(get(here), { code: 'DOWNLOAD_FAILED', message: /sends too slowly/ });
  const starts = here.mirror.requests.map(({ headers }) => String(headers.range));
  assert.equal(starts.length, 6, starts.join());
});
