import type { Clock } from '../clock.ts';
import { columnsOf } from '../columns/topic-columns.ts';
import { bootIdentity } from '../running-processes.ts';
import { isPostgresAddress } from '../sql/postgres-address.ts';
import type { Owner, Store } from '../store/port.ts';

/**
 * Opens a store by its address: a SQLite file, or `postgres://…`. To be held by `await using`.
 *
 * @throws STORE_TOO_NEW, STORE_UNUSABLE, STORE_UNREACHABLE
 */
export async function openStoreAt(address: string, clock: Clock, owner: Owner): Promise<Store> {
  const widthOf = (topic: Parameters<typeof columnsOf>[0]) => columnsOf(topic).length;
  // Only the driver that is needed is loaded.
  if (isPostgresAddress(address)) {
    const { openPostgresStore } = await import('../store/postgres-store.ts');
    return openPostgresStore(address, clock, amongMachines(owner), { widthOf });
  }
  const { openSqliteStore } = await import('../store/sqlite-store.ts');
  return openSqliteStore(address, clock, owner, widthOf);
}

/** An owner as workers on other machines know it. Cloned machines share a name and numbers of processes, so the boot tells them
 * apart; where it has no identity, another process counts as running until its lease ends. */
function amongMachines(owner: Owner): Owner {
  const boot = bootIdentity();
  return {
    name: `${boot ?? ''}/${owner.name}`,
    isAlive: (other) => boot === null || !other.startsWith(`${boot}/`) || owner.isAlive(other.slice(boot.length + 1)),
  };
}
