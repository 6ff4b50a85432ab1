import { hash } from 'node:crypto';
import { stringify } from 'csv-stringify/sync';
import { z } from 'zod';
import { PerilbookError } from '../../base/errors.ts';
import { type Box, boxOfGeometry } from '../../geo/bounding-boxes.ts';
import type { LayerDownload } from '../sources/source.ts';
import { ADDRESS_MOVED, downloadFailed } from './download-errors.ts';
import type { DownloadContext } from './download-file.ts';
import { rowDigest } from './row-digest.ts';
import { getArcgisJson } from './web-client.ts';

export interface LayerRequest extends Pick<LayerDownload, 'fields' | 'simplifiedBy' | 'pageRows'> {
  readonly layer: string;
  readonly where: string;
  readonly box?: Box | undefined;
  /** Only the features that touch one of these boxes; each comes once. */
  readonly tiles?: readonly Box[] | undefined;
  readonly as: 'csv' | 'geojson';
  readonly target: string;
  readonly mostBytes: number;
  /** When a layer without an edit date is read again. */
  readonly staleAfterMs: number;
  /** A state of a layer of the whole US may have no rows; a layer without any is an error. */
  readonly mayBeEmpty?: boolean;
}

const layerInfo = z.object({
  maxRecordCount: z.number().positive().optional(),
  objectIdField: z.string().nullish(),
  fields: z.array(z.object({ name: z.string(), type: z.string().optional() })).nullish(),
  supportedQueryFormats: z.string().nullish(),
  advancedQueryCapabilities: z
    .object({
      supportsPagination: z.boolean().optional(),
      supportsReturningQueryExtent: z.boolean().optional(),
    })
    .nullish(),
  editingInfo: z
    .object({ lastEditDate: z.number().nullish(), dataLastEditDate: z.number().nullish() })
    .nullish(),
});

/** A layer of an ArcGIS server. */
export interface ArcgisLayer {
  /** The field with the number of a row. */
  readonly idField: string;
  readonly fields: readonly string[];
  readonly pageRows: number;
  /** Of rows without geometries. */
  readonly mostRows: number;
  /** Whether it gives the extent of a query. */
  readonly hasExtent: boolean;
  readonly hasOffset: boolean;
  /** When it was edited, in milliseconds since the epoch; null where it does not say. */
  readonly edited: number | null;
}

/** A layer with its count and its first rows. */
interface ProbedLayer extends ArcgisLayer {
  readonly count: number;
  readonly features: readonly LayerFeature[];
  /** The time of the newest row, as the layer has it. */
  readonly newest: unknown;
}

/** A page of a layer's rows. */
interface FeaturePage {
  readonly features: readonly LayerFeature[];
  readonly idOf: (feature: LayerFeature) => number;
  /** The fields that were asked for. */
  readonly names: string;
  readonly hasMore: boolean;
}

/** A page as lines of a file. */
interface LinePage {
  readonly rows: readonly { readonly id: number; readonly line: string; readonly digest: string }[];
  readonly bytes: number;
  readonly hasMore: boolean;
}

const PAGE_ROWS = 2_000;

const FIRST_ROWS = 100;

/** Requests a layer's description, count and first rows, to check that it exists and is as expected.
 * @param findTime names the field with the time of a row, by which the newest row is found; null for none */
export async function probeLayer(
  request: LayerRequest,
  findTime: (fields: readonly string[]) => string | null,
  context: DownloadContext,
): Promise<ProbedLayer> {
  const layer = await parseLayer(request, context);
  const count = await fetchCount(request, context);
  const first = { rows: 0, lastId: 0 };
  const { features } = await fetchPage(
    request,
    layer,
    first,
    Math.min(FIRST_ROWS, layer.pageRows),
    context,
  );
  const time = findTime(layer.fields);
  return {
    ...layer,
    count,
    features,
    newest: time === null ? null : await fetchNewest(request, time, context),
  };
}

/** The greatest value of a field; null where the server cannot sort by it. Asked once: such servers answer with an error 500, too. */
async function fetchNewest(
  request: LayerRequest,
  field: string,
  context: DownloadContext,
): Promise<unknown> {
  const url = formatQuery(request, {
    where: `(${request.where}) AND ${field} IS NOT NULL`,
    ...{
      outFields: field,
      orderByFields: `${field} DESC`,
      resultRecordCount: '1',
      returnGeometry: 'false',
      f: 'json',
    },
  });
  const page = await orNullOfServer(context, async (once) => await getArcgisJson(url, once));
  const [newest] = (page as unknown as PageAnswer | null)?.features ?? [];
  return newest === undefined ? null : attributesOf(newest)[field];
}

