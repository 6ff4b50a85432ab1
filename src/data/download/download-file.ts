import { closeSync, openSync, statSync, utimesSync, writeSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { readHead } from '../../base/pipes.ts';
import { unpackedBody } from '../../net/unpack.ts';
import {
  ADDRESS_MOVED,
  checkZip,
  downloadFailed,
  HEAD_BYTES,
  isMissing,
  refusedAnswer,
  refuseFullDisk,
  TRY_LATER,
  unexpectedAnswer,
  unexpectedStart,
} from './download-errors.ts';
import {
  dropPart,
  type FileEntry,
  isFrom,
  keptPart,
  type PartState,
  partOf,
  putInPlace,
  syncFile,
  writeWhole,
} from './downloads-folder.ts';
import { keptAddress } from './kept-address.ts';
import { type RequestContext, type WebAnswer, withAttempts } from './web-client.ts';

export interface DownloadContext extends RequestContext {
  /** Receives the bytes of a file so far, and its size when known. */
  readonly onBytes: (file: string, bytes: number, total: number | null) => void;
  readonly freeBytes: (folder: string) => number;
}

export interface FileRequest {
  readonly url: string;
  /** The path of the file to create or replace. */
  readonly target: string;
  readonly mostBytes: number;
  readonly firstLine?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the manifest says of a file that was downloaded. */
export type DownloadedFile = Pick<
  FileEntry,
  'bytes' | 'count' | 'edited' | 'digest' | 'etag' | 'lastModified'
>;

type FileOutcome = DownloadedFile | 'unchanged' | 'missing';

/** The largest allowed ratio of a zip's unpacked size to its size; CSV packs to about a tenth. */
const MOST_UNPACKED = 60;

/** Downloads a file if it changed. An interrupted download resumes where it stopped if the file is still the same (If-Range).
 * The old file stays until the new one is complete and checked.
 * @throws PerilbookError DOWNLOAD_FAILED */
export async function downloadFile(
  request: FileRequest,
  entry: FileEntry | undefined,
  context: DownloadContext,
): Promise<FileOutcome> {
  let most = 0;
  const seen = (bytes: number) => {
    most = Math.max(most, bytes);
  };
  const work = () => attempt(request, entry, context, seen);
  return await withAttempts(context, work, () => most);
}

async function attempt(
  request: FileRequest,
  entry: FileEntry | undefined,
  context: DownloadContext,
  seen: (bytes: number) => void,
): Promise<FileOutcome> {
  const { url, target } = request;
  const part = partOf(target);
  const kept = keptPart(part, url);
  if (kept !== null && kept.bytes === kept.total) return await finish(request, kept);
  const validator = kept?.etag ?? kept?.lastModified;
  const headers = {
    'accept-encoding': 'identity',
    ...request.headers,
    ...(kept === null
      ? conditions(entry, request)
      : { range: `bytes=${kept.bytes}-`, 'if-range': validator! }),
  };
  return await context.client.get(
    url,
    headers,
    context.signal,
    async (answer): Promise<FileOutcome> => {
      if (answer.status === 304 && entry !== undefined) return 'unchanged';
      if (isMissing(answer.status)) return 'missing';
      const from = answer.status === 206 && kept !== null ? findStart(answer, kept) : 0;
      if (answer.status === 416 || from === null) {
        dropPart(part);
        throw downloadFailed(`${url} changed while it was downloaded`, TRY_LATER, { again: true });
      }
      if (answer.status !== 200 && from === 0)
        throw refusedAnswer(url, answer, context.clock.now());
      const state = makePartState(request, answer, from);
      const { total } = state;
      if (Math.max(total ?? 0, from) > request.mostBytes) throw tooLarge(request, total ?? from);
      refuseFullDisk(target, (total ?? 0) - from, context.freeBytes);
      if (from === 0) {
        dropPart(part);
        writeWhole(`${part}.json`, JSON.stringify(state));
      }
      const bytes = await receive(answer, request, from, (here) => {
        seen(here);
        context.onBytes(basename(target), here, total ?? null);
      });
      if (total !== undefined && bytes !== total) {
        throw downloadFailed(`${url} broke off after ${bytes} of ${total} bytes`, TRY_LATER, {
          again: true,
        });
      }
      return await finish(request, { ...state, bytes });
    },
  );
}

/** Requests the first bytes of a file to check that it exists and has the expected format.
 * @returns the file as the server describes it; null if it has no such file */
export async function probeFile(
  { url, target, firstLine, headers }: FileRequest,
  context: DownloadContext,
): Promise<Pick<PartState, 'etag' | 'lastModified'> | null> {
  const asked = { 'accept-encoding': 'identity', ...headers, range: `bytes=0-${HEAD_BYTES - 1}` };
  return await withAttempts(context, () =>
    context.client.get(url, asked, context.signal, async (answer) => {
      if (isMissing(answer.status)) return null;
      if (answer.status !== 200 && answer.status !== 206)
        throw refusedAnswer(url, answer, context.clock.now());
      let head = Buffer.alloc(0);
      for await (const block of unpackedBody(answer.body, answer.headers['content-encoding'])) {
        head = Buffer.concat([head, block as Buffer]);
        if (head.length >= HEAD_BYTES) break;
      }
      const problem = unexpectedStart(target, head.subarray(0, HEAD_BYTES), firstLine);
      if (problem !== null) throw unexpectedAnswer(url, problem);
      const { etag, 'last-modified': lastModified } = answer.headers;
      return { etag, lastModified };
    }),
  );
}

function conditions(
  entry: FileEntry | undefined,
  { url, target }: FileRequest,
): Record<string, string> {
  if (entry === undefined || !isFrom(entry, url, dirname(target)) || !isWhole(entry, target))
    return {};
  return {
    ...(entry.etag === undefined ? {} : { 'if-none-match': entry.etag }),
    ...(entry.lastModified === undefined ? {} : { 'if-modified-since': entry.lastModified }),
  };
}

/** Whether the local file is the one that the entry describes. */
export function isWhole(entry: FileEntry, target: string): boolean {
  return (
    basename(target) === entry.file &&
    statSync(target, { throwIfNoEntry: false })?.size === entry.bytes
  );
}

/** The offset of a partial answer; null when it is not the requested rest of the same file. */
function findStart(
  { headers }: WebAnswer,
  kept: PartState & { readonly bytes: number },
): number | null {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
  const isSame =
    Number(start) === kept.bytes &&
    (total === '*' || kept.total === undefined || Number(total) === kept.total) &&
    (kept.etag === undefined || headers.etag === undefined || headers.etag === kept.etag);
  return isSame ? kept.bytes : null;
}

function makePartState(
  { url, target }: FileRequest,
  { headers, status }: WebAnswer,
  from: number,
): PartState {
  const isPacked = /gzip/i.test(headers['content-encoding'] ?? '');
  const length = /^\d+$/.test(headers['content-length'] ?? '')
    ? Number(headers['content-length'])
    : null;
  if (length === null && headers['transfer-encoding'] === undefined) {
    throw downloadFailed(
      `${url} states no length, so a truncated file would not be noticed`,
      ADDRESS_MOVED,
    );
  }
  const total = length === null || isPacked ? undefined : status === 206 ? from + length : length;
  return {
    url: keptAddress(url, dirname(target)),
    etag: headers.etag,
    lastModified: headers['last-modified'],
    total,
  };
}

async function receive(
  answer: WebAnswer,
  request: FileRequest,
  from: number,
  onBytes: (bytes: number) => void,
): Promise<number> {
  const { target, mostBytes } = request;
  const part = partOf(target);
  const descriptor = openSync(part, from === 0 ? 'w' : 'r+');
  let bytes = from;
  try {
    for await (const block of unpackedBody(answer.body, answer.headers['content-encoding'])) {
      const chunk = block as Buffer;
      if (bytes + chunk.length > mostBytes) {
        dropPart(part);
        throw tooLarge(request, bytes + chunk.length);
      }
      for (let at = 0; at < chunk.length; )
        at += writeSync(descriptor, chunk, at, chunk.length - at, bytes + at);
      bytes += chunk.length;
      if (bytes >= HEAD_BYTES && bytes - chunk.length < HEAD_BYTES) refuseStart(request);
      onBytes(bytes);
    }
  } finally {
    closeSync(descriptor);
  }
  return bytes;
}

function refuseStart({ url, target, firstLine }: FileRequest): void {
  const part = partOf(target);
  const problem = unexpectedStart(target, readHead(part, HEAD_BYTES), firstLine);
  if (problem === null) return;
  dropPart(part);
  throw unexpectedAnswer(url, problem);
}

async function finish(
  request: FileRequest,
  state: PartState & { readonly bytes: number },
): Promise<FileOutcome> {
  const { url, target } = request;
  const { bytes, etag, lastModified } = state;
  const part = partOf(target);
  refuseStart(request);
  if (/\.(zip|xlsx)$/i.test(target)) {
    try {
      await checkZip(part, url, MOST_UNPACKED * Math.max(bytes, 100_000));
    } catch (error) {
      dropPart(part);
      throw error;
    }
  }
  syncFile(part);
  // The age of a file whose rows have none is that at its publisher, not the day of the download.
  const modified = new Date(lastModified ?? '');
  if (!Number.isNaN(modified.getTime())) utimesSync(part, modified, modified);
  putInPlace(part, target);
  dropPart(part);
  return { bytes, etag, lastModified };
}

function tooLarge({ url, mostBytes }: FileRequest, bytes: number) {
  const megabytes = (value: number) => Math.ceil(value / 1e6);
  const message = `${url} has ${megabytes(bytes)} MB or more; at most ${megabytes(mostBytes)} MB are expected`;
  return downloadFailed(message, ADDRESS_MOVED);
}
