import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { strToU8, zipSync } from 'fflate';
import { sampleDatasets } from '../../../src/data/sample/sample-datasets.ts';
import { SOURCES } from '../../../src/data/sources/source-table.ts';
import type { Dataset } from '../../../src/data/tables/records.ts';
import { perilbook } from '../../cli/command-line.ts';
import { MovedClock } from '../../moved-clock.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { type AgencyFile, writeAgencyFile } from './agency-files.ts';
import { type AgencyMirror, agencyMirror, type MirroredLayer } from './agency-mirror.ts';

const NOW = '2026-06-01T12:20:00Z';
const KEPT = 60;

/** The first records of made-up datasets in the agencies' formats, by their loaders. */
function sampleFiles(folder: string): Map<string, AgencyFile> {
  const files = new Map<string, AgencyFile>();
  for (const dataset of sampleDatasets({ seed: 1, now: Date.parse(NOW) })) {
    if (dataset.kind === 'areas' || dataset.kind === 'nri' || dataset.kind === 'records') continue;
    const records = { [Symbol.iterator]: () => first(dataset.records as Iterable<unknown>, KEPT) };
    const written = writeAgencyFile({ ...dataset, records } as unknown as Dataset, folder);
    files.set(written.loader, written);
  }
  return files;
}

function* first<T>(values: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const value of values) {
    if (left-- === 0) return;
    yield value;
  }
}

/** The rows of an agency's file as its map service gives them. */
function layerOf(file: string): MirroredLayer {
  const text = readFileSync(file, 'utf8');
  if (file.endsWith('geojson')) {
    const { features } = JSON.parse(text) as { features: { properties: Record<string, unknown>; geometry: unknown }[] };
    const rows = features.map(({ properties, geometry }) => ({ attributes: properties, geometry }));
    return { fields: Object.keys(rows[0]!.attributes), rows, edited: 1_770_000_000_000, mostRows: 60 };
  }
  const table: Record<string, string>[] = parse(text, { columns: true });
  const numberAt = (row: Record<string, string>, names: RegExp) =>
    Number(row[Object.keys(row).find((name) => names.test(name)) ?? ''] ?? 0);
  const rows = table.map((attributes) => ({
    attributes,
    geometry: {
      type: 'Point',
      coordinates: [numberAt(attributes, /^(longitude|londec)$/i), numberAt(attributes, /^(latitude|latdec)$/i)],
    },
  }));
  return { fields: Object.keys(table[0]!), rows, edited: 1_770_000_000_000, mostRows: 60 };
}

const withoutProtocol = (url: string) => url.replace('https://', '');

/** All sources but those of natural topics, in the forms in which they are published. */
function serveSites(mirror: AgencyMirror, files: ReturnType<typeof sampleFiles>): void {
  for (const { loader, download, when } of SOURCES) {
    if (download.kind !== 'layer' || when === 'named' || !files.has(loader)) continue;
    const layers = typeof download.layer === 'string' ? [download.layer] : Object.values(download.layer);
    for (const layer of layers) mirror.layers.set(withoutProtocol(layer), layerOf(files.get(loader)!.file));
  }
  // One layer of EIA's holds all plants.
  const [plants, nuclear] = ['power-plants', 'nuclear-reactors'].map((loader) => layerOf(files.get(loader)!.file));
  const reactors = nuclear!.rows.map((row) => ({ ...row, attributes: { ...row.attributes, PrimSource: 'nuclear' } }));
  const shared = SOURCES.find(({ name }) => name === 'power-plants')!.download as { layer: string };
  mirror.layers.set(withoutProtocol(shared.layer), { ...plants!, rows: [...plants!.rows, ...reactors] });
  const body = (loader: string) => readFileSync(files.get(loader)!.file);
  const zip = (name: string, loader: string) => Buffer.from(zipSync({ [name]: body(loader) }));
  // Of the last year nothing is published yet.
  mirror.files.set('data.epa.gov/efservice/downloads/tri/mv_tri_basic_download/2024_US/csv', { body: body('tri') });
  mirror.files.set('aqs.epa.gov/aqsweb/airdata/annual_aqi_by_county_2025.zip', {
    body: zip('annual_aqi_by_county_2025.csv', 'air-quality'),
    etag: '"a"',
  });
  const airnow = 'files.airnowtech.org/airnow/today';
  // The running hour and the one before are not there yet.
  mirror.files.set(`${airnow}/HourlyData_2026060110.dat`, { body: body('airnow'), etag: '"10"' });
  mirror.files.set(`${airnow}/Monitoring_Site_Locations_V2.dat`, {
    body: readFileSync(files.get('airnow')!.sites!),
    etag: '"s"',
  });
  mirror.files.set('www.epa.gov/lmop/landfill-technical-data', {
    body: Buffer.from('<html><a href="/system/files/documents/2024-09/landfilllmopdata.xlsx">LMOP</a></html>'),
  });
  mirror.files.set('www.epa.gov/system/files/documents/2024-09/landfilllmopdata.xlsx', {
    body: workbook(),
    etag: '"l"',
  });
  mirror.files.set('developer.nlr.gov/api/alt-fuel-stations/v1.csv', { body: body('alternative-fuels') });
}

