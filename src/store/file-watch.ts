import { readdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PerilbookError, resultOrNull } from '../base/errors.ts';

/** Remembers the opened file of a store; returns a check that gives the error if it was deleted, moved or replaced, else null. A process
 * can write to an open file after it was deleted or renamed: the next run would not find the answers bought after that, and would buy
 * them again. A check is one `stat` of about 2 µs; a durable transaction takes milliseconds.
 *
 * The file must not be opened a second time for the check: closing that handle would drop SQLite's locks (POSIX). */
export function watchFile(file: string): () => PerilbookError | null {
  const opened = statSync(file);
  const isOpened = (stats: Stats | null | undefined) => stats?.ino === opened.ino && stats.dev === opened.dev;
  return () => {
    const there = statSync(file, { throwIfNoEntry: false });
    if (isOpened(there)) return null;
    const [what, hint] = explanation(whereabouts(file, isOpened));
    const replaced = there === undefined ? '' : ', and another file is in its place';
    const message = `The store ${file} was ${what} while this run used it${replaced}`;
    return new PerilbookError('STORE_MOVED', message, hint, { file });
  };
}

function explanation(now: string): readonly [what: string, hint: string] {
  switch (now) {
    case 'deleted':
      return [
        'deleted',
        'The answers that it bought are only in the output now. Restore a copy of the store, or the next run buys them again.',
      ];
    case 'unknown':
      return ['moved or deleted', 'Move it back before the next run, or its answers are bought again.'];
    default:
      return [`moved to ${now}`, `All that was bought is there. Move it back, or use it with --store ${now}.`];
  }
}

/** The present path of an open file, `deleted` or `unknown`: Linux lists the open files of a process; elsewhere its old folder is searched. */
function whereabouts(file: string, isOpened: (stats: Stats | null | undefined) => boolean): string {
  for (const folder of ['/proc/self/fd', '/dev/fd', dirname(file)]) {
    // Files are deleted meanwhile, or may not be read.
    for (const name of resultOrNull(() => readdirSync(folder)) ?? []) {
      const path = join(folder, name);
      const stats = resultOrNull(() => statSync(path));
      if (!isOpened(stats)) continue;
      if (stats!.nlink === 0) return 'deleted';
      if (folder === dirname(file)) return path;
      const target = resultOrNull(() => readlinkSync(path));
      if (target !== null && isOpened(resultOrNull(() => statSync(target)))) return target;
    }
  }
  return 'unknown';
}
