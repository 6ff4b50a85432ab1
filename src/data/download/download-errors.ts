import { basename, dirname } from 'node:path';
import { PerilbookError } from '../../base/errors.ts';
import { saidOf, withShownAddresses } from '../../base/shown-address.ts';
import { askedWaitMs } from '../../contract/headers.ts';
import { isZip } from '../../formats/bytes/unpack.ts';
import { agencyZip } from '../loaders/agency-file.ts';

/** Marks a transient failure. */
export interface AttemptAgain {
  readonly again: true;
  /** The body came too slowly: what it brought is no progress. */
  readonly isSlow?: boolean;
  /** The wait that the server asks for, in milliseconds. */
  readonly waitMs?: number | undefined;
}

/** The error of a failed download. Addresses in its message are shown without what may be a secret. */
export function downloadFailed(
  message: string,
  hint: string,
  again: AttemptAgain | null = null,
  cause?: unknown,
): PerilbookError {
  return new PerilbookError(
    'DOWNLOAD_FAILED',
    withShownAddresses(message),
    hint,
    { ...again },
    cause,
  );
}

/** Whether another attempt may succeed. */
export function mayTryAgain(
  error: unknown,
): error is PerilbookError & { readonly context: AttemptAgain } {
  return error instanceof PerilbookError && error.context.again === true;
}

export const TRY_LATER = 'Run the same command again to resume; the stored data is unchanged.';
export const CHECK_NETWORK =
  'Check the network, or name a server or a copy of the downloads that you can reach: --mirror. The stored data is unchanged.';
export const ADDRESS_MOVED =
  'The agency may have moved it: see docs/operator/downloads.md, Mirrors, for how to set another address; the stored data is unchanged.';

/** The error for an answer without success. */
export function refusedAnswer(
  url: string,
  {
    status,
    headers,
  }: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
  now: number,
): PerilbookError {
  const waitMs = askedWaitMs(headers, now);
  const message = `${url} answered with status ${status}`;
  // A server that names a time to wait will answer then, whatever its status says.
  if (status === 429 || status === 408 || status >= 500 || waitMs !== null) {
    const isAsked = status === 429 || (waitMs !== null && status < 500);
    const hint = isAsked ? `The server asks to wait. ${TRY_LATER}` : TRY_LATER;
    return downloadFailed(message, hint, { again: true, waitMs: waitMs ?? undefined });
  }
  if (status === 401 || status === 403) {
    const hint =
      'Download it in a browser and load it with: perilbook data load LOADER FILE; the stored data is unchanged.';
    return downloadFailed(`${message}: it refuses programs, or needs a key`, hint);
  }
  return downloadFailed(message, ADDRESS_MOVED);
}

/** Whether the status says that the file does not exist; the file of another year may. */
export const isMissing = (status: number): boolean => status === 404 || status === 410;

/** The error when a server has none of the possible files. */
export function missingFile(requests: readonly { readonly url: string }[]): PerilbookError {
  const newer = requests.length > 1 ? ', and so are newer files' : '';
  return downloadFailed(`${requests.at(-1)!.url} is missing${newer}`, ADDRESS_MOVED);
}

const FREE_SPACE =
  'Free some space, or set XDG_DATA_HOME to a folder on another disk; the stored data is unchanged.';

/** @throws PerilbookError DOWNLOAD_FAILED when a file cannot get so many bytes more */
export function refuseFullDisk(
  target: string,
  bytes: number,
  freeBytes: (folder: string) => number,
): void {
  const free = freeBytes(dirname(target));
  if (bytes <= free) return;
  const megabytes = (value: number) => Math.ceil(value / 1e6);
  const message = `${basename(target)} needs ${megabytes(bytes)} MB more, and the disk of ${dirname(target)} has ${megabytes(free)} MB left`;
  throw downloadFailed(message, FREE_SPACE);
}

/** The error to show for a file system error; other errors are returned unchanged. */
export function fileSystemError(error: unknown, folder: string): unknown {
  if (!(error instanceof Error) || error.name === 'PerilbookError') return error;
  const { syscall, code } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  const hint = isFull
    ? FREE_SPACE
    : `Check that ${folder} can be written; the stored data is unchanged.`;
  const message = `Cannot write into ${folder}: ${isFull ? 'the disk is full' : error.message}`;
  return downloadFailed(message, hint, null, error);
}

/** The bytes that are checked before a file is received. */
export const HEAD_BYTES = 1_024;

/** The reason why the first bytes cannot be those of the requested file, or null.
 * @param name the file's name; its extension names the expected format
 * @param firstLine a regular expression of its first line */
export function unexpectedStart(name: string, head: Buffer, firstLine?: string): string | null {
  const text = head.toString('utf8').replace(/^\uFEFF/, '');
  const isPage = /^\s*<(!doctype|html|head|\?xml|!--)/i.test(text);
  const unexpected = isPage ? 'a web page' : /^\s*\{\s*"error"/.test(text) ? 'an error' : null;
  if (/\.(zip|xlsx)$/i.test(name))
    return isZip(head) ? null : `${unexpected ?? 'other bytes'} instead of a zip`;
  if (unexpected !== null) return `${unexpected} instead of data`;
  if (isZip(head)) return 'a zip instead of text';
  if (text.trim() === '') return 'nothing';
  const [line = ''] = text.split('\n');
  return firstLine === undefined || new RegExp(firstLine).test(line)
    ? null
    : `a file that begins with "${line.slice(0, 60).trim()}", which is not the expected file`;
}

/** The error for an unexpected start. */
export function unexpectedAnswer(url: string, problem: string): PerilbookError {
  return downloadFailed(`${url} answered with ${saidOf(url, problem)}`, ADDRESS_MOVED);
}

/** Unpacks a whole zip to check it; nothing is written.
 * @throws PerilbookError DOWNLOAD_FAILED when it is damaged, or unpacks to more than so many bytes (a zip bomb) */
export async function checkZip(file: string, url: string, mostBytes: number): Promise<void> {
  let isBomb = false;
  try {
    const { entries, unpacked } = await agencyZip(file);
    // A part that is longer than its header states is refused as damaged.
    isBomb = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0) > mostBytes;
    for (const entry of isBomb ? [] : entries) for await (const _ of unpacked(entry));
  } catch (error) {
    throw downloadFailed(`The zip of ${url} is damaged`, TRY_LATER, { again: true }, error);
  }
  if (!isBomb) return;
  throw downloadFailed(
    `The zip of ${url} unpacks to more than ${Math.round(mostBytes / 1e6)} MB`,
    ADDRESS_MOVED,
  );
}
