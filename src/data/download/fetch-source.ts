import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { digestOf } from '../loaders/agency-file.ts';
import type { FileDownload, Source } from '../sources/source.ts';
import { ADDRESS_MOVED, downloadFailed } from './download-errors.ts';
import { type DownloadContext, downloadFile, type FileRequest, isWhole } from './download-file.ts';
import { downloadLayer } from './download-layer.ts';
import { downloadSpans } from './download-spans.ts';
import { identityOf } from './layer-queries.ts';
import { type FileEntry, type Manifest, readManifest, writeManifest } from './manifest.ts';
import { getText } from './request-json.ts';
import {
  datedRequests,
  fileNameOf,
  keyOf,
  layerRequests,
  mostBytesOf,
  newestLink,
  type Slice,
  sliceOfKey,
  staleAfterMs,
} from './source-requests.ts';

/**
 * Downloads the changed files of one slice of a source and records them in the manifest. Files that are no longer published are
 * removed when the new ones are complete.
 *
 * @returns the number of files that are new
 * @throws PerilbookError DOWNLOAD_FAILED; the files that were there are unchanged
 */
export async function fetchSlice(
  source: Source,
  slice: Slice,
  folder: string,
  context: DownloadContext,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const before = readManifest(folder);
  // A refused file may be truncated, and the server would still answer that nothing changed.
  const usable = new Map([...before].filter(([, { refused }]) => refused !== true));
  const fetched = await fetchFiles(source, slice, folder, usable, context, headers);
  const entries = new Map<string, FileEntry>();
  for (const [key, { entry, isNew }] of fetched) {
    entries.set(key, isNew ? { ...entry, sha256: await digestOf(join(folder, entry.file)) } : entry);
  }
  // Read again: another slice of the source may have been recorded meanwhile. The whole US replaces the states.
  const others = [...readManifest(folder)].filter(([key]) => slice !== 'US' && sliceOfKey(key) !== slice);
  const after = new Map([...others, ...entries]);
  writeManifest(folder, after);
  removeOthers(folder, after, before, context.clock.now());
  return [...fetched.values()].filter(({ isNew }) => isNew).length;
}

/** A local file, and whether it was downloaded now. */
interface FetchedFile {
  readonly entry: FileEntry;
  readonly isNew: boolean;
}

async function fetchFiles(
  source: Source,
  slice: Slice,
  folder: string,
  before: Manifest,
  context: DownloadContext,
  headers: Readonly<Record<string, string>>,
): Promise<Map<string, FetchedFile>> {
  const { download, firstLine } = source;
  const limits = { mostBytes: mostBytesOf(source), firstLine };
  const fetched = new Map<string, FetchedFile>();
  const now = context.clock.now();
  switch (download.kind) {
    case 'file':
      for (const [index] of download.files.entries()) {
        const key = keyOf(slice, index);
        const request = { source, folder, headers, entry: before.get(key), index, slice, limits };
        fetched.set(key, await fetchDated(download, request, context));
      }
      return fetched;
    case 'linked': {
      const html = await getText(download.page, context, 20_000_000);
      for (const [index, pattern] of download.links.entries()) {
        const key = keyOf(slice, index);
        const url = newestLink(html, download.page, pattern);
        const request = { url, target: join(folder, fileNameOf(url)), ...limits };
        const file = await fetchFile(request, before.get(key), staleAfterMs(source), context);
        if (file === null)
          throw downloadFailed(`${url} is missing, although ${download.page} links to it`, ADDRESS_MOVED);
        fetched.set(key, file);
      }
      return fetched;
    }
    case 'layer':
      for (const [index, request] of layerRequests(source, download, slice, folder, now).entries()) {
        const key = keyOf(slice, index);
        const entry = before.get(key);
        const outcome = await downloadLayer(request, entry, context);
        if (outcome.kind === 'unchanged') fetched.set(key, { entry: { ...entry!, checkedAt: now }, isNew: false });
        else {
          const { bytes, count, edited } = outcome;
          const file = basename(request.target);
          const stated = edited === undefined ? {} : { edited };
          const url = identityOf(request);
          const made = { file, url, bytes, count, fetchedAt: now, checkedAt: now, ...stated };
          fetched.set(key, { entry: made, isNew: true });
        }
      }
      return fetched;
    case 'spans':
      for (const outcome of await downloadSpans(download, source.name, folder, before, limits, context)) {
        const { key, file, url, bytes, count, isNew } = outcome;
        const old = before.get(key);
        const stays = !isNew && old !== undefined;
        const made = { file, url, bytes, count, fetchedAt: now, checkedAt: now };
        fetched.set(key, { entry: stays ? { ...old, checkedAt: now } : made, isNew: !stays });
      }
      return fetched;
  }
}

interface DatedRequest {
  readonly source: Source;
  readonly folder: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly entry: FileEntry | undefined;
  readonly index: number;
  readonly slice: Slice;
  readonly limits: Pick<FileRequest, 'mostBytes' | 'firstLine'>;
}

/** Fetches the newest published year or hour; of years, the newest complete one. */
async function fetchDated(
  download: FileDownload,
  { source, folder, headers, entry, index, slice, limits }: DatedRequest,
  context: DownloadContext,
): Promise<FetchedFile> {
  let url = '';
  for (const request of datedRequests(download, index, slice, folder, context.clock.now())) {
    url = request.url;
    const fetched = await fetchFile({ ...request, headers, ...limits }, entry, staleAfterMs(source), context);
    if (fetched === null) continue;
    if ((await download.isWholeYear?.(request.target)) !== false) return fetched;
    rmSync(request.target, { force: true });
  }
  throw downloadFailed(`${url} is missing, and so are newer files`, ADDRESS_MOVED);
}

/** Fetches one file; null when the server does not have it. */
async function fetchFile(
  request: FileRequest,
  earlier: FileEntry | undefined,
  staleMs: number,
  context: DownloadContext,
): Promise<FetchedFile | null> {
  const now = context.clock.now();
  const entry = earlier?.url === request.url && isWhole(earlier, request.target) ? earlier : undefined;
  const isSilent = entry !== undefined && entry.etag === undefined && entry.lastModified === undefined;
  // A server without validators would send the whole file again.
  if (isSilent && now - entry.fetchedAt < staleMs) return { entry: { ...entry, checkedAt: now }, isNew: false };
  const outcome = await downloadFile(request, entry, context);
  if (outcome.kind === 'missing') return null;
  if (outcome.kind === 'unchanged') return { entry: { ...entry!, checkedAt: now }, isNew: false };
  const { kind: _, ...download } = outcome;
  const made = { file: basename(request.target), url: request.url, fetchedAt: now, checkedAt: now, ...download };
  return { entry: made, isNew: true };
}

const PART_LASTS_MS = 7 * 86_400_000;

/** Removes files without an entry, and old partial downloads. */
function removeOthers(folder: string, after: Manifest, before: Manifest, now: number): void {
  const named = new Set([...after.values()].map(({ file }) => file));
  for (const { file } of before.values()) if (!named.has(file)) rmSync(join(folder, file), { force: true });
  for (const file of readdirSync(folder).filter((name) => /\.part(\.json(\.new)?)?$/.test(name))) {
    const path = join(folder, file);
    if (now - statSync(path).mtimeMs > PART_LASTS_MS) rmSync(path, { force: true });
  }
}
