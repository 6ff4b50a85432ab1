import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { PerilbookError, resultOrNull } from '../../base/errors.ts';
import { nearestName } from '../../base/nearest-name.ts';
import type { JobFlags } from '../../job/setting-table.ts';
import type { Job } from '../../job/settings.ts';
import { openStoreAt } from '../../run/frame/open-store-at.ts';
import { isSqliteFile } from '../../sql/open-sqlite.ts';
import { isPostgresAddress } from '../../sql/postgres-address.ts';
import type { Store } from '../../store/port.ts';
import { type CliContext, say } from './context.ts';

/** What a command does to a store that is there. `makes`: it records something, also in a default store that is not there yet. */
export type StoreUse = 'reads' | 'writes' | 'makes';

/** Opens the store of a job for a command that does not buy, to be held by `await using`: a mistyped `--store` makes no store. One that
 * a job file names, and the default one, is as good as empty before the first run. @throws STORE_TOO_NEW, STORE_UNUSABLE, STORE_UNREACHABLE */
export async function openExistingStore(
  context: CliContext,
  { store }: Job,
  flags: JobFlags,
  use: StoreUse = 'reads',
): Promise<Store> {
  const { clock, owner, env } = context;
  if (isPostgresAddress(store)) return openStoreAt(store, clock, owner, { mustExist: true });
  if (existsSync(store)) {
    if (use === 'reads' && mayNotWrite(store)) return await openCopy(context, store);
    return openStoreAt(store, clock, owner);
  }
  if (flags.store !== undefined || env.PERILBOOK_STORE) throw noStoreAt(store);
  if (use === 'makes') return openStoreAt(store, clock, owner);
  return await openTemporary(context, () => {});
}

/** Opens a store in a temporary folder, which goes when it is closed. @param fill puts a file there, or none */
async function openTemporary(
  { clock, owner }: Pick<CliContext, 'clock' | 'owner'>,
  fill: (file: string) => void,
): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-store-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const file = join(folder, 'store.db');
    fill(file);
    const store = await openStoreAt(file, clock, owner);
    const close = async () => {
      await store.close();
      remove();
    };
    return { ...store, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Whether a store lies on a disk, or in a folder, that may not be written: SQLite writes beside its file also to read it. */
function mayNotWrite(store: string): boolean {
  return [store, dirname(store)].some(
    (path) => resultOrNull(() => accessSync(path, constants.W_OK)) === null,
  );
}

/** Reads a store that may not be written, such as a backup on another disk: as it is now, from a copy. */
async function openCopy(context: CliContext, store: string): Promise<Store> {
  say(context, `${store} may not be written: it is read from a copy of now.`);
  return await openTemporary(context, (file) => {
    try {
      for (const suffix of ['', '-wal'])
        if (existsSync(store + suffix)) copyFileSync(store + suffix, file + suffix);
    } catch (error) {
      const message = `The store ${store} may not be written, and cannot be copied to ${dirname(file)} to be read`;
      const hint = 'Make room there, or name another folder in TMPDIR.';
      throw new PerilbookError('STORE_UNUSABLE', message, hint, { file: store }, error);
    }
  });
}

function noStoreAt(store: string): PerilbookError {
  const others = (resultOrNull(() => readdirSync(dirname(store))) ?? []).filter((name) =>
    isSqliteFile(join(dirname(store), name)),
  );
  const near = nearestName(basename(store), others);
  const hint =
    near === null
      ? 'Check --store and PERILBOOK_STORE. A run makes a new store.'
      : `Did you mean ${join(dirname(store), near)}?`;
  return new PerilbookError('STORE_UNUSABLE', `There is no store at ${store}`, hint, {
    file: store,
  });
}

/** Opens the store of a job, to be held by `await using`. @throws STORE_TOO_NEW, STORE_UNUSABLE, STORE_UNREACHABLE */
export function openStore(
  { clock, owner }: CliContext,
  { store }: Pick<Job, 'store'>,
): Promise<Store> {
  return openStoreAt(store, clock, owner);
}
