import type { MultiPolygon, Polygon } from 'geojson';
import { resultOrNull } from '../../base/errors.ts';
import { counted } from '../../base/format-numbers.ts';
import { chunksFrom } from '../../formats/bytes/byte-source.ts';
import { decodeText, type TextEncoding } from '../../formats/bytes/decode-text.ts';
import {
  listElements,
  NotJson,
  objectMembers,
  orNotJson,
  skipSpace,
  type ValueRange,
  withMembers,
} from '../../formats/json/json-members.ts';
import {
  DEGREES,
  INSIDE_OUTLINE,
  innerPoint,
  OUTLINE_PROBLEMS,
} from '../../geo/geometry-points.ts';
import { positionOf } from '../../geo/place-objects.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import { type InputFile, unreadable } from '../files/input-file.ts';
import { writeTextRows } from '../files/row-output.ts';
import { haveLocation } from '../location/location-names.ts';
import { noLocationOf } from '../no-locations.ts';
import { rowFields } from '../placed-fields.ts';
import type { OpenOptions, Row, RowFile, WriteRequest, WriteResult } from '../port.ts';
import { type EncodingOfText, encodingNote } from '../text-encoding.ts';
import { addPieces, lettersOf, membersIn } from './json-encoding.ts';
import {
  isObject,
  type JsonColumn,
  type JsonObject,
  jsonColumns,
  jsonText,
  jsonType,
  memberAt,
  ownTexts,
  parseObject,
} from './json-values.ts';

/** The whole file is held in memory. */
const LARGEST_FILE = 256 * 1024 * 1024;
const ROWS_A_BATCH = 1024;

/** The columns of points; they come first, so that the columns of an earlier run stay last. */
const POINT_COLUMNS = ['geometry.latitude', 'geometry.longitude'];

/** The id of a feature; its properties often have an `id` as well. */
const ID_COLUMN: JsonColumn = { name: 'feature.id', path: ['id'] };

/** A format of features: how they are found in its bytes. */
interface FeatureNotation {
  readonly format: 'geojson' | 'topojson';
  readonly title: string;
  /** @throws NotJson */
  readonly find: (bytes: Buffer) => FoundFeatures;
}

interface FoundFeatures {
  readonly features: readonly ValueRange[];
  /** The geometry of a feature, as GeoJSON has it. */
  readonly geometryOf: (feature: JsonObject) => unknown;
}

const GEOJSON: FeatureNotation = {
  format: 'geojson',
  title: 'GeoJSON',
  find: (bytes) => ({ features: parseFeatures(bytes), geometryOf: ({ geometry }) => geometry }),
};

/** Opens GeoJSON. Its columns are the latitude and the longitude of the geometry, the id of the feature, then the properties. */
export async function geojsonRowFile(input: InputFile, options: OpenOptions): Promise<RowFile> {
  return await featuresFile(input, GEOJSON, options);
}

/** Opens TopoJSON, with the same columns. */
export async function topojsonRowFile(input: InputFile, options: OpenOptions): Promise<RowFile> {
  // Loaded here: most commands need no library that joins arcs.
  const { topologyFeatures: find } = await import('./topology.ts');
  return await featuresFile(input, { format: 'topojson', title: 'TopoJSON', find }, options);
}

