import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Box } from '../../geo/bounding-boxes.ts';
import { hashFile } from '../loaders/agency-file.ts';
import type { Source } from '../sources/source.ts';
import { missingFile } from './download-errors.ts';
import { type DownloadContext, downloadFile, type FileRequest, isWhole } from './download-file.ts';
import { downloadLayer } from './download-layer.ts';
import { downloadSpans } from './download-spans.ts';
import {
  type FetchedFile,
  type FileEntry,
  findFetchedFile,
  isFrom,
  type Manifest,
  readManifest,
  writeManifest,
} from './downloads-folder.ts';
import { requestAddress } from './layer-request.ts';
import { boundsOf, boxOfBounds, joinedTiles } from './place-tiles.ts';
import {
  fileRequests,
  keyOf,
  layerRequests,
  mostBytesOf,
  type Slice,
  sliceOfKey,
  staleAfterMs,
} from './source-requests.ts';

/** Downloads the changed files of one slice of a source and records them in the manifest. Files that are no longer published are
 * removed when the new ones are complete.
 * @param asked the tiles that are wanted of it; left out for all of it
 * @returns the number of files that are new
 * @throws PerilbookError DOWNLOAD_FAILED; the files that were there are unchanged */
export async function fetchSlice(
  source: Source,
  slice: Slice,
  folder: string,
  context: DownloadContext,
  headers: Readonly<Record<string, string>> = {},
  asked?: readonly Box[],
): Promise<number> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const before = readManifest(folder);
  // A refused file may be truncated, and the server would still answer that nothing changed.
  const usable = new Map([...before].filter(([, { refused }]) => refused !== true));
  const here = before.get(keyOf(slice, 0));
  // Of a slice that is here as a whole no tiles are asked.
  const isWholeHere = here !== undefined && here.tiles === undefined;
  const tiles =
    isWholeHere || !asked ? undefined : joinedTiles(asked, (here?.tiles ?? []).map(boxOfBounds));
  const fetched = await fetchFiles(source, slice, folder, usable, context, headers, tiles);
  const entries = new Map<string, FileEntry>();
  for (const [key, { entry, isNew }] of fetched) {
    const digest = isNew ? { sha256: await hashFile(join(folder, entry.file)) } : {};
    // With other states in sources.yaml the same file must be loaded again.
    const isSettled = isDeepStrictEqual(before.get(key)?.covers, source.covers);
    const loadedAt = isSettled ? entry.loadedAt : undefined;
    const of = { covers: source.covers, from: source.from, tiles: tiles?.map(boundsOf) };
    entries.set(key, { ...entry, ...digest, ...of, loadedAt });
  }
  // Read again: another slice of the source may have been recorded meanwhile. The whole US replaces the states.
  const others = [...readManifest(folder)].filter(
    ([key]) => slice !== 'US' && sliceOfKey(key) !== slice,
  );
  const after = new Map([...others, ...entries]);
  writeManifest(folder, after);
  removeOthers(folder, after, before, context.clock.now());
  return [...fetched.values()].filter(({ isNew }) => isNew).length;
}

async function fetchFiles(
  source: Source,
  slice: Slice,
  folder: string,
  before: Manifest,
  context: DownloadContext,
  headers: Readonly<Record<string, string>>,
  tiles: readonly Box[] | undefined,
): Promise<Map<string, FetchedFile>> {
  const { download, firstLine } = source;
  const limits = { mostBytes: mostBytesOf(source), firstLine };
  if (download.kind === 'spans')
    return await downloadSpans(download, source.name, folder, before, limits, context);
  const fetched = new Map<string, FetchedFile>();
  const now = context.clock.now();
  if (download.kind === 'layer') {
    for (const [index, request] of layerRequests(
      source,
      download,
      slice,
      folder,
      now,
      tiles,
    ).entries()) {
      const entry = before.get(keyOf(slice, index));
      const outcome = await downloadLayer(request, entry, context);
      fetched.set(
        keyOf(slice, index),
        findFetchedFile(requestAddress(request), request.target, entry, outcome, now),
      );
    }
    return fetched;
  }
  for (const [index, requests] of (
    await fileRequests(download, slice, folder, context)
  ).entries()) {
    const files = requests.map((request) => ({ ...request, headers, ...limits }));
    fetched.set(
      keyOf(slice, index),
      await fetchNewest(source, files, before.get(keyOf(slice, index)), context),
    );
  }
  return fetched;
}

async function fetchNewest(
  source: Source,
  requests: readonly FileRequest[],
  earlier: FileEntry | undefined,
  context: DownloadContext,
): Promise<FetchedFile> {
  const { download } = source;
  for (const request of requests) {
    const { url, target } = request;
    const now = context.clock.now();
    const entry =
      earlier !== undefined && isFrom(earlier, url, dirname(target)) && isWhole(earlier, target)
        ? earlier
        : undefined;
    const isSilent =
      entry !== undefined && entry.etag === undefined && entry.lastModified === undefined;
    // A server without validators would send the whole file again.
    const isFresh = isSilent && now - entry.fetchedAt < staleAfterMs(source);
    const outcome = isFresh ? 'unchanged' : await downloadFile(request, entry, context);
    if (outcome === 'missing') continue;
    const isWholeYear =
      download.kind !== 'file' || (await download.isWholeYear?.(target)) !== false;
    if (isWholeYear) return findFetchedFile(url, target, entry, outcome, now);
    rmSync(target, { force: true });
  }
  throw missingFile(requests);
}

const PART_LASTS_MS = 7 * 86_400_000;

function removeOthers(folder: string, after: Manifest, before: Manifest, now: number): void {
  const named = new Set([...after.values()].map(({ file }) => file));
  for (const { file } of before.values())
    if (!named.has(file)) rmSync(join(folder, file), { force: true });
  for (const file of readdirSync(folder).filter((name) => /\.part(\.json(\.new)?)?$/.test(name))) {
    const path = join(folder, file);
    if (now - statSync(path).mtimeMs > PART_LASTS_MS) rmSync(path, { force: true });
  }
}
