import { basename, dirname } from 'node:path';
import { downloadFailed } from './download-errors.ts';

const HINT = 'Free some space, or set XDG_DATA_HOME to a folder on another disk; the stored data is unchanged.';

/** @throws PerilbookError DOWNLOAD_FAILED when a file cannot get so many bytes more */
export function refuseFullDisk(target: string, bytes: number, freeBytes: (folder: string) => number): void {
  const free = freeBytes(dirname(target));
  if (bytes <= free) return;
  const megabytes = (value: number) => Math.ceil(value / 1e6);
  throw downloadFailed(
    `${basename(target)} needs ${megabytes(bytes)} MB more, and the disk of ${dirname(target)} has ${megabytes(free)} MB left`,
    HINT,
  );
}

/** The error to show for a file system error; other errors are returned unchanged. */
export function fileSystemError(error: unknown, folder: string): unknown {
  if (!(error instanceof Error) || error.name === 'PerilbookError') return error;
  const { syscall, code } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  const hint = isFull ? HINT : `Check that ${folder} can be written; the stored data is unchanged.`;
  return downloadFailed(
    `Cannot write into ${folder}: ${isFull ? 'the disk is full' : error.message}`,
    hint,
    null,
    error,
  );
}
