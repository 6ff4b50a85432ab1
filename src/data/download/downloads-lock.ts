import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasSystemCode, PerilbookError, resultOrNull } from '../../base/errors.ts';

/** Locks a downloads folder; the lock of a process that no longer runs is removed.
 * @param owner the name of this process, and whether another one is still running
 * @returns the function that unlocks the folder
 * @throws PerilbookError USAGE when another process downloads into it */
export function lockDownloads(
  folder: string,
  { name, isAlive }: { readonly name: string; readonly isAlive: (other: string) => boolean },
): () => void {
  const file = join(folder, 'lock');
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(file, name, { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (!hasSystemCode(error, 'EEXIST')) throw error;
    }
    const other = resultOrNull(() => readFileSync(file, 'utf8'));
    // The lock was released meanwhile, or its process no longer runs.
    if (attempt < 2 && (other === null || !isAlive(other))) {
      rmSync(file, { force: true });
      continue;
    }
    const hint = `Wait until it has ended. If there is none, remove the file ${file}.`;
    throw new PerilbookError('USAGE', `Another perilbook data command downloads into "${folder}" (${other})`, hint);
  }
}
