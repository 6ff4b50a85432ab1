import { dirname, join } from 'node:path';
import { NO_FOLDER, noDataFolder } from '../base/platform-folders.ts';
import type { Job, JobFolders } from '../job/settings.ts';
import { isPostgresAddress } from '../sql/postgres-address.ts';

/** The file of the made-up data for a job: beside the store, so that both are deleted together; in the data folder where the store is a
 * database. It may not exist. */
export function sampleDataFile(
  { store }: Pick<Job, 'store'>,
  { dataFolder }: Pick<JobFolders, 'dataFolder'>,
): string {
  const folder = isPostgresAddress(store) ? dataFolder : dirname(store);
  if (folder === NO_FOLDER) throw noDataFolder('--store FILE');
  return join(folder, 'sample-data.db');
}
