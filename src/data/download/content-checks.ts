import type { PerilbookError } from '../../base/errors.ts';
import { isZip } from '../../formats/bytes/unpack.ts';
import { agencyZip } from '../loaders/agency-file.ts';
import { ADDRESS_MOVED, downloadFailed, TRY_LATER } from './download-errors.ts';

/** The bytes that are checked before a file is received. */
export const HEAD_BYTES = 1_024;

/** The reason why the first bytes cannot be those of the requested file, or null.
 * @param name the file's name; its extension names the expected format
 * @param firstLine a regular expression of its first line */
export function unexpectedStart(name: string, head: Buffer, firstLine?: string): string | null {
  const text = head.toString('utf8').replace(/^\uFEFF/, '');
  const isPage = /^\s*<(!doctype|html|head|\?xml|!--)/i.test(text);
  const unexpected = isPage ? 'a web page' : /^\s*\{\s*"error"/.test(text) ? 'an error' : null;
  if (/\.(zip|xlsx)$/i.test(name)) return isZip(head) ? null : `${unexpected ?? 'other bytes'} instead of a zip`;
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
  return downloadFailed(`${url} answered with ${problem}`, ADDRESS_MOVED);
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
  throw downloadFailed(`The zip of ${url} unpacks to more than ${Math.round(mostBytes / 1e6)} MB`, ADDRESS_MOVED);
}