export const attributesOf = ({ attributes, properties }: LayerFeature) =>
  attributes ?? properties ?? {};

export async function parseLayer(
  { layer, as, fields, pageRows }: LayerRequest,
  context: DownloadContext,
): Promise<ArcgisLayer> {
  const read = layerInfo.safeParse(await getArcgisJson(`${layer}?f=json`, context));
  const info = read.success ? read.data : {};
  const all = info.fields ?? [];
  const idField = info.objectIdField ?? all.find(({ type }) => type === 'esriFieldTypeOID')?.name;
  if (idField === undefined || all.length === 0) {
    throw downloadFailed(
      `${layer} does not describe its fields: it is not a layer any more`,
      ADDRESS_MOVED,
    );
  }
  const wanted = all
    .map(({ name }) => name)
    .filter((name) => fields === undefined || new RegExp(fields).test(name));
  if (wanted.length === 0)
    throw downloadFailed(
      `${layer} has none of the fields that are needed: ${fieldNames(fields!)}`,
      ADDRESS_MOVED,
    );
  if (
    as === 'geojson' &&
    info.supportedQueryFormats &&
    !/geojson/i.test(info.supportedQueryFormats)
  ) {
    throw downloadFailed(`${layer} does not give GeoJSON any more`, ADDRESS_MOVED);
  }
  return {
    idField,
    fields: wanted,
    pageRows: Math.min(pageRows ?? PAGE_ROWS, info.maxRecordCount ?? PAGE_ROWS),
    /** Of rows without geometries. */
    mostRows: Math.min(PAGE_ROWS, info.maxRecordCount ?? PAGE_ROWS),
    hasExtent: info.advancedQueryCapabilities?.supportsReturningQueryExtent === true,
    hasOffset: info.advancedQueryCapabilities?.supportsPagination !== false,
    edited: info.editingInfo?.dataLastEditDate ?? info.editingInfo?.lastEditDate ?? null,
  };
}

/** `^(CountyFIPS|RadonZone)$` as names; a bar inside other brackets stays. */
const fieldNames = (pattern: string): string =>
  pattern.replace(/^\^\(?|\)?\$$/g, '').replace(/\|(?![^(]*\))/g, ', ');

export async function fetchCount(request: LayerRequest, context: DownloadContext): Promise<number> {
  const url = formatQuery(request, { where: request.where, returnCountOnly: 'true', f: 'json' });
  const { count } = await getArcgisJson(url, context);
  if (typeof count === 'number' && (count > 0 || request.mayBeEmpty === true)) return count;
  if (count === 0) throw downloadFailed(`${url} counts no rows`, ADDRESS_MOVED);
  throw downloadFailed(`${url} does not count its rows`, ADDRESS_MOVED);
}

/** The values of a field in the rows of a request; null where the server does not list them all. Asked once: others answer with an error. */
export async function fetchValues(
  request: LayerRequest,
  field: string,
  context: DownloadContext,
): Promise<ReadonlySet<string> | null> {
  const url = formatQuery(request, {
    where: request.where,
    outFields: field,
    returnDistinctValues: 'true',
    returnGeometry: 'false',
    f: 'json',
  });
  const page = await orNullOfServer(context, async (once) => await getArcgisJson(url, once));
  const { features, exceededTransferLimit } = (page ?? {}) as unknown as PageAnswer;
  if (!Array.isArray(features) || exceededTransferLimit === true) return null;
  return new Set(features.map((feature) => String(attributesOf(feature)[field] ?? '').trim()));
}

/** Asks a server once for what not all can do; null where it answers with an error. */
async function orNullOfServer<T>(
  context: DownloadContext,
  ask: (context: DownloadContext) => Promise<T>,
): Promise<T | null> {
  try {
    return await ask({ ...context, mostAttempts: 1 });
  } catch (error) {
    if (!(error instanceof PerilbookError) || context.signal.aborted) throw error;
    return null;
  }
}

