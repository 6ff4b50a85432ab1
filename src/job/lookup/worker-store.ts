import type { Clock } from '../../clock.ts';
import { columnsOf } from '../../columns/topic-columns.ts';
import type { Store } from '../../store/port.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';

/** Opens the run's store for a worker of the same process. It claims no calls, so it takes nobody's for a dead one. */
export async function openStoreAt(file: string, clock: Clock): Promise<Store> {
  return openSqliteStore(file, clock, { name: 'look-up', isAlive: () => true }, (topic) => columnsOf(topic).length);
}
