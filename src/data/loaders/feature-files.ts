import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type PerilbookError, resultOrNull } from '../../base/errors.ts';
import type { Batches, TextForm } from '../../formats/csv/parsed-records.ts';
import {
  type CollectionText,
  collectionFeatures,
  type FeatureText,
} from '../../formats/json/collection-features.ts';
import { convertEsriFeature, esriToDegrees } from '../../formats/json/esri-features.ts';
import { beginsWithFeature, featureLines } from '../../formats/json/feature-lines.ts';
import type { ToDegrees } from '../../formats/shapefile/coordinate-system.ts';
import {
  type ShapefileHead,
  type ShapefileParts,
  shapefileFeatures,
  shapefileHead,
} from '../../formats/shapefile/shapefile-parts.ts';
import type { ZipEntry } from '../../formats/zip/zip-reader.ts';
import { withoutShortParts } from '../../geo/bounding-boxes.ts';
import { agencyZip, invalidFile, refusedFor, textBytes, zipPath } from './agency-file.ts';
import { parsePoint, pickProperties, tableRows } from './agency-table.ts';
import type { FileFeature } from './file-feature.ts';
import { geopackageFeatures, geopackagePath } from './geopackage.ts';
import { inTurn, type LoaderOptions, type LoadReporter } from './loader.ts';

/** The features of a file in any of the agencies' formats: CSV with coordinate columns, GeoJSON, GeoPackage, or shapefile (or a zip of one),
 * without parts that are too short to be any. Rows of a CSV without coordinates are rejected. */
export async function* featuresIn(
  file: string,
  options: LoaderOptions,
  report: LoadReporter,
  form?: TextForm,
): Batches<FileFeature> {
  for await (const features of featuresAsWritten(file, options, report, form))
    yield features.map((feature) => {
      const geometry = withoutShortParts(feature.geometry);
      return geometry === feature.geometry ? feature : { ...feature, geometry };
    });
}

function featuresAsWritten(
  file: string,
  options: LoaderOptions,
  report: LoadReporter,
  form?: TextForm,
): AsyncIterable<readonly FileFeature[]> {
  if (geopackagePath(file) !== null) return geopackageFeatures(file);
  if (isFeatureFile(file))
    return geojsonFeatures(file, () => {
      report.pages += 1;
    });
  switch (extname(file.replace(/\.gz$/i, '')).toLowerCase()) {
    case '.csv':
    case '.txt':
    case '.xlsx':
      return csvFeatures(file, options, report, form);
    case '.shp':
    case '.zip':
      return featuresOfShapefile(file, (text) => report.note(text));
    default:
      throw unsupportedFormat(file);
  }
}

/** Whether a file is GeoJSON or Esri JSON by its extension: a collection, or a feature a line. */
export const isFeatureFile = (file: string): boolean =>
  /\.(json|geojson|geojsonl|geojsons|ndjson|jsonl)(\.gz)?$/i.test(file);

/** The error for a file with an unknown extension. */
export function unsupportedFormat(file: string): PerilbookError {
  const hint =
    'Use a .csv, .xlsx, .geojson, .geojsonl, .json, .gpkg, .shp or .zip file; save other spreadsheets as CSV.';
  return invalidFile(file, 'its format is not supported', hint);
}

/** The agencies' names for the coordinate columns, the most reliable first. */
export const LATITUDES =
  'LATITUDE83,latdec,LATITUDE,LAT,Latitude Decimal,PRIMARY_LATITUDE_DECIMAL_VAL,Y'.split(',');
const LONGITUDES =
  'LONGITUDE83,londec,LONGITUDE,LNG,LON,LONG,Longitude Decimal,PRIMARY_LONGITUDE_DECIMAL_VAL,X'.split(
    ',',
  );

/** The rows of a CSV as points. The coordinate columns are named by the options or recognized by name, and are left out
 * of the properties. Other cells stay as text, blank ones are left out. */
function csvFeatures(
  file: string,
  options: LoaderOptions,
  report: LoadReporter,
  form?: TextForm,
): Batches<FileFeature> {
  return tableRows(
    file,
    (columns) => {
      const lat = columns.need(...(options.lat === undefined ? LATITUDES : [options.lat]));
      const lng = columns.need(...(options.lng === undefined ? LONGITUDES : [options.lng]));
      const skipped = new Set([lat, lng]);
      return ({ line, cells }): readonly FileFeature[] => {
        const point = parsePoint(cells[lat], cells[lng]);
        if (typeof point === 'string') {
          report.reject(point, line, cells);
          return [];
        }
        const properties = pickProperties(columns.names, cells, skipped);
        return [{ line, geometry: { type: 'Point', coordinates: point }, properties }];
      };
    },
    form,
  );
}