/** The identity of a layer's file: address, filter, fields and simplification. */
export function hashRequest(request: LayerRequest): string {
  const { where, fields = '*', as, tiles } = request;
  const ofTiles = tiles === undefined ? {} : { tiles: hash('sha1', JSON.stringify(tiles)) };
  return formatQuery(request, {
    where,
    outFields: fields,
    f: as,
    ...simplification(request),
    ...ofTiles,
  });
}

/** The ids of the features that touch the tiles of a request, in order: a tile a request, and a feature on several tiles once.
 * @param onTile called after each tile */
export async function fetchIds(
  request: LayerRequest & { readonly tiles: readonly Box[] },
  context: DownloadContext,
  onTile: (done: number) => void,
): Promise<number[]> {
  const ids = new Set<number>();
  for (const [index, box] of request.tiles.entries()) {
    const url = formatQuery(
      { ...request, box },
      { where: request.where, returnIdsOnly: 'true', f: 'json' },
    );
    const { objectIds, exceededTransferLimit } = await getArcgisJson(url, context);
    // A server that has none answers null.
    const isList =
      objectIds === null || (Array.isArray(objectIds) && objectIds.every(Number.isFinite));
    if (!isList || exceededTransferLimit === true)
      throw downloadFailed(`${url} does not list its rows`, ADDRESS_MOVED);
    for (const id of (objectIds as number[] | null) ?? []) ids.add(id);
    onTile(index + 1);
  }
  return [...ids].sort((a, b) => a - b);
}

/** The fields that tell whether a row changed; null for its id alone. */
export function digestedFields(
  { fields }: LayerRequest,
  layer: ArcgisLayer,
): readonly string[] | null {
  return fields === undefined ? null : layer.fields;
}

/** The ids of all rows of a request. */
export async function fetchRowIds(
  request: LayerRequest,
  context: DownloadContext,
): Promise<readonly number[]> {
  const url = formatQuery(request, { where: request.where, returnIdsOnly: 'true', f: 'json' });
  const { objectIds, exceededTransferLimit } = await getArcgisJson(url, context);
  if (!Array.isArray(objectIds) || exceededTransferLimit === true)
    throw downloadFailed(`${url} does not list its rows`, ADDRESS_MOVED);
  return objectIds as number[];
}

/** The extent of a request as text; '' where the server does not give it, or for tiles. */
export async function fetchExtent(
  request: LayerRequest,
  { hasExtent }: ArcgisLayer,
  context: DownloadContext,
): Promise<string> {
  if (!hasExtent || request.tiles !== undefined) return '';
  const url = formatQuery(request, {
    where: request.where,
    returnExtentOnly: 'true',
    returnCountOnly: 'true',
    f: 'json',
  });
  const { extent } = await getArcgisJson(url, context);
  return extent === undefined ? '' : ` ${JSON.stringify(extent)}`;
}

const simplification = ({ simplifiedBy }: LayerRequest): Readonly<Record<string, string>> =>
  simplifiedBy === undefined ? {} : { maxAllowableOffset: String(simplifiedBy) };

function formatQuery(
  { layer, box }: LayerRequest,
  parameters: Readonly<Record<string, string>>,
): string {
  const bounds = box && {
    geometry: `${box.minLng},${box.minLat},${box.maxLng},${box.maxLat}`,
    geometryType: 'esriGeometryEnvelope',
    inSR: '4326',
    spatialRel: 'esriSpatialRelIntersects',
  };
  return `${layer}/query?${new URLSearchParams({ ...parameters, ...bounds })}`;
}

/** The place in a layer that was reached: by the number of rows, or by the last id where the server knows no offset. */
export interface PagePosition {
  readonly rows: number;
  readonly lastId: number;
}

