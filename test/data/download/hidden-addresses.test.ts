import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { shownAddress } from '../../../src/base/shown-address.ts';
import { readManifest, writeManifest } from '../../../src/data/download/downloads-folder.ts';
import { isKeptOf, keptAddress } from '../../../src/data/download/kept-address.ts';
import { SOURCES } from '../../../src/data/sources/source-table.ts';
import { perilbook } from '../../cli/command-line.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { AQI_HEADER } from '../loaders/loading.ts';
import { sendJson, sendPage } from './agency-mirror.ts';
import { dataMachine } from './downloading.ts';

/* A token in the address of a download stays in the file where its user wrote it. */

const TOKEN = 'tOk3n-of-the+county/9f2c==';
const WRITTEN = encodeURIComponent(TOKEN);
const QUERY = `?token=${WRITTEN}&year=2024`;

const TRI = Buffer.from('TRIFD,YEAR,ST,LATITUDE,LONGITUDE\nF1,2025,VA,38,-78.1\n');
const AIR = Buffer.from(
  zipSync({
    'annual_aqi_by_county_2025.csv': strToU8(
      `${AQI_HEADER}\nVirginia,Accomack,2025,360,350,10,0,0,0,0,90,60,40\n`,
    ),
  }),
);
const RADON = {
  edited: Date.UTC(2026, 1, 2),
  fields: ['CountyFIPS', 'CountyName', 'StateName', 'RadonZone'],
  rows: ['51001', '51003'].map((CountyFIPS) => ({
    attributes: { CountyFIPS, CountyName: 'X', StateName: 'VA', RadonZone: 2 },
  })),
};
const SITES = {
  edited: Date.UTC(2026, 1, 2),
  fields: ['NAME'],
  rows: [
    { attributes: { NAME: 'A' }, geometry: { type: 'Point', coordinates: [-78, 38] } },
    { attributes: { NAME: 'B' }, geometry: { type: 'Point', coordinates: [-78, 38.1] } },
  ],
};

/** The folder's files that hold the token, but those in which the user wrote it. */
function filesWithToken(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  assert.ok(files.length > 2);
  return files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => !/own\.yaml$|wells\.yaml$/.test(file))
    .filter((file) => holdsToken(readFileSync(file, 'latin1')));
}

const holdsToken = (text: string): boolean =>
  [TOKEN, WRITTEN, TOKEN.slice(0, 12)].some((form) => text.includes(form));

async function machine(t: TestContext, isMirrored = true) {
  const made = await dataMachine(t);
  const { mirror, folder, options } = made;
  mirror.files.set('own.example.com/tri.csv', { body: TRI });
  mirror.files.set('own.example.com/air.zip', { body: AIR, etag: '"1"' });
  mirror.layers.set('own.example.com/radon/FeatureServer/0', RADON);
  // The addresses of layers are asked at the mirror, as those of the agencies.
  mirror.layers.set(`${new URL(mirror.url).host}/own.example.com/wells/FeatureServer/0`, SITES);
  const at = (path: string) => `${mirror.url}/own.example.com/${path}${QUERY}`;
  mkdirSync(join(folder, 'perilbook/layers'), { recursive: true });
  writeFileSync(
    join(folder, 'perilbook/layers/wells.yaml'),
    `layer: own_well\ntitle: Wells\nkind: points\nwithin_m: 500\nsources: [{url: "${at('wells/FeatureServer/0')}"}]\n`,
  );
  writeFileSync(
    join(folder, 'own.yaml'),
    `extract: true
sources:
  tri: {url: "${at('tri.csv')}", state_url: "${at('tri.csv')}"}
  air-quality: {url: "${at('air.zip')}"}
  radon: {layer: "${at('radon/FeatureServer/0')}"}
  hurdat2: {page: "${at('page/')}"}
`,
  );
  const names = ['tri', 'air-quality', 'radon', 'own_well', 'hurdat2'];
  /** What a command prints, which must not hold the token. */
  const printed = async (...words: string[]) => {
    const { stdout, stderr } = await perilbook(
      [
        'data',
        ...words,
        ...(words[0]!.startsWith('--')
          ? []
          : [
              '--sources',
              'own.yaml',
              ...(words.includes('--mirror') || !isMirrored ? [] : ['--mirror', mirror.url]),
            ]),
      ],
      options,
    );
    assert.ok(!holdsToken(stdout), stdout);
    assert.ok(!holdsToken(stderr), stderr);
    return stdout + stderr;
  };
  return { ...made, names, printed };
}

