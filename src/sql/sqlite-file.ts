import { closeSync, openSync, readSync, statSync } from 'node:fs';

const HEADER = 'SQLite format 3\0';

/** Whether a file is a SQLite database, by its first bytes. False where there is none, or none that may be read. */
export function isSqliteFile(path: string): boolean {
  // Opening a pipe would wait for its writer.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return false;
  }
  try {
    const head = Buffer.alloc(HEADER.length);
    return readSync(file, head) === head.length && head.toString('latin1') === HEADER;
  } finally {
    closeSync(file);
  }
}
