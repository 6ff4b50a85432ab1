import { columnsOf } from '../columns/columns.ts';
import type { Job } from '../job/settings/settings.ts';
import type { Store } from '../store/port.ts';
import { openSqliteStore } from '../store/sqlite-store.ts';
import type { World } from './world.ts';

/** Opens the store of a job. @throws STORE_TOO_NEW, STORE_UNUSABLE */
export function openStore(world: World, job: Job): Store {
  return openSqliteStore(job.store, world.clock, world.owner, (topic) => columnsOf(topic).length);
}