test('a token in an address of sources.yaml or of a layer is sent, and neither shown nor kept', async (t) => {
  const { mirror, folder, names, printed } = await machine(t);
  const plan = await printed('get', ...names, '--dry-run');
  assert.match(plan, /own\.example\.com\/air\.zip\?token=\[hidden\]&year=\[hidden\]/);
  await printed('get', ...names, '--dry-run', '--json');
  const got = await printed('get', ...names, '--yes');
  for (const name of names.slice(0, 4)) assert.match(got, new RegExp(`^${name}: loaded`, 'm'));
  assert.match(got, /hurdat2: .*\/own\.example\.com\/page\/\?token=\[hidden\]/);
  for (const { target } of mirror.requests)
    if (target.includes('own.')) assert.match(target, /token=tOk3n/);
  mirror.downloads();
  const updated = await printed('update');
  for (const name of names.slice(0, 4))
    assert.match(updated, new RegExp(`^${name}: unchanged`, 'm'));
  assert.equal(mirror.downloads(), 0, 'the addresses are still known as the same');
  assert.match(
    await printed('check', ...names, '--json'),
    /radon\/FeatureServer\/0\?token=\[hidden\]/,
  );
  await printed('check');
  await printed('--json');
  assert.deepEqual(filesWithToken(folder), []);
});

for (const [what, answer] of [
  ['a status', (response) => sendPage(response, 404)],
  ['a page', (response) => sendPage(response, 200)],
  ['an error of an overloaded server', (response) => sendPage(response, 503)],
  [
    'the token in its error',
    (response) => sendJson(response, { error: { code: 400, message: `no such token: ${TOKEN}` } }),
  ],
  [
    'an end in the middle',
    (response) =>
      response.writeHead(200, { 'content-length': 900 }).write('a', () => response.destroy()),
  ],
] as [string, (response: import('node:http').ServerResponse) => unknown][]) {
  test(`a server that answers with ${what} makes no message show the token`, async (t) => {
    const { mirror, folder, names, printed } = await machine(t);
    mirror.fail(/own\./, 1_000, (_, response) => answer(response));
    const failed = await printed('get', ...names, '--yes');
    for (const name of names)
      assert.match(failed, new RegExp(`${name}: .*own\\.example|${name}: .*broke off`, 'm'));
    await printed('get', ...names, '--yes', '--json');
    await printed('check', ...names);
    await printed('check', ...names, '--json');
    assert.deepEqual(filesWithToken(folder), []);
  });
}

test('a download that is broken off keeps no token, and is resumed at the same address', async (t) => {
  const { mirror, folder, printed } = await machine(t);
  const isAir = /^own\.example\.com\/air/;
  const half = AIR.length >> 1;
  const head = { 'content-length': AIR.length, etag: '"1"', 'accept-ranges': 'bytes' };
  const cut: typeof mirror.fail extends (a: RegExp, b: number, fault: infer F) => void ? F : never =
    (_, response) =>
      response.writeHead(200, head).write(AIR.subarray(0, half), () => response.destroy());
  mirror.fail(isAir, 1, cut);
  mirror.fail(isAir, 50, (_, response) => sendPage(response, 503));
  await printed('get', 'air-quality', '--yes');
  const part = join(folder, 'perilbook/downloads/air-quality/air.zip.part.json');
  assert.ok(existsSync(part));
  assert.deepEqual(filesWithToken(folder), []);
});

test('an address that is mistyped at a door is not repeated with its token', async (t) => {
  const { folder, printed } = await machine(t, false);
  const own = (text: string) => writeFileSync(join(folder, 'own.yaml'), text);
  own(`mirror: "https://mirror.example.com/${QUERY}"`);
  assert.match(
    await printed('get', 'radon', '--yes'),
    /without user, password, query and fragment/,
  );
  own(`mirror: mirror.example.com/${QUERY}`);
  await printed('get', 'radon', '--yes');
  own(`sources: {radon: {layer: "https://me:${WRITTEN}@example.com/FeatureServer/0"}}`);
  assert.match(await printed('get', 'radon', '--yes'), /without user and password/);
  own(`sources: {radon: {url: "https://example.com/a.csv${QUERY} b"}}`);
  assert.match(await printed('get', 'radon', '--yes'), /without spaces/);
  own('');
  await printed('get', 'radon', '--mirror', `https://mirror.example.com/${QUERY}`);
  assert.match(
    await printed('get', 'radon', '--mirror', `mirror.example.com/${QUERY}`),
    /token=\[hidden\]/,
  );
  writeFileSync(
    join(folder, 'perilbook/layers/wells.yaml'),
    `layer: own_well\ntitle: Wells\nkind: points\nwithin_m: 500\nsources: "https://example.com/a.csv${QUERY}"\n`,
  );
  assert.match(await printed('get', 'own_well'), /sources/);
});