async function featuresFile(
  input: InputFile,
  { format, title, find }: FeatureNotation,
  options: OpenOptions,
): Promise<RowFile> {
  const bytes = await wholeFile(input, title);
  const letters = lettersOf({ ...input, head: bytes }, title, options.encoding);
  const featureIn = (feature: ValueRange) => featureAt(bytes, feature, letters.encoding);
  const { found, columns, hasPoints, outlines, hasIds, shapes } = orNotJson(
    () => survey(find(bytes), featureIn),
    (error) =>
      input.refused(
        `is ${title} that is damaged or cut off`,
        'Write or fetch the file again.',
        error,
      ),
  );
  const { features, geometryOf } = found;
  // Without points, the location is two columns of degrees among the properties.
  const before = [
    ...(hasPoints || features.length === 0 ? POINT_COLUMNS : []),
    ...(hasIds ? [ID_COLUMN.name] : []),
  ];
  const firstProperty = before.length;
  const points = [...before.keys()].filter((i) => POINT_COLUMNS.includes(before[i]!));
  const ids = [...before.keys()].filter((i) => !points.includes(i));
  const properties = [...columns.keys()]
    .filter((i) => columns[i]!.path.length === 1)
    .map((i) => i + firstProperty);
  // In a table, the degrees of an earlier file stand before those of the geometries that were made of them.
  const hasOwnDegrees = haveLocation(columns.map(({ name }) => name));
  const axisOf = (index: number) => POINT_COLUMNS.indexOf(before[index] ?? '');
  const makeRow = (
    feature: ValueRange,
    number: number,
    wanted: readonly number[],
    needed: number,
  ): Row => {
    const whole = featureIn(feature);
    const { point, problem, remark } = parsePoint(geometryOf(whole));
    const values = wanted.map((index) => {
      if (index >= before.length)
        return memberAt(whole.properties, columns[index - before.length]!);
      const axis = axisOf(index);
      return axis < 0 ? memberAt(whole, ID_COLUMN) : point[axis];
    });
    const fields = values.map(jsonText);
    const row = { number, line: number, fields, types: values.map(jsonType) };
    const noLocation =
      problem === null
        ? noLocationOf(fields, needed, () =>
            isObject(whole.properties) ? ownTexts(whole.properties) : [],
          )
        : null;
    if (noLocation !== null) return { ...row, noLocation };
    if (!wanted.some((index) => axisOf(index) >= 0)) return row;
    return {
      ...row,
      ...(problem !== null && { problem }),
      ...(remark !== undefined && { remark }),
    };
  };
  return {
    format,
    hasTypes: true,
    unit: 'feature',
    note:
      [hasPoints && outlines > 0 && outlinesNote(outlines), hasPoints && otherSystemNote(bytes)]
        .filter(Boolean)
        .join(' ') || null,
    conversionNote: encodingNote(bytes, letters),
    hasRemarks: hasPoints && outlines > 0,
    shapes: shapes.length === 0 ? undefined : { column: null, kinds: shapes },
    columns: [...before, ...columns.map(({ name }) => name)],
    wholeColumns: hasOwnDegrees
      ? [...ids, ...properties, ...points]
      : [...points, ...ids, ...properties],
    async *read(wanted, needed = wanted.length) {
      for (let from = 0; from < features.length; from += ROWS_A_BATCH) {
        const batch = features.slice(from, from + ROWS_A_BATCH);
        yield batch.map((feature, i) => makeRow(feature, from + i + 1, wanted, needed));
      }
    },
    write: (request) => {
      const dropped = columns.slice(
        Math.max(0, (request.dropFrom ?? Number.POSITIVE_INFINITY) - firstProperty),
      );
      return writeFeatures(
        input,
        bytes,
        features,
        new Set(dropped.map(({ name }) => name)),
        letters,
        request,
      );
    },
  };
}

async function wholeFile(input: InputFile, title: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  await using pass = await input.startPass();
  for await (const chunk of chunksFrom(pass, 0)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LARGEST_FILE) {
      const hint =
        'Write it as GeoParquet, or as CSV with a column for latitude and one for longitude.';
      throw unreadable(
        input.name,
        `is ${title} of more than ${LARGEST_FILE / 1024 / 1024} MiB`,
        hint,
      );
    }
  }
  await pass.assertSame();
  return Buffer.concat(chunks);
}

function parseFeatures(bytes: Buffer): ValueRange[] {
  const start = bytes.toString('latin1', 0, 3) === '\xef\xbb\xbf' ? 3 : 0;
  const features: ValueRange[] = [];
  for (let at = nextValue(bytes, start); at < bytes.length; ) {
    const { members, close } = objectMembers(bytes, at);
    const list = members.find(({ name }) => name === 'features');
    if (list && features.length === 0 && nextValue(bytes, close + 1) === bytes.length) {
      return listElements(bytes, list.valueFrom);
    }
    // A file may be a sequence of features; a collection among them would lose its other members.
    if (list) throw new NotJson();
    features.push({ from: at, to: close + 1 });
    at = nextValue(bytes, close + 1);
  }
  return features;
}

const SEPARATOR = 0x1e;

/** Where the next value begins, after spaces and the separators of RFC 8142. */
function nextValue(bytes: Buffer, from: number): number {
  let at = skipSpace(bytes, from);
  while (bytes[at] === SEPARATOR) at = skipSpace(bytes, at + 1);
  return at;
}

function featureAt(bytes: Buffer, { from, to }: ValueRange, encoding: TextEncoding): JsonObject {
  const feature = parseObject(decodeText(bytes, from, to, encoding));
  if (feature === null) throw new NotJson();
  return feature;
}

/** Finds and parses each feature, before anything is bought for it. @throws NotJson */
function survey(found: FoundFeatures, featureIn: (feature: ValueRange) => JsonObject) {
  const { features, geometryOf } = found;
  let hasPoints = false;
  let outlines = 0;
  let hasIds = false;
  const shapes = new Set<string>();
  function* properties() {
    for (const feature of features) {
      const whole = featureIn(feature);
      const geometry = geometryOf(whole);
      const { point, remark } = parsePoint(geometry);
      if (remark !== undefined) outlines++;
      else hasPoints ||= point[0] != null;
      if (isObject(geometry) && geometry.type !== 'Point') shapes.add(String(geometry.type));
      hasIds ||= memberAt(whole, ID_COLUMN) != null;
      if (isObject(whole.properties)) yield whole.properties;
    }
  }
  const columns = jsonColumns(properties());
  // Degrees among the properties are the makers' own choice of a point.
  hasPoints ||= outlines > 0 && !haveLocation(columns.map(({ name }) => name));
  return { found, columns, hasPoints, outlines, hasIds, shapes: [...shapes] };
}

