import { closeSync, fsyncSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { z } from 'zod';
import {
  ADDRESS_MOVED,
  downloadFailed,
  mayTryAgain,
  refuseFullDisk,
  TRY_LATER,
} from './download-errors.ts';
import { type DownloadContext, type DownloadedFile, isWhole } from './download-file.ts';
import {
  dropPart,
  type FileEntry,
  isFrom,
  partOf,
  putInPlace,
  readPartState,
  writeWhole,
} from './downloads-folder.ts';
import { keptAddress } from './kept-address.ts';
import { type ArcgisLayer, fetchLayer } from './layer-description.ts';
import { fetchDigest } from './layer-digest.ts';
import { fetchLinePage } from './layer-pages.ts';
import { fetchCount, fetchExtent, fetchIds } from './layer-queries.ts';
import { type LayerRequest, requestAddress } from './layer-request.ts';
import { joinedDigests, NO_ROWS } from './row-digest.ts';

const pagesState = z.object({
  query: z.string(),
  edited: z.number().nullable(),
  count: z.number(),
  rows: z.number(),
  lastId: z.number(),
  bytes: z.number(),
  digest: z.string(),
  startedAt: z.number(),
});
type PagesState = z.infer<typeof pagesState>;

const LEAST_PAGE_ROWS = 50;
/** Of outlines, a single one may be all that a server can draw at a time. */
const LEAST_PAGE_OUTLINES = 1;
/** A page that can be asked for in smaller ones is not tried for minutes before. */
const ATTEMPTS_OF_LARGE_PAGE = 2;
/** After so many pages without a failure the next may be larger again: a few outlines are heavy, not all. */
const PAGES_UNTIL_LARGER = 8;
/** How long reading may be resumed in a layer without an edit date. */
const PAGES_LAST_MS = 60 * 60_000;
/** How often a layer that changes is read again. Then a fitting count is enough, because fires change every few minutes. */
const MOST_READINGS = 3;

/** Reads a layer page by page, ordered by object id, into one file. The file replaces the old one when it has as many rows as the
 * server counted. An interrupted download resumes after its last complete page.
 * @throws PerilbookError DOWNLOAD_FAILED */
export async function downloadLayer(
  request: LayerRequest,
  entry: FileEntry | undefined,
  context: DownloadContext,
): Promise<DownloadedFile | 'unchanged'> {
  const part = partOf(request.target);
  for (let reading = 1; ; reading++) {
    const layer = await fetchLayer(request, context);
    const ids = await idsOf(request, context);
    const count = ids?.length ?? (await fetchCount(request, context));
    const isOwn =
      entry !== undefined &&
      isFrom(entry, requestAddress(request), dirname(request.target)) &&
      entry.count === count &&
      isWhole(entry, request.target);
    if (isOwn && layer.edited !== null && entry.edited === layer.edited) return 'unchanged';
    if (layer.edited === null && isOwn && isFresh(entry, request, context)) {
      const digest = await fetchDigest(request, layer, count, context, ids);
      // A server that does not give it cannot be asked.
      if (digest === null || digest === entry.digest) return 'unchanged';
    }
    const rows = await readPages(request, layer, count, context, ids);
    // Edited rows do not change the count.
    const isSame =
      reading === MOST_READINGS || (await fetchLayer(request, context)).edited === layer.edited;
    if (rows.count === count && isSame) {
      putInPlace(part, request.target);
      dropPart(part);
      const { digest, ...size } = rows;
      if (layer.edited !== null) return { ...size, edited: layer.edited };
      return { ...size, digest: digest + (await fetchExtent(request, layer, context)) };
    }
    dropPart(part);
    if (reading < MOST_READINGS) continue;
    const what =
      rows.count < 0
        ? 'gives the same row on several pages'
        : `announced ${count} rows and sent ${rows.count}`;
    throw downloadFailed(
      `${request.layer} ${what}`,
      `The layer may be changing at this moment. ${TRY_LATER}`,
    );
  }
}

/** Without an edit date a layer is read again after some time, whatever its digest says: outlines may have been drawn anew. */
const isFresh = (
  { fetchedAt }: FileEntry,
  { staleAfterMs }: LayerRequest,
  { clock }: DownloadContext,
): boolean => clock.now() - fetchedAt < staleAfterMs;

async function idsOf(
  request: LayerRequest,
  context: DownloadContext,
): Promise<readonly number[] | null> {
  const { tiles, target } = request;
  if (tiles === undefined) return null;
  const name = basename(target);
  return await fetchIds({ ...request, tiles }, context, (done) =>
    context.onBytes(`${name}, tile ${done}`, 0, null),
  );
}

/** Reads the missing pages; the number of rows may differ from the count. */
async function readPages(
  request: LayerRequest,
  layer: ArcgisLayer,
  count: number,
  context: DownloadContext,
  ids: readonly number[] | null,
): Promise<{ readonly count: number; readonly bytes: number; readonly digest: string }> {
  const { target, as, mostBytes } = request;
  const part = partOf(target);
  const file = openPart(
    part,
    {
      query: keptAddress(requestAddress(request), dirname(target)),
      edited: layer.edited,
      count,
    },
    context,
  );
  const write = (text: string) => {
    const bytes = Buffer.from(text);
    if (file.state.bytes + bytes.length > mostBytes) {
      throw downloadFailed(
        `${request.layer} gives more than ${Math.ceil(mostBytes / 1e6)} MB`,
        ADDRESS_MOVED,
      );
    }
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(file.descriptor, bytes, at, bytes.length - at, file.state.bytes + at);
    }
    file.state.bytes += bytes.length;
  };
  let isOrdered = true;
  try {
    if (file.state.bytes === 0) {
      write(as === 'csv' ? stringify([layer.fields]) : '{"type":"FeatureCollection","features":[');
    }
    let { pageRows } = layer;
    let sent = 0;
    const leastRows = request.simplifiedBy === undefined ? LEAST_PAGE_ROWS : LEAST_PAGE_OUTLINES;
    for (
      let hasMore = count > 0 || ids === null;
      hasMore && isOrdered && file.state.rows <= count;
    ) {
      const isSmall = pageRows <= leastRows;
      const asking = isSmall ? context : { ...context, mostAttempts: ATTEMPTS_OF_LARGE_PAGE };
      const page = await fetchLinePage(request, layer, file.state, pageRows, asking, ids).catch(
        (error: unknown) => {
          // Some servers fail on large pages.
          if (!mayTryAgain(error) || isSmall) throw error;
          pageRows = Math.max(leastRows, Math.ceil(pageRows / 4));
          sent = 0;
          return null;
        },
      );
      if (page === null) continue;
      sent += 1;
      if (sent % PAGES_UNTIL_LARGER === 0) pageRows = Math.min(layer.pageRows, 2 * pageRows);
      refuseFullDisk(target, page.bytes, context.freeBytes);
      for (const { id, line, digest } of page.rows) {
        // A repeated row: rows were added or removed meanwhile.
        if (id <= file.state.lastId) isOrdered = false;
        write(as === 'csv' ? line : `${file.state.rows === 0 ? '' : ','}\n${line}`);
        file.state.rows += 1;
        file.state.digest = joinedDigests(file.state.digest, digest);
        file.state.lastId = id;
      }
      fsyncSync(file.descriptor);
      writeWhole(`${part}.json`, JSON.stringify(file.state));
      context.onBytes(basename(target), file.state.bytes, null);
      // Servers set the flag at the top, in the properties, or not at all: the count decides.
      hasMore = page.rows.length > 0 && (page.hasMore || file.state.rows < count);
    }
    if (isOrdered && file.state.rows === count) {
      if (as === 'geojson') write('\n]}\n');
      fsyncSync(file.descriptor);
    }
  } finally {
    closeSync(file.descriptor);
  }
  const { rows, bytes, digest } = file.state;
  return { count: isOrdered ? rows : -1, bytes, digest };
}

/** Opens the partial file, cut after its last complete page, or an empty file. */
function openPart(
  part: string,
  { query, edited, count }: Pick<PagesState, 'query' | 'edited' | 'count'>,
  { clock }: DownloadContext,
): { readonly descriptor: number; readonly state: PagesState } {
  const read = readPartState(part, pagesState);
  const kept = read !== null && read.rows > 0 && statSync(part).size >= read.bytes ? read : null;
  const isSame =
    kept !== null && kept.query === query && kept.edited === edited && kept.count === count;
  if (isSame && (edited !== null || clock.now() - kept.startedAt < PAGES_LAST_MS)) {
    const descriptor = openSync(part, 'r+');
    ftruncateSync(descriptor, kept.bytes);
    return { descriptor, state: kept };
  }
  dropPart(part);
  const state = {
    query,
    edited,
    count,
    rows: 0,
    lastId: Number.NEGATIVE_INFINITY,
    bytes: 0,
    digest: NO_ROWS,
    startedAt: clock.now(),
  };
  return { descriptor: openSync(part, 'w'), state };
}
