import { relative } from 'node:path';

/** A path as the user would type it: relative if it is inside the working folder. */
export function shownPath(path: string, folder: string): string {
  if (path === '-') return 'stdin';
  const inside = relative(folder, path);
  return inside.startsWith('..') ? path : inside;
}

/** A word as a shell reads it, quoted where it must be. */
export function shellWord(text: string): string {
  return /^[\w./:=,@+-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
