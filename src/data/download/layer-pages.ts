import { stringify } from 'csv-stringify/sync';
import { boxOfGeometry } from '../../geo/bounding-boxes.ts';
import { ADDRESS_MOVED, downloadFailed } from './download-errors.ts';
import type { DownloadContext } from './download-file.ts';
import type { ArcgisLayer } from './layer-description.ts';
import {
  attributesOf,
  formatQuery,
  type LayerFeature,
  type LayerRequest,
  type PageAnswer,
  simplification,
} from './layer-request.ts';
import { rowDigest } from './row-digest.ts';
import { getArcgisJson } from './web-client.ts';

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

/** The place in a layer that was reached: by the number of rows, or by the last id where the server knows no offset. */
export interface PagePosition {
  readonly rows: number;
  readonly lastId: number;
}

/** Requests a page of rows in the order of their ids.
 * @param ids all ids of a request by tiles: the page has the next of them
 * @param isDrawn false for rows without geometries
 * @throws PerilbookError DOWNLOAD_FAILED */
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

/** Requests a page and makes the lines of a file of it: CSV, or a GeoJSON feature a line. @throws PerilbookError DOWNLOAD_FAILED */
export async function fetchLinePage(
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

/** The fields that tell whether a row changed; null for its id alone. */
export function digestedFields(
  { fields }: LayerRequest,
  layer: ArcgisLayer,
): readonly string[] | null {
  return fields === undefined ? null : layer.fields;
}

/** Layers are stored in metres (EPSG:3857); some servers ignore outSR. */
function refuseMetres(layer: string, crs: PageAnswer['crs']): void {
  const name = crs?.properties?.name;
  if (typeof name !== 'string' || /CRS84|:(4326|4269)$/.test(name)) return;
  throw downloadFailed(`${layer} gives its coordinates in ${name}, not in degrees`, ADDRESS_MOVED);
}