/** Coordinate systems in degrees of longitude and latitude; NAD83 is within two metres of WGS84. */
const DEGREES = /CRS84|CRS83|EPSG:{1,2}(\d*:)?(4326|4269)$/;

/** The features of a GeoJSON FeatureCollection, of Esri JSON, or of newline-delimited GeoJSON, in batches: the file is never in memory as a whole.
 * @param onMore called if the file is one page of an ArcGIS answer with further pages
 * @throws PerilbookError SERVICE_DATA when it has no features, ends early, or is not in degrees */
export async function* geojsonFeatures(
  file: string,
  onMore: () => void = () => {},
): Batches<FileFeature> {
  if (await hasFeatureLines(file)) {
    for await (const features of featureLines(textBytes(file)))
      yield features.map((feature) => parsed(feature, file, null));
    return;
  }
  const around: CollectionText = { head: '', tail: '', hasFeatures: false };
  let convert: ToDegrees | null = null;
  let isFirst = true;
  for await (const features of collectionFeatures(textBytes(file), around)) {
    refuseOtherSystem(file, SYSTEM.exec(around.head)?.[1]);
    if (isFirst) convert = esriToDegrees(around.head, refusedFor(file));
    isFirst = false;
    const inDegrees = convert;
    yield features.map((feature) => parsed(feature, file, inDegrees));
  }
  const { head, tail, hasFeatures } = around;
  if (!hasFeatures) {
    const what = /^\s*\{\s*"error"\s*:/.test(head)
      ? `an error from the service (${head.trim().slice(0, 100)})`
      : 'not a GeoJSON FeatureCollection';
    throw invalidFile(file, `it is ${what}`, 'Use a GeoJSON file with features.');
  }
  const envelope = resultOrNull(() => JSON.parse(head + tail) as Envelope);
  if (envelope === null)
    throw invalidFile(file, 'it ends before its features do', 'Download it again.');
  refuseOtherSystem(file, envelope.crs?.properties?.name);
  // A system that is named behind the features comes too late.
  if (convert === null && esriToDegrees(tail, refusedFor(file)) !== null)
    throw invalidFile(file, 'it names its coordinate system behind its features', OTHER_SYSTEM);
  if (
    envelope.exceededTransferLimit === true ||
    envelope.properties?.exceededTransferLimit === true
  )
    onMore();
}

/** The coordinate system, when named before the features: a large file need not be read to its end. */
const SYSTEM = /"crs"[^}]*"name"\s*:\s*"(?!name")([^"]+)"/;

interface Envelope {
  readonly crs?: { readonly properties?: { readonly name?: string } };
  readonly exceededTransferLimit?: unknown;
  readonly properties?: { readonly exceededTransferLimit?: unknown };
}

function refuseOtherSystem(file: string, system: string | undefined): void {
  if (system === undefined || DEGREES.test(system)) return;
  throw invalidFile(file, `its coordinates are in ${system}`, OTHER_SYSTEM);
}

const OTHER_SYSTEM =
  'Download or convert it in degrees (EPSG:4326); add outSR=4326 to the query of an ArcGIS service.';

async function hasFeatureLines(file: string): Promise<boolean> {
  if (/\.(geojsonl|geojsons|ndjson|jsonl)(\.gz)?$/i.test(file)) return true;
  for await (const block of textBytes(file)) return beginsWithFeature(block.toString('utf8'));
  return false;
}

function parsed({ json, line }: FeatureText, file: string, convert: ToDegrees | null): FileFeature {
  try {
    const feature = JSON.parse(json) as Partial<FileFeature>;
    const esri = convertEsriFeature(feature, convert);
    if (esri !== null) return { line, ...esri };
    const { id, geometry, properties } = feature;
    const named = typeof id === 'string' || typeof id === 'number' ? { id } : {};
    const isObject =
      typeof properties === 'object' && properties !== null && !Array.isArray(properties);
    return { line, ...named, geometry, properties: isObject ? properties : {} };
  } catch (error) {
    const problem = `line ${line} is not valid JSON (${(error as Error).message})`;
    throw invalidFile(file, problem, 'Download it again.', error);
  }
}

/** The features of a shapefile, or of the one in a zip.
 * @throws PerilbookError SERVICE_DATA when a part is missing or cut, or the coordinate system is unknown */
async function* featuresOfShapefile(
  file: string,
  note: (text: string) => void,
): Batches<FileFeature> {
  const parts = await readShapefileParts(file);
  const features = shapefileFeatures(
    parts,
    (what) => note(`${basename(file)} ${what}`),
    refusedFor(file),
  );
  for await (const feature of features) yield [feature];
}

/** The geometry type and the column names of a shapefile. */
export async function headOfShapefile(file: string): Promise<ShapefileHead> {
  return await shapefileHead(await readShapefileParts(file), refusedFor(file));
}

async function readShapefileParts(file: string): Promise<ShapefileParts> {
  const inZip = zipPath(file);
  if (inZip !== null) return await partsInZip(inZip.archive, inZip.member);
  return /\.zip$/i.test(file) ? await partsInZip(file) : partsBeside(file);
}

function partsBeside(file: string): ShapefileParts {
  const beside = (extension: string) =>
    [extension, extension.toUpperCase()]
      .map((end) => file.replace(/shp$/i, end))
      .find((name) => existsSync(name));
  const dbf = beside('dbf');
  if (!existsSync(file) || dbf === undefined) {
    const hint = 'Unpack all files of the zip, or load the zip itself.';
    throw invalidFile(file, 'its .shp and .dbf files must be in one folder', hint);
  }
  const text = (extension: string) => {
    const name = beside(extension);
    return name === undefined ? undefined : readFileSync(name);
  };
  const part = (path: string) => ({
    size: statSync(path).size,
    start: () => createReadStream(path),
  });
  return { shp: part(file), dbf: part(dbf), prj: text('prj'), cpg: text('cpg') ?? text('cst') };
}

/** @param member the path of its .shp; left out for the only one */
async function partsInZip(file: string, member?: string): Promise<ShapefileParts> {
  const zip = await agencyZip(file);
  const isOwn = (name: string) => (member === undefined ? /\.shp$/i.test(name) : name === member);
  const shapes = zip.entries.filter(({ fileName }) => isOwn(fileName));
  const [shape] = shapes;
  if (shape === undefined || shapes.length > 1) {
    throw invalidFile(
      file,
      `the zip holds ${shapes.length} shapefiles, not one`,
      'Unpack it and give one .shp file.',
    );
  }
  const stem = shape.fileName.slice(0, -4);
  const text = async (extension: string) => {
    const entry = zip.find(`${stem}.${extension}`);
    if (entry === undefined) return undefined;
    if (entry.uncompressedSize <= LONGEST_TEXT) return await buffer(zip.unpacked(entry));
    throw invalidFile(file, `its part ${entry.fileName} is too long`, 'Download it again.');
  };
  const dbf = zip.find(`${stem}.dbf`);
  if (dbf === undefined)
    throw invalidFile(file, 'the zip has no .dbf beside its .shp', 'Download it again.');
  const part = (entry: ZipEntry) => ({
    size: entry.uncompressedSize,
    start: () => zip.unpacked(entry),
  });
  const cpg = (await text('cpg')) ?? (await text('cst'));
  return { shp: part(shape), dbf: part(dbf), prj: await text('prj'), cpg };
}

/** A .prj has some hundred bytes. */
const LONGEST_TEXT = 64 * 1024;

export interface FeatureUse<T> {
  /** Called before the first file is read. */
  readonly begin?: () => Promise<void>;
  readonly featuresOf: (file: string) => AsyncIterable<readonly FileFeature[]>;
  /** The record of a feature, none when it becomes part of a record of `atEnd`, or why it is rejected. */
  readonly recordsOf: (feature: FileFeature) => readonly T[] | string;
  /** The records that need all features to be read. */
  readonly atEnd?: () => Iterable<T>;
  /** What `atEnd` reads from; disposed of at the end. */
  readonly buffer?: Disposable;
}

/** The records of some files of features. */
export async function* inFeatureFiles<T>(
  files: readonly string[],
  report: LoadReporter,
  { begin, featuresOf, recordsOf, atEnd = () => [], buffer }: FeatureUse<T>,
): Batches<T> {
  using _ = buffer;
  await begin?.();
  for await (const features of inTurn(files, report, featuresOf)) {
    yield features.flatMap((feature) =>
      report.take(recordsOf(feature), feature.line, feature.properties),
    );
  }
  for (const record of atEnd()) yield [record];
}
