import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { didYouMean } from '../../nearest-name.ts';

/** `; did you mean X?` behind the name of a file that is not there, if a file of its folder has nearly that name. */
export function didYouMeanFile(path: string): string {
  try {
    return didYouMean(basename(path), readdirSync(dirname(path)));
  } catch {
    // The folder is not there either.
    return '';
  }
}
