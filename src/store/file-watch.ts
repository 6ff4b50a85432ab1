import { statSync } from 'node:fs';
import { PerilbookError } from '../base/errors.ts';

/** Remembers the opened file of a store; returns a check that gives the error if it was deleted, moved or replaced, else null. A process
 * can write to an open file after it was deleted or renamed: the next run would not find the answers bought after that, and would buy
 * them again. A check is one `stat` of about 2 µs; a durable transaction takes milliseconds.
 *
 * The file must not be opened a second time for the check: closing that handle would drop SQLite's locks (POSIX). */
export function watchFile(file: string): () => PerilbookError | null {
  const opened = statSync(file);
  return () => {
    const there = statSync(file, { throwIfNoEntry: false });
    if (there?.ino === opened.ino && there.dev === opened.dev) return null;
    const replaced = there === undefined ? '' : ', and another file is in its place';
    const message = `The store ${file} was moved or deleted while this run used it${replaced}`;
    const hint = 'Move it back before the next run, or name it with --store: else its answers are bought again.';
    return new PerilbookError('STORE_MOVED', message, hint, { file });
  };
}
