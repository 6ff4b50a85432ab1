import type { Clock } from '../../base/clock.ts';
import { bootIdentity } from '../../base/running-processes.ts';
import { columnsOf } from '../../columns/topic-columns.ts';
import { LOSS_FIELDS, LOSS_RATES } from '../../data/topics/loss-rates.ts';
import { isPostgresAddress } from '../../sql/postgres-address.ts';
import type { Owner, Store } from '../../store/port.ts';

/** Opens a store by its address: a SQLite file, or `postgres://…`. To be held by `await using`. @param options.mustExist makes no tables in
 * PostgreSQL
 * @param options.isFree only answers that cost nothing are written: a power cut may take the last ones from a file
 * @throws STORE_TOO_NEW, STORE_UNUSABLE, STORE_UNREACHABLE */
export async function openStoreAt(
  address: string,
  clock: Clock,
  owner: Owner,
  {
    mustExist = false,
    isFree = false,
  }: { readonly mustExist?: boolean; readonly isFree?: boolean } = {},
): Promise<Store> {
  const widthOf = (topic: Parameters<typeof columnsOf>[0]) =>
    topic === LOSS_RATES ? LOSS_FIELDS : columnsOf(topic).length;
  // Loads only the needed driver.
  if (isPostgresAddress(address)) {
    const { openPostgresStore } = await import('../../store/postgres-store.ts');
    return openPostgresStore(address, clock, amongMachines(owner), { widthOf, mustExist });
  }
  const { openSqliteStore } = await import('../../store/sqlite-store.ts');
  return openSqliteStore(address, clock, owner, widthOf, isFree);
}

/** Identifies an owner for workers on other machines. Cloned machines share names and process numbers, so the boot's id tells them
 * apart. Without such an id, another process counts as running until its lease ends. */
function amongMachines(owner: Owner): Owner {
  const boot = bootIdentity();
  return {
    name: `${boot ?? ''}/${owner.name}`,
    isAlive: (other) =>
      boot === null || !other.startsWith(`${boot}/`) || owner.isAlive(other.slice(boot.length + 1)),
  };
}