/** GeoJSON of before 2016 may name a coordinate system, in its member `crs`. */
function otherSystemNote(bytes: Buffer): string | null {
  const start = bytes.toString('latin1', 0, 4_096);
  const end = bytes.toString('latin1', Math.max(4_096, bytes.length - 4_096));
  const [, name] =
    /"crs"\s*:\s*\{[^{}]*"properties"\s*:\s*\{[^{}]*"name"\s*:\s*"([^"]*)"/.exec(
      `${start}\n${end}`,
    ) ?? [];
  if (name === undefined || DEGREES.test(name)) return null;
  return `The file says that its coordinates are in ${name} (crs), not in degrees: convert it to EPSG:4326.`;
}

function outlinesNote(outlines: number): string {
  return `${counted(outlines, 'outline')} of up to about 1 km: each is looked up at a point inside it.`;
}

/** Latitude and longitude as in the file, or a point inside a small outline; a text is no coordinate. */
function parsePoint(geometry: unknown): {
  point: readonly unknown[];
  problem: string | null;
  remark?: string;
} {
  if (!isObject(geometry)) return { point: [], problem: null };
  const { type, coordinates } = geometry;
  if (type === 'Polygon' || type === 'MultiPolygon') {
    const inner = resultOrNull(() => innerPoint(plainNumbers(geometry)));
    if (inner !== null && typeof inner === 'object')
      return { point: [inner.lat, inner.lng], problem: null, remark: INSIDE_OUTLINE };
    return {
      point: [],
      problem:
        inner === null ? `The geometry is a ${type} without an inside.` : OUTLINE_PROBLEMS[inner],
    };
  }
  const position = positionOf(type, coordinates);
  if (type !== 'Point' && position === coordinates)
    return { point: [], problem: `The geometry is a ${String(type)}, not a Point.` };
  const [lng, lat]: unknown[] = Array.isArray(position) ? position : [];
  return { point: [lat, lng].map(quotedText), problem: null };
}

/** A geometry whose long numbers are not kept as texts. */
function plainNumbers(geometry: JsonObject): Polygon | MultiPolygon {
  return JSON.parse(JSON.stringify(geometry));
}

/** A number that is written as a text is one; another text is in JSON quotes, so that it is not read as a number. */
const quotedText = (value: unknown): unknown =>
  typeof value === 'string' && !/^\s*[+-]?\.?\d[\d.]*\s*$/.test(value)
    ? JSON.stringify(value)
    : value;

async function writeFeatures(
  input: InputFile,
  bytes: Buffer,
  features: readonly ValueRange[],
  dropped: ReadonlySet<string>,
  letters: EncodingOfText,
  request: WriteRequest,
): Promise<WriteResult> {
  return await writeTextRows(request, input, async (gathered) => {
    const nextFields = rowFields(request);
    let copied = 0;
    for (let from = 0; from < features.length; from += ROWS_A_BATCH) {
      request.signal?.throwIfAborted();
      const added = await nextFields(Math.min(ROWS_A_BATCH, features.length - from));
      for (const [i, fields] of added.entries()) {
        const feature = features[from + i]!;
        gathered.addBytes(bytes, copied, feature.from);
        const members = membersIn(
          bytes.subarray(feature.from, feature.to),
          letters,
          request.added,
          fields,
        );
        addFeature(gathered, bytes, feature, dropped, members);
        copied = feature.to;
      }
      await gathered.flushIfFull();
    }
    gathered.addBytes(bytes, copied, bytes.length);
    return features.length;
  });
}

/** The feature with more properties; adds the member if it is missing. */
function addFeature(
  gathered: ByteBuffer,
  bytes: Buffer,
  { from, to }: ValueRange,
  dropped: ReadonlySet<string>,
  added: readonly string[],
): void {
  const { members } = objectMembers(bytes, from);
  const properties = members.findLast(({ name }) => name === 'properties');
  const made = `{${added.join(',')}}`;
  if (properties) {
    const { valueFrom, valueTo } = properties;
    const changed =
      bytes[valueFrom] === 0x7b ? withMembers(bytes, valueFrom, dropped, added).pieces : [made];
    addPieces(gathered, bytes, [{ from, to: valueFrom }, ...changed, { from: valueTo, to }]);
  } else
    addPieces(
      gathered,
      bytes,
      withMembers(bytes, from, new Set(), [`"properties":${made}`]).pieces,
    );
}
