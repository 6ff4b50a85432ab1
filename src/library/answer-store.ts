import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { PerilbookError, resultOrNull } from '../base/errors.ts';
import { dataFolderOf, homeFolder, NO_FOLDER } from '../base/platform-folders.ts';
import { processOwner } from '../base/running-processes.ts';
import { type JobFolders, makeJob } from '../job/settings.ts';
import { openStoreAt } from '../run/frame/open-store-at.ts';
import type { Store } from '../store/port.ts';
import { checkedSettings, isText, requireType } from './checked-settings.ts';

/** An open store of answers, ledger and runs. Hold it with `await using`, or dispose of it when the last function that uses it is done. */
export interface AnswerStore extends AsyncDisposable {
  /** The file, or the address of the database. */
  readonly address: string;
}

/** Keeps the store of a handle private: its functions are not part of the library's interface. */
const STORES = new WeakMap<AnswerStore, Store>();

/** The folders if the program names none. Of the environment only the home folder is read: `XDG_DATA_HOME` is for the program to pass. */
export function defaultFolders(): JobFolders {
  const env = { HOME: resultOrNull(() => homedir()) ?? '' };
  return {
    workingFolder: resolve('.'),
    dataFolder: dataFolderOf(env) ?? NO_FOLDER,
    homeFolder: homeFolder(env),
  };
}

/** Opens a store, and makes it where there is none.
 * @param address a SQLite file, or `postgres://user@host/database`; default: `~/.local/share/perilbook/store.db`, the store of the command
 * line
 * @throws PerilbookError STORE_TOO_NEW, STORE_UNUSABLE, STORE_UNREACHABLE */
export async function openStore(address?: string): Promise<AnswerStore> {
  requireType(
    'address',
    address ?? '',
    isText,
    'Pass a file or the address of a database, or leave it out.',
  );
  const { store: resolved } = makeJob(
    [{ input: '-', ...checkedSettings({ store: address }) }],
    defaultFolders(),
  );
  const store = await openStoreAt(resolved, systemClock, processOwner());
  const handle: AnswerStore = {
    address: resolved,
    async [Symbol.asyncDispose]() {
      if (!STORES.delete(handle)) return;
      await store[Symbol.asyncDispose]();
    },
  };
  STORES.set(handle, store);
  return handle;
}

/** The store of a handle. @throws USAGE */
export function storeBehind(handle: AnswerStore | undefined): Store {
  const store = handle && STORES.get(handle);
  if (store !== undefined) return store;
  const message =
    handle === undefined ? 'Missing store' : 'The store is closed, or openStore did not make it';
  throw new PerilbookError(
    'USAGE',
    message,
    'Pass store: await openStore(), and dispose of it at the end.',
  );
}
