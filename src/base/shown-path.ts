import { relative } from 'node:path';
import { printable } from './printable.ts';

/** A path as the user would type it: relative if it is inside the working folder. A name with a line end cannot make a line of its own. */
export function shownPath(path: string, folder: string): string {
  if (path === '-') return 'stdin';
  const inside = relative(folder, path);
  return printable(inside.startsWith('..') ? path : inside).replaceAll('\n', '\\n');
}
