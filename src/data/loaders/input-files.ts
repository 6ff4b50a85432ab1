import { statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { PerilbookError } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-words.ts';
import { isBrought, isBuiltIn, isTopicSlug, topicOf } from '../../contract/topics.ts';
import { agencyZip, invalidFile, unreadable, zipHolds } from './agency-file.ts';
import { keyOf, tableRecords } from './agency-table.ts';
import {
  geojsonFeatures,
  headOfShapefile,
  isFeatureFile,
  LATITUDES,
  unsupportedFormat,
} from './feature-files.ts';
import { geopackageFeatures, geopackagePath, layersOfGeopackage } from './geopackage.ts';
import type { FileShape, FileSignature, LoaderOptions } from './loader.ts';
import { LOADERS, loaderNamed } from './loader-table.ts';

const TABLES = /\.(csv|txt|dat|json|geojson|geojsonl|geojsons|ndjson|jsonl)$/i;

/** The files that a loader reads: as named; in a zip without a shapefile, the file that fits the loader (`hail.csv.zip/hail.csv`); in a zip
 * of several shapefiles, those that fit it.
 * @throws PerilbookError SERVICE_DATA for a folder, an unreadable file, or one of another loader unless `force` is set */
export async function inputFiles(
  loader: string,
  files: readonly string[],
  options: LoaderOptions,
): Promise<string[]> {
  const paths: string[] = [];
  for (const file of files) {
    if (await isFileGdb(file)) throw fileGdb(file, loader, options);
    if (isFolder(file)) throw invalidFile(file, 'it is a folder', 'Give the files in it.');
    const { zip } = loaderNamed(loader).signature;
    if (zip !== undefined && (await zipHolds(file, zip))) {
      paths.push(file);
      continue;
    }
    const own = await pathsIn(loader, file, options);
    paths.push(...own);
    if (options.force === true) continue;
    for (const path of own) {
      const profile = await readProfile(path, options.lat);
      const problem = mismatch(loader, profile);
      if (problem !== null) throw wrongFile(loader, path, problem, profile);
    }
  }
  return paths;
}

/** False for a missing path: it may continue into a zip, which the reader checks. */
function isFolder(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch (error) {
    // A path below a file is not a folder.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw unreadable(file, error);
  }
}

async function pathsIn(loader: string, file: string, options: LoaderOptions): Promise<string[]> {
  if (/\.zip$/i.test(file)) return await pathsInZip(loader, file, options);
  return /\.gpkg$/i.test(file) ? await layersFor(loader, file, options) : [file];
}

/** The layers of a GeoPackage that fit the loader; its reader says what it has if none or several do. */
async function layersFor(loader: string, file: string, options: LoaderOptions): Promise<string[]> {
  const paths = layersOfGeopackage(file).map((layer) => `${file}/${layer}`);
  if (paths.length <= 1) return [file];
  const own: string[] = [];
  for (const path of paths)
    if (mismatch(loader, await readProfile(path, options.lat)) === null) own.push(path);
  return own.length > 0 && (own.length === 1 || loader === 'flood-zones') ? own : [file];
}

/** Whether a path is Esri's geodatabase: a folder of its files, or a zip of one. */
async function isFileGdb(file: string): Promise<boolean> {
  if (/\.gdb[\\/]?$/i.test(file)) return true;
  if (!/\.zip$/i.test(file)) return false;
  return (await agencyZip(file)).entries.some(({ fileName }) => /\.gdbtable$/i.test(fileName));
}

function fileGdb(file: string, loader: string, { address }: LoaderOptions): PerilbookError {
  const command = `ogr2ogr -t_srs EPSG:4326 ${loader}.gpkg ${shellWord(file)} LAYER`;
  const layer = address === undefined ? '' : ` Or get it from its map service: ${address}`;
  const hint = `Convert it with GDAL, and load the .gpkg: ${command} (ogrinfo ${shellWord(file)} lists its layers).${layer}`;
  return invalidFile(
    file,
    'it is a FileGDB (Esri geodatabase), which Perilbook does not read',
    hint,
  );
}

/** FEMA's zips also hold the data dictionary, EPA's other tables: the loader's own is read. */
async function pathsInZip(loader: string, file: string, options: LoaderOptions): Promise<string[]> {
  const names = (await agencyZip(file)).entries.map(({ fileName }) => fileName);
  const shapes = names.filter((name) => /\.shp$/i.test(name));
  const isTable = shapes.length === 0;
  const paths = (isTable ? names.filter((name) => TABLES.test(name)) : shapes).map(
    (name) => `${file}/${name}`,
  );
  if (shapes.length === 1) return [file];
  const own: string[] = [];
  for (const path of paths) {
    if (paths.length === 1 || mismatch(loader, await readProfile(path, options.lat)) === null)
      own.push(path);
  }
  if (own.length === 1 || (!isTable && own.length > 0)) return own;
  // Its reader says how many it holds.
  if (!isTable) return [file];
  const packed = names.find((name) => /\.gpkg$/i.test(name));
  // Its reader says what to do.
  if (own.length === 0 && packed !== undefined) return [`${file}/${packed}`];
  const hint = `It holds: ${names.slice(0, 10).join(', ')}. Give the path of the file in it, or unpack it.`;
  const found = own.length === 0 ? 'no file' : `${own.length} files`;
  throw invalidFile(file, `${found} in the zip could be for ${loader}`, hint);
}

function wrongFile(
  loader: string,
  file: string,
  problem: string,
  profile: FileProfile,
): PerilbookError {
  const others = loadersFor(profile).filter((name) => name !== loader);
  const commands = others.map((name) => `perilbook data load ${name} FILE`);
  const fits = others.length === 0 ? '' : `Load it with: ${commands.join(', or: ')}. `;
  const seems = others.length === 0 ? seemsToBe(profile) : null;
  const other = seems === null ? '' : `It seems to be ${seems}. `;
  const own = isDescribed(loader) ? columnsHint(profile) : null;
  const hint = `${fits}${other}${own ?? 'To load it anyway, add --force.'} The stored data is unchanged.`;
  return new PerilbookError(
    'SERVICE_DATA',
    `Cannot load "${file}" as ${loader}: ${problem}`,
    hint,
    { file },
  );
}

/** Whether a loader is that of a layer which a user described. */
function isDescribed(loader: string): boolean {
  const topic = isTopicSlug(loader) ? topicOf(loader) : null;
  return topic !== null && !isBuiltIn(topic) && !isBrought(topic);
}

const MOST_COLUMNS = 12;

/** What the file has in place of the columns that a description names; null where it has none. */
function columnsHint({ columns, rows }: FileProfile): string | null {
  const names = (rows[0] ?? [...columns]).filter((name) => name !== '');
  if (names.length === 0) return null;
  const rest = names.length > MOST_COLUMNS ? ' …' : '';
  return `Its columns are ${names.slice(0, MOST_COLUMNS).join(', ')}${rest}: name the right ones in the description.`;
}

/** Why a file is not one of the loader's; null when it is. */
function mismatch(loader: string, profile: FileProfile): string | null {
  const { columns = [], like, shapes, rows, anyOther } = loaderNamed(loader).signature;
  const has = (name: string) => {
    const key = keyOf(name);
    return profile.columns.has(key) || profile.cut.some((start) => key.startsWith(start));
  };
  const missing = columns.find((names) => !names.some(has));
  if (missing !== undefined) return `it has no column ${missing.slice(0, 6).join(' or ')}`;
  const unlike =
    like !== undefined && !isLike(like, profile) ? `it has no column of ${like.of}` : null;
  if (unlike !== null && anyOther !== true) return unlike;
  if (rows !== undefined && !rows.test(profile.rows)) {
    const { columns: all = [], are } = rows;
    const lacking = all.filter((name) => !has(name));
    const isHeader = lacking.length > 0 && lacking.length < all.length / 2;
    return isHeader ? `it has no column ${lacking.join(', ')}` : `its rows are not ${are}`;
  }
  const problem = shapes === undefined ? null : otherShapes(loader, shapes, profile);
  if (problem !== null) return problem;
  if (anyOther !== true) return null;
  const others = loadersFor(profile);
  if (others.length > 0) return `it is a file for ${others.join(' or ')}`;
  const seems = seemsToBe(profile);
  return seems === null ? unlike : `it seems to be ${seems}`;
}

function isLike(
  { names, texts }: NonNullable<FileSignature['like']>,
  { columns, name, rowTexts }: FileProfile,
): boolean {
  if ([...columns].some((column) => names.test(column))) return true;
  if (texts === undefined) return false;
  const told = rowTexts.filter((text) => texts.test(text)).length;
  return texts.test(name.replaceAll(/[_.-]/g, ' ')) || (told > 0 && 3 * told >= rowTexts.length);
}

/** Public layers that no loader reads, by a column that only they have. */
const OTHER_DATA: readonly (readonly [what: string, columns: RegExp])[] = [
  ['levees or leveed areas', /^leve|leveedarea|femaaccreditation/],
  [
    'dams or areas that a dam may flood',
    /^(damname|nidid|federalid|damheight|inundation|hazardclass)/,
  ],
  ['flood zones', /^(fldzone|zonesubty|sfhatf|dfirmid)$/],
  ['fire hazard zones', /^(fhsz|hazclass|hazcode|vhfhsz)/],
  ['evacuation zones', /^(ezone|evaczone|evacuation)/],
  ['coastal barriers', /^(unittype|fiunit|systemunit|cbrs)/],
  ['zones of earthquake hazards', /^(liquefaction|landslide|faultzone|alquist)/],
  ['schools', /^(ncessch|schoolname|schname|schooltype|enrollment|leaid)$/],
  ['hospitals', /^(hospitalname|trauma|beds|helipad)$/],
  [
    'parcels or buildings',
    /^(apn|parcelid|parcelno|pin|buildarea|bldgid|bldgheight|occcls|landvalue|assessed)/,
  ],
  ['roads or rails', /^(roadname|fullname|rttyp|highway|routeid|lanes|railroad|rrowner)/],
  ['wetlands or waters', /^(wetlandtype|attribute|gnisid|ftype|reachcode|hydroid)$/],
  ['water wells', /^(aquifer|waterlevel|wateruse|swl|staticwater)/],
  ['census areas', /^(aland|awater|namelsad|tractce|blkgrpce)$/],
];

/** What a file seems to be that no loader reads; null if nothing tells. */
function seemsToBe({ columns }: FileProfile): string | null {
  for (const [what, pattern] of OTHER_DATA) {
    const column = [...columns].find((name) => pattern.test(name));
    if (column !== undefined) return `${what} (column ${column})`;
  }
  return null;
}

function otherShapes(
  loader: string,
  wanted: readonly FileShape[],
  { shapes, rows }: FileProfile,
): string | null {
  const where = isDescribed(loader) ? 'in the description: lat, lng' : 'with --lat and --lng';
  if (wanted.some((shape) => shapes.has(shape))) return null;
  if (shapes.size > 0)
    return `its features are ${[...shapes].join(' and ')}, not ${wanted.join(' or ')}`;
  return rows.length > 0 && wanted.includes('points')
    ? `it has no known latitude column (name the columns ${where})`
    : `it has no ${wanted.join(' or ')}`;
}

function loadersFor(profile: FileProfile): string[] {
  return [...LOADERS]
    .filter(
      ([name, { signature }]) =>
        signature.anyOther === undefined && mismatch(name, profile) === null,
    )
    .map(([name]) => name);
}

interface FileProfile {
  /** Of the file, without its folder. */
  readonly name: string;
  /** The texts of each of the first rows. */
  readonly rowTexts: readonly string[];
  /** The names of its columns, normalized by `keyOf`. */
  readonly columns: ReadonlySet<string>;
  /** Column names that a shapefile may have cut at 10 characters. */
  readonly cut: readonly string[];
  /** The kinds of its geometries; a table with coordinates has points. */
  readonly shapes: ReadonlySet<FileShape>;
  /** The first rows of a text file, header included. */
  readonly rows: readonly (readonly string[])[];
}

/** How many rows or features are read: the first may lack properties that later ones have. */
const SAMPLE_ROWS = 100;

const SHAPES: Readonly<Record<string, FileShape>> = {
  Point: 'points',
  LineString: 'lines',
  Polygon: 'outlines',
};

/** Reads the beginning of a file. @param latitude the name of the latitude column, if the user gave one */
async function readProfile(file: string, latitude?: string): Promise<FileProfile> {
  if (isFeatureFile(file) || geopackagePath(file) !== null) return await profileOfFeatures(file);
  const extension = extname(file.replace(/\.gz$/i, '')).toLowerCase();
  if (extension === '.shp' || extension === '.zip') return await profileOfShapefile(file);
  if (UNSUPPORTED.test(extension)) throw unsupportedFormat(file);
  return await profileOfText(file, latitude);
}

/** Formats of tables and maps that no loader reads. */
const UNSUPPORTED = /^\.(xls|xlsb|ods|gdb|km[lz]|parquet|pdf|html?)$/;

async function profileOfShapefile(file: string): Promise<FileProfile> {
  const { type, columns } = await headOfShapefile(file);
  // 1 Point, 3 PolyLine, 5 Polygon, 8 MultiPoint; with heights 10 more, with measures 20.
  const shape = (
    { 1: 'points', 8: 'points', 3: 'lines', 5: 'outlines' } as Record<number, FileShape>
  )[type % 10];
  const cut = columns.filter((name) => name.length === 10).map(keyOf);
  return {
    name: basename(file),
    rowTexts: [],
    columns: keysOf(columns),
    cut,
    shapes: new Set(shape === undefined ? [] : [shape]),
    rows: [],
  };
}

async function profileOfFeatures(file: string): Promise<FileProfile> {
  const features = geopackagePath(file) === null ? geojsonFeatures(file) : geopackageFeatures(file);
  const names = new Set<string>();
  const shapes = new Set<FileShape>();
  const rowTexts: string[] = [];
  for (const { geometry, properties } of await first(features, SAMPLE_ROWS)) {
    for (const name of Object.keys(properties)) names.add(name);
    rowTexts.push(textsOf(Object.values(properties)));
    const shape =
      SHAPES[String((geometry as { type?: unknown } | null)?.type).replace(/^Multi/, '')];
    if (shape !== undefined) shapes.add(shape);
  }
  return { name: basename(file), rowTexts, columns: keysOf(names), cut: [], shapes, rows: [] };
}

async function profileOfText(file: string, latitude: string | undefined): Promise<FileProfile> {
  const [head] = await first(tableRecords(file), 1);
  const isBarred = head !== undefined && head.cells.length === 1 && head.cells[0]!.includes('|');
  const records = await first(tableRecords(file, { delimiter: isBarred ? '|' : ',' }), SAMPLE_ROWS);
  const rows = records.map(({ cells }) => cells);
  const columns = keysOf(rows[0] ?? []);
  const latitudes = latitude === undefined ? LATITUDES : [latitude];
  const hasPoints = latitudes.some((name) => columns.has(keyOf(name)));
  return {
    name: basename(file),
    rowTexts: rows.slice(1).map(textsOf),
    columns,
    cut: [],
    shapes: new Set<FileShape>(hasPoints ? ['points'] : []),
    rows,
  };
}

const textsOf = (values: readonly unknown[]): string =>
  values.filter((value) => typeof value === 'string').join('\n');

function keysOf(names: Iterable<string>): Set<string> {
  return new Set([...names].map(keyOf).filter((key) => key !== ''));
}

async function first<T>(batches: AsyncIterable<readonly T[]>, most: number): Promise<T[]> {
  const values: T[] = [];
  for await (const batch of batches) {
    values.push(...batch.slice(0, most - values.length));
    if (values.length === most) break;
  }
  return values;
}
