import { PerilbookError } from '../../base/errors.ts';
import type { DownloadContext } from './download-file.ts';
import type { ArcgisLayer } from './layer-description.ts';
import { digestedFields, fetchPage } from './layer-pages.ts';
import { fetchExtent, fetchRowIds } from './layer-queries.ts';
import { attributesOf, type LayerRequest } from './layer-request.ts';
import { joinedDigests, NO_ROWS, rowDigest } from './row-digest.ts';

/** The digest of what a layer has now, to tell whether it changed where it has no edit date: of ids, of fields where some are asked for, and
 * of the extent where the server gives it. The rows come by pages without geometries.
 * @param ids the rows of a request by tiles
 * @returns null where the server does not give it */
export async function fetchDigest(
  request: LayerRequest,
  layer: ArcgisLayer,
  count: number,
  context: DownloadContext,
  ids: readonly number[] | null,
): Promise<string | null> {
  try {
    const rows =
      digestedFields(request, layer) === null
        ? digestOfIds(ids ?? (await fetchRowIds(request, context)))
        : await digestOfPages(request, layer, count, context, ids);
    return rows + (await fetchExtent(request, layer, context));
  } catch (error) {
    if (!(error instanceof PerilbookError) || context.signal.aborted) throw error;
    return null;
  }
}

const digestOfIds = (ids: readonly number[]): string =>
  ids.reduce((digest, id) => joinedDigests(digest, rowDigest(null, id, {})), NO_ROWS);

async function digestOfPages(
  request: LayerRequest,
  layer: ArcgisLayer,
  count: number,
  context: DownloadContext,
  ids: readonly number[] | null,
): Promise<string> {
  const fields = digestedFields(request, layer);
  const position = { rows: 0, lastId: 0 };
  let digest = NO_ROWS;
  while (position.rows < count) {
    const page = await fetchPage(request, layer, position, layer.mostRows, context, ids, false);
    if (page.features.length === 0) break;
    for (const feature of page.features) {
      const id = page.idOf(feature);
      digest = joinedDigests(digest, rowDigest(fields, id, attributesOf(feature)));
      position.lastId = id;
    }
    position.rows += page.features.length;
  }
  return digest;
}
