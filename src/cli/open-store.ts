import { columnsOf } from '../columns/topic-columns.ts';
import type { Job } from '../job/settings/settings.ts';
import type { Store } from '../store/port.ts';
import { openSqliteStore } from '../store/sqlite-store.ts';
import type { CliContext } from './context.ts';

/** Opens the store of a job. @throws STORE_TOO_NEW, STORE_UNUSABLE */
export function openStore(context: CliContext, job: Job): Store {
  return openSqliteStore(job.store, context.clock, context.owner, (topic) => columnsOf(topic).length);
}