test('what a version before kept of an address is the same address, and its token goes', async (t) => {
  const { mirror, folder, printed } = await machine(t);
  await printed('get', 'air-quality', '--yes');
  const file = join(folder, 'perilbook/downloads/air-quality/manifest.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const address = `${mirror.url}/own.example.com/air.zip${QUERY}`;
  const digest = hash('sha256', address);
  for (const early of [address, `${shownAddress(address)}#sha256=${digest}`]) {
    manifest.files.US.url = early;
    writeFileSync(file, JSON.stringify(manifest));
    mirror.downloads();
    assert.match(await printed('update'), /air-quality: unchanged/);
    assert.equal(mirror.downloads(), 0);
    assert.deepEqual(filesWithToken(folder), []);
    assert.ok(!readFileSync(file, 'utf8').includes(digest));
  }
});

test('what is kept of an address tells another token, and cannot be found by trying tokens without the key', (t) => {
  const [folder, other] = [temporaryFolder(t), temporaryFolder(t)];
  const address = 'https://a.example/x?sig=abc';
  assert.equal(keptAddress('https://a.example/x?f=json', folder), 'https://a.example/x?f=json');
  assert.deepEqual(readdirSync(folder), [], 'a key is made where one is needed');
  const kept = keptAddress(address, folder);
  assert.equal(keptAddress(kept, folder), kept);
  assert.equal(keptAddress(address, folder), kept);
  assert.match(kept, /^https:\/\/a\.example\/x\?sig=\[hidden\]#hmac=[0-9a-f]{64}$/);
  assert.ok(isKeptOf(kept, address, folder));
  assert.ok(!isKeptOf(kept, 'https://a.example/x?sig=abd', folder));
  assert.notEqual(keptAddress(address, other), kept);
  assert.ok(!isKeptOf(kept, address, other));
  // Windows' files have no modes.
  if (process.platform !== 'win32')
    assert.equal(statSync(join(folder, 'address-key')).mode & 0o77, 0);
  writeFileSync(join(folder, 'address-key'), 'cut');
  assert.ok(!isKeptOf(kept, address, folder));
  assert.ok(isKeptOf(keptAddress(address, folder), address, folder));
  // Also of an entry that another module has made.
  const entry = { file: 'x', url: address, bytes: 1, fetchedAt: 1, checkedAt: 1 };
  writeManifest(folder, new Map([['US', entry]]));
  const written = readManifest(folder).get('US')!.url;
  assert.ok(!written.includes('abc') && isKeptOf(written, address, folder));
  // As an earlier version kept it.
  const early = `https://a.example/x?sig=[hidden]#sha256=${hash('sha256', address)}`;
  assert.ok(isKeptOf(early, address, folder));
  assert.ok(!isKeptOf(early, 'https://a.example/x?sig=abd', folder));
});

test('what is hidden of an address: values and nameless words, user and fragment; not what our own sources ask', () => {
  const shown = (address: string) => shownAddress(address) as string;
  assert.equal(shown('https://a.example/x_{year}.zip'), 'https://a.example/x_{year}.zip');
  assert.equal(
    shown('https://a.example/x?f=json&sig=abc'),
    'https://a.example/x?f=json&sig=[hidden]',
  );
  assert.equal(shown('https://a.example/x?c2VjcmV0=='), 'https://a.example/x?[hidden]');
  assert.equal(shown('https://a.example/x?secret#more'), 'https://a.example/x?[hidden]');
  assert.equal(shown('https://me:pass/word@a.example/x'), 'https://[hidden]@a.example/x');
  const ours = JSON.stringify(SOURCES)
    .match(/https?:\/\/[^"\s]+/g)!
    .filter((one) => one.includes('?'));
  assert.ok(ours.length >= 3);
  for (const address of ours) assert.equal(shown(address), address);
});