/** EPA's workbook with one landfill. */
function workbook(): Buffer {
  const cells = (values: readonly string[]) =>
    `<row>${values.map((value) => `<c t="inlineStr"><is><t>${value}</t></is></c>`).join('')}</row>`;
  const rows =
    cells(['Landfill ID', 'Landfill Name', 'State', 'Latitude', 'Longitude']) +
    cells(['7', 'Sample landfill', 'VA', '37.5', '-78.5']);
  const parts = {
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels':
      '<Relationships><Relationship Id="w" Type="x/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    'xl/workbook.xml': '<workbook><sheets><sheet name="LMOP Database" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  };
  return Buffer.from(zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)]))));
}

test('every source of sites and measurements comes from its server into the database', async (t) => {
  const folder = temporaryFolder(t);
  const mirror = await agencyMirror(t);
  serveSites(mirror, sampleFiles(folder));
  const names = SOURCES.filter(
    ({ topics, when, name }) =>
      topics.length > 0 &&
      !topics.some((topic) =>
        ['hail', 'tornado', 'hurricane', 'earthquake', 'wildfire', 'avalanche'].includes(topic),
      ) &&
      when === undefined &&
      name !== 'nri-tracts',
  ).map(({ name }) => name);
  assert.equal(names.length, 15);
  const env = { XDG_DATA_HOME: folder, PERILBOOK_AFDC_KEY: 'secret-key-of-ours' };
  const options = { folder, env, clock: new MovedClock(NOW) };
  const run = async (...args: string[]) =>
    perilbook(['data', ...args, ...(args[0] === 'get' ? ['--yes'] : []), '--mirror', mirror.url, '--json'], options);
  const got = await run('get', ...names);
  const { sources } = JSON.parse(got.stdout) as {
    sources: { source: string; records?: number; error?: { message: string } }[];
  };
  // Names that are topics too bring the boundaries, which nobody serves here.
  const failed = sources.filter(({ source, error }) => error !== undefined && names.includes(source));
  assert.deepEqual(failed, []);
  for (const { source, records } of sources) {
    if (names.includes(source)) assert.ok(source === 'lmop' ? records === 1 : records! > 20, `${source}: ${records}`);
  }
  const states = await run('get', 'wells', 'parks', 'ust-facilities', '--states', 'CA,CO,ND,NM,OH,TX,UT,VA');
  assert.match(states.stderr, /States: CA, CO, ND, NM, OH, TX, UT, VA/);
  assert.equal(states.code, 0, states.stdout);

  mirror.downloads();
  const updated = await run('update');
  assert.equal(updated.code, 0, updated.stdout);
  assert.equal(mirror.downloads(), 0);

  // The agency's own list takes the place of the copy; its key is in no file, no address and no word.
  const own = await run('get', 'alternative-fuels-afdc');
  assert.equal(own.code, 0, own.stderr);
  const asked = mirror.requests.find(({ target }) => target.startsWith('developer.nlr.gov'))!;
  assert.equal(asked.headers['x-api-key'], 'secret-key-of-ours');
  assert.doesNotMatch(mirror.requests.map(({ target }) => target).join(), /secret-key/);
  const manifest = readFileSync(join(folder, 'perilbook/downloads/alternative-fuels-afdc/manifest.json'), 'utf8');
  assert.doesNotMatch(manifest + own.stdout + own.stderr, /secret-key/);
  const list = JSON.parse((await perilbook(['data', '--json'], options)).stdout);
  const here = list.sources.filter((one: { downloaded: unknown }) => one.downloaded !== null);
  assert.ok(!here.some((one: { source: string }) => one.source === 'alternative-fuels'));
});
