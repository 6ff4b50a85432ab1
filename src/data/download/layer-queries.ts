import { PerilbookError } from '../../base/errors.ts';
import type { Box } from '../../geo/bounding-boxes.ts';
import { ADDRESS_MOVED, downloadFailed } from './download-errors.ts';
import type { DownloadContext } from './download-file.ts';
import type { ArcgisLayer } from './layer-description.ts';
import { attributesOf, formatQuery, type LayerRequest, type PageAnswer } from './layer-request.ts';
import { getArcgisJson } from './web-client.ts';

/** How many rows a request has. @throws PerilbookError DOWNLOAD_FAILED, for none too where the layer must have some */
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

/** The greatest value of a field; null where the server cannot sort by it. Asked once: such servers answer with an error 500, too. */
export async function fetchNewest(
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
