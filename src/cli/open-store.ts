import { openStoreAt } from '../run/open-store-at.ts';
import type { Job } from '../run/settings/settings.ts';
import type { Store } from '../store/port.ts';
import type { CliContext } from './context.ts';

/** Opens the store of a job, to be held by `await using`. @throws STORE_TOO_NEW, STORE_UNUSABLE, STORE_UNREACHABLE */
export function openStore({ clock, owner }: CliContext, { store }: Pick<Job, 'store'>): Promise<Store> {
  return openStoreAt(store, clock, owner);
}