export async function fetchPage(
  request: LayerRequest,
  { idField, fields, hasOffset }: ArcgisLayer,
  { rows: before, lastId }: PagePosition,
  pageRows: number,
  context: DownloadContext,
  ids: readonly number[] | null = null,
  isDrawn = true,
): Promise<FeaturePage> {
  const { as, layer, where } = request;
  const isAfter = hasOffset || before === 0 ? where : `(${where}) AND ${idField}>${lastId}`;
  const names = request.fields === undefined ? '*' : [...new Set([idField, ...fields])].join(',');
  const listed = ids?.slice(before, before + Math.min(pageRows, IDS_AT_ONCE));
  const rowsOfPage: Record<string, string> =
    listed !== undefined
      ? { objectIds: listed.join() }
      : {
          where: isAfter,
          ...(hasOffset && { resultOffset: String(before), resultRecordCount: String(pageRows) }),
        };
  const url = formatQuery(request, {
    ...rowsOfPage,
    outFields: names,
    orderByFields: idField,
    ...(as === 'csv'
      ? { returnGeometry: 'false', f: 'json' }
      : { ...GEOJSON, ...(isDrawn ? simplification(request) : { returnGeometry: 'false' }) }),
  });
  const page = await getArcgisJson(url, context);
  const { features, exceededTransferLimit, properties, crs } = page as unknown as PageAnswer;
  if (!Array.isArray(features))
    throw downloadFailed(`${url} answered without features`, ADDRESS_MOVED);
  refuseMetres(layer, crs);
  const idOf = (feature: LayerFeature) => Number(attributesOf(feature)[idField] ?? feature.id);
  const isUnknown = features.some((feature) => !Number.isFinite(idOf(feature)));
  if (isUnknown) throw downloadFailed(`${url} gives a row without ${idField}`, ADDRESS_MOVED);
  const isCut = exceededTransferLimit === true || properties?.exceededTransferLimit === true;
  // Of listed ids, the count alone says whether there are more.
  const hasMore = isCut && ids === null;
  return { features, idOf, names, hasMore };
}

export async function parsePage(
  request: LayerRequest,
  layer: ArcgisLayer,
  position: PagePosition,
  pageRows: number,
  context: DownloadContext,
  ids: readonly number[] | null = null,
): Promise<LinePage> {
  const { features, idOf, names, hasMore } = await fetchPage(
    request,
    layer,
    position,
    pageRows,
    context,
    ids,
  );
  // Simplification collapses small outlines, and the server gives them without a geometry.
  const isLost = ({ geometry }: LayerFeature) =>
    request.simplifiedBy !== undefined && boxOfGeometry(geometry) === null;
  const whole = await fetchWhole(request, features.filter(isLost).map(idOf), names, context);
  const wholeById = new Map(whole.map((feature) => [idOf(feature), feature]));
  const rows = features.map((feature) => {
    const id = idOf(feature);
    const values = attributesOf(feature);
    const cells = () =>
      stringify([layer.fields.map((name) => values[name] ?? '')], { cast: { number: String } });
    return {
      id,
      line: request.as === 'csv' ? cells() : JSON.stringify(wholeById.get(id) ?? feature),
      digest: rowDigest(digestedFields(request, layer), id, values),
    };
  });
  return { rows, bytes: rows.reduce((sum, { line }) => sum + line.length, 0), hasMore };
}

const GEOJSON = { outSR: '4326', geometryPrecision: '6', f: 'geojson' };

/** Ids per request: the address stays below 2,000 characters. */
const IDS_AT_ONCE = 100;

async function fetchWhole(
  request: LayerRequest,
  ids: readonly number[],
  outFields: string,
  context: DownloadContext,
): Promise<LayerFeature[]> {
  const rows: LayerFeature[] = [];
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    const objectIds = ids.slice(from, from + IDS_AT_ONCE).join();
    const url = formatQuery({ ...request, box: undefined }, { objectIds, outFields, ...GEOJSON });
    const { features } = (await getArcgisJson(url, context)) as unknown as PageAnswer;
    if (!Array.isArray(features))
      throw downloadFailed(`${url} answered without features`, ADDRESS_MOVED);
    rows.push(...features);
  }
  return rows;
}

export interface LayerFeature {
  readonly id?: unknown;
  readonly geometry?: unknown;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly properties?: Readonly<Record<string, unknown>> | null;
}

interface PageAnswer {
  readonly features?: readonly LayerFeature[];
  readonly exceededTransferLimit?: unknown;
  readonly properties?: { readonly exceededTransferLimit?: unknown };
  readonly crs?: { readonly properties?: { readonly name?: unknown } };
}

/** Layers are stored in metres (EPSG:3857); some servers ignore outSR. */
function refuseMetres(layer: string, crs: PageAnswer['crs']): void {
  const name = crs?.properties?.name;
  if (typeof name !== 'string' || /CRS84|:(4326|4269)$/.test(name)) return;
  throw downloadFailed(`${layer} gives its coordinates in ${name}, not in degrees`, ADDRESS_MOVED);
}
