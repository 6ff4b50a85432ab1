import { columnsOf } from '../columns/topic-columns.ts';
import type { Job } from '../job/settings/settings.ts';
import type { Store } from '../store/port.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { CliContext } from './context.ts';

/** Opens the store of a job, to be held by `await using`. @throws STORE_TOO_NEW, STORE_UNUSABLE */
export function openStore(context: CliContext, job: Job): Store & AsyncDisposable {
  const store = openSqliteStore(job.store, context.clock, context.owner, (topic) => columnsOf(topic).length);
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}
