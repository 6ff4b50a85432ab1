import { existsSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../shared/data');

/** For the `skip` of a test that reads real files of agencies and insurers: false, or why it is skipped. The files lie beside
 * the checkout and are not part of it. */
export const noRealData: string | false =
  !existsSync(FOLDER) && 'the folder of real files (../shared/data) is not here';

/** The path of a real file or folder: `realFile('nri/NRI_Table_Counties_Virginia.csv')`. */
export function realFile(name = ''): string {
  return join(FOLDER, name);
}
