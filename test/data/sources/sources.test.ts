import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { declareLayers, NATURAL_SLUGS, TOPIC_SLUGS } from '../../../src/contract/topics.ts';
import { LOADERS } from '../../../src/data/loaders/loader-table.ts';
import { layerSources } from '../../../src/data/sources/layer-sources.ts';
import { overriddenSources } from '../../../src/data/sources/source-overrides.ts';
import { chooseSources, SOURCES } from '../../../src/data/sources/source-table.ts';
import { eventDatasetsOf, needsOf } from '../../../src/data/tables/describe-data.ts';
import { statesNear } from '../../../src/data/tables/states-near.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const namesOf = (names: readonly string[], hasStates = false) =>
  chooseSources(names, hasStates).sources.map(({ name }) => name);

test('every loader has a source, every dataset of a topic a loader, and every topic a download', () => {
  const without = [...LOADERS.keys()].filter(
    (loader) => !SOURCES.some((source) => source.loader === loader),
  );
  assert.deepEqual(without, [], 'loaders without a source');
  const loaded = new Set([...LOADERS.values()].map(({ loads }) => loads.name));
  const needed = TOPIC_SLUGS.flatMap((topic) => [...needsOf(topic), ...eventDatasetsOf(topic)]);
  const unloaded = needed.filter((dataset) => !loaded.has(dataset));
  assert.deepEqual(unloaded, [], 'datasets without a loader');
  const topics = new Set(
    SOURCES.filter(({ when }) => when !== 'named').flatMap((source) => source.topics),
  );
  const missing = TOPIC_SLUGS.filter((topic) => !topics.has(topic));
  assert.deepEqual(missing, [], 'topics without a download');
  assert.equal(new Set(SOURCES.map(({ name }) => name)).size, SOURCES.length);
  for (const { name, download, firstLine, replaces } of SOURCES) {
    assert.match(JSON.stringify(download), /https:\/\//, name);
    assert.doesNotMatch(JSON.stringify(download), /"http:\/\//, name);
    assert.doesNotThrow(() => new RegExp(firstLine ?? ''));
    if (download.kind === 'linked') for (const link of download.links) new RegExp(link);
    if (replaces !== undefined) assert.ok(SOURCES.some((other) => other.name === replaces));
  }
  // The risk index has a source for tracts and one for counties, which are loaded side by side.
  const levels = new Map([['nri', 2]]);
  for (const [loader, sources] of Map.groupBy(SOURCES, (source) => source.loader)) {
    const first = sources.filter(
      ({ when, replaces }) => when !== 'named' || replaces === undefined,
    );
    assert.ok(
      first.length <= (levels.get(loader) ?? 1),
      `two sources of ${loader} would be loaded together`,
    );
  }
});

test('a source has a second address with its loader, or the documents say why not', () => {
  const reference = readFileSync(
    join(import.meta.dirname, '../../../docs/reference/sources.md'),
    'utf8',
  );
  const alone = SOURCES.filter((source) => source.else === undefined).map(({ name }) => name);
  assert.ok(
    SOURCES.length - alone.length >= 24,
    `${SOURCES.length - alone.length} of ${SOURCES.length}`,
  );
  for (const name of alone)
    assert.match(reference, new RegExp(`^- .*\x60${name}\x60.*: `, 'm'), name);
  for (const { name, download, else: others = [] } of SOURCES) {
    const addresses = [download, ...others.map((other) => other.download)].map((one) =>
      JSON.stringify(one),
    );
    assert.equal(new Set(addresses).size, addresses.length, name);
    for (const { from } of others) assert.notEqual(from, '', name);
    for (const address of addresses) assert.match(address, /"https:\/\/[^"]+/, name);
  }
});

test('the data of an own layer is of the time that its description says, or of the last edit of its service, and of all its addresses', (t) => {
  t.after(() => declareLayers([]));
  const own = {
    ...{ layer: 'own_zone', title: 'Own zone', class: { from: ['ZONE'] }, classes: ['High'] },
  };
  const [file, service] = ['zones.zip', 'FeatureServer/0'].map((end) => `https://a.example/${end}`);
  for (const [url, vintage, expected] of [
    [file, '2025-03', '2025-03'],
    [service, '2025-03', '2025-03'],
    // It stands in each row.
    [service, { from: ['EDITED'], as: 'day' }, undefined],
    [service, undefined, 'edited'],
    [file, undefined, undefined],
  ] as const) {
    declareLayers([{ ...own, sources: [{ url }], ...(vintage && { vintage }) } as never]);
    const [source] = layerSources();
    assert.deepEqual([source!.name, source!.vintage], ['own_zone', expected]);
  }
  const parts = [1, 2].map((state) => ({ url: `${service}?${state}`, where: `STATE = ${state}` }));
  const [one, other] = parts.map(({ url: layer, where }) => ({ layer, where }));
  for (const [sources, expected] of [
    [parts.slice(0, 1), { kind: 'layer', ...one }],
    [parts, { kind: 'layer', ...one, more: [other] }],
  ] as const) {
    declareLayers([{ ...own, sources } as never]);
    assert.deepEqual(layerSources()[0]!.download, expected);
  }
});

test('sources are chosen by topic, source, loader, natural and all, with the boundaries that topics need', () => {
  assert.deepEqual(namesOf(['radon']), ['areas', 'counties', 'radon']);
  assert.deepEqual(namesOf(['air-quality']), ['air-quality']);
  assert.deepEqual(namesOf(['nri']), ['areas', 'counties', 'nri-tracts', 'nri-counties']);
  assert.deepEqual(namesOf(['nri-tracts']), ['areas', 'counties', 'nri-tracts']);
  assert.deepEqual(namesOf(['powerPlant']), ['areas', 'counties', 'power-plants']);
  assert.deepEqual(namesOf(['ibtracs']), ['ibtracs']);
  const natural = namesOf(['natural']);
  assert.deepEqual(natural.slice(0, 4), ['areas', 'counties', 'nri-tracts', 'nri-counties']);
  assert.ok(!natural.includes('ibtracs'));
  const leftOut = chooseSources(['all'], false).leftOut.map(({ source }) => source.name);
  assert.deepEqual(leftOut, ['flood-zones', 'parks', 'wells']);
  assert.ok(namesOf(['all'], true).includes('wells'));
  for (const topic of NATURAL_SLUGS) assert.ok(namesOf([topic]).includes('nri-tracts'), topic);
});

test('a misspelt name and a source that needs states are refused with what to do', () => {
  assert.throws(
    () => namesOf(['tornadoo']),
    /There is no source or topic "tornadoo"; did you mean tornado\?/,
  );
  // An address in place of a name may hold a token.
  assert.throws(
    () => namesOf(['https://a.example/hail.csv?token=s3cret']),
    /There is no source or topic "https:\/\/a\.example\/hail\.csv\?token=\[hidden\]"/,
  );
  assert.throws(() => namesOf(['wells']), {
    message: /cannot be downloaded for the whole US/,
    hint: /--states/,
  });
});

test('advice on the server of an agency is not given for an own address', (t) => {
  const file = join(temporaryFolder(t), 'sources.yaml');
  const noteOf = (text: string) => {
    writeFileSync(file, text);
    return overriddenSources(file, SOURCES).sources.find(({ name }) => name === 'nri-tracts')!.note;
  };
  assert.match(noteOf('sources: {nri-tracts: {licence: ours}}')!, /FEMA's map service/);
  assert.equal(
    noteOf('sources: {nri-tracts: {layer: "https://gis.example.com/nri/FeatureServer/0"}}'),
    undefined,
  );
  assert.equal(noteOf('mirror: https://mirror.example.com/agencies'), undefined);
});

test('sources.yaml gives other addresses, and what it cannot say is refused with its place', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'sources.yaml');
  const read = (text: string) => {
    writeFileSync(file, text);
    return overriddenSources(file, SOURCES);
  };
  const { sources, mirror, contact } = read(
    [
      ...['mirror: https://mirror.example.com/agencies', 'contact: data@example.com', 'sources:'],
      '  nri-tracts: {url: "https://files.example.com/nri-tracts.csv.zip", licence: ours}',
      '  areas: {url: "https://files.example.com/us-{year}.zip", state_url: "https://files.example.com/{st}-{year}.zip"}',
      '  hail: {page: "https://files.example.com/storms/"}',
      '  parks: {layer: "https://gis.example.com/arcgis/rest/services/parks/FeatureServer/3"}',
      '  alternative-fuels-afdc: {key_file: afdc.key}',
    ].join('\n'),
  );
  const by = (name: string) => sources.find((source) => source.name === name)!;
  assert.deepEqual([mirror, contact], ['https://mirror.example.com/agencies', 'data@example.com']);
  assert.deepEqual(by('nri-tracts').download, {
    kind: 'file',
    files: [{ url: 'https://files.example.com/nri-tracts.csv.zip' }],
  });
  assert.equal(by('nri-tracts').licence, 'ours');
  assert.ok(by('areas').download.kind === 'file' && by('areas').download.kind);
  assert.deepEqual((by('areas').download as { years: unknown }).years, { newest: 0, oldest: 2022 });
  assert.equal((by('hail').download as { page: string }).page, 'https://files.example.com/storms/');
  assert.match((by('parks').download as { layer: string }).layer, /parks\/FeatureServer\/3$/);
  assert.equal(by('alternative-fuels-afdc').keyFile, join(folder, 'afdc.key'));
  const tri = SOURCES.find(({ name }) => name === 'tri');
  assert.equal(by('tri'), tri);
  for (const [text, message] of [
    [
      'sources: {hial: {page: "https://a.example"}}',
      /there is no source "hial"; did you mean hail\?/,
    ],
    [
      'sources: {"https://a.example/a.csv?token=s3cret": {url: "https://a.example/a.csv"}}',
      /there is no source "https:\/\/a\.example\/a\.csv\?token=\[hidden\]"/,
    ],
    ['sources: {__proto__: {page: "https://a.example"}}', /the name __proto__ cannot be used/],
    ['sources: {hail: {page: "ftp://a.example"}}', /sources\.hail\.page/],
    [
      'sources: {hail: {url: "https://me:secret@a.example/a.csv"}}',
      /hail\.url: must be an address without user and password$/,
    ],
    ['sources: {hail: {layer: "https://a.example"}}', /hail\.layer: this source is no layer/],
    [
      'sources: {hail: {url: "https://a.example/a", page: "https://a.example"}}',
      /takes one of url, page and layer/,
    ],
    ['sources: {hail: {key_file: key}}', /needs no key/],
    [
      'sources: {alternative-fuels-afdc: {url: "http://a.example/a.csv", key_file: key}}',
      /alternative-fuels-afdc: a key is sent to addresses of https only/,
    ],
    [
      'sources: {tri: {url: "https://a.example/a", states: "VA, Mars"}}',
      /tri\.states: "Mars" is not a state/,
    ],
    ['miror: https://a.example', /miror: there is no such member; did you mean mirror\?/],
    ['sources: {hail: {ulr: x}}', /hail\.ulr: there is no such member; did you mean url\?/],
    ['extract: sometimes', /sources\.yaml": extract: expected true or false, found a text/],
    ['- mirror', /sources\.yaml": expected members such as mirror: \S+, found a list/],
    ['sources: [', /sources\.yaml": line 1: a list that begins with \[ is not closed/],
    ['mirror: *m', /sources\.yaml": YAML reads &, \* and ! here/],
  ] as const) {
    assert.throws(() => read(text), { code: 'USAGE', message });
  }
  assert.throws(() => overriddenSources(join(folder, 'none.yaml'), SOURCES), /none\.yaml/);
  assert.equal(overriddenSources(join(folder, 'none.yaml'), SOURCES, true).sources, SOURCES);
});

test('the states near locations are those within 100 km, on both sides of every border', () => {
  const near = (lat: number, lng: number) => statesNear([{ lat, lng }], 100_000);
  // Richmond, Virginia: North Carolina is 110 km away, and locations are looked at by squares of 0.1 degrees.
  assert.deepEqual(near(37.54, -77.44), ['MD', 'NC', 'VA']);
  assert.deepEqual(near(37.7, -77.44), ['MD', 'VA']);
  assert.deepEqual(near(38.9, -77.04), ['DC', 'MD', 'PA', 'VA', 'WV']);
  assert.deepEqual(near(39.0, -98.5), ['KS']);
  assert.deepEqual(near(36.999, -109.045), ['AZ', 'CO', 'NM', 'UT']);
  assert.deepEqual(near(41.7, -71.5), ['CT', 'MA', 'NY', 'RI']);
  assert.deepEqual(near(48.85, 2.35), []);
  assert.deepEqual(near(52.9, 172.9), ['AK']);
  const [kansas, honolulu] = [
    { lat: 39, lng: -98.5 },
    { lat: 21.3, lng: -157.9 },
  ];
  assert.deepEqual(statesNear([kansas, honolulu], 100_000), ['HI', 'KS']);
});
