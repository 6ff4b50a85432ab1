import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
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
import type { CliContext } from './context.ts';

/** Opens the store of a job for a command that only looks into it, to be held by `await using`: a mistyped `--store` makes no store. One that
 * a job file names, and the default one, is as good as empty before the first run. @param writes the command records something: then the default store is made @throws STORE_TOO_NEW, STORE_UNUSABLE, STORE_UNREACHABLE */
export async function openExistingStore(
  context: CliContext,
  { store }: Job,
  flags: JobFlags,
  writes = false,
): Promise<Store> {
  const { clock, owner, env } = context;
  if (isPostgresAddress(store)) return openStoreAt(store, clock, owner, { mustExist: true });
  if (existsSync(store)) return openStoreAt(store, clock, owner);
  if (flags.store !== undefined || env.PERILBOOK_STORE) throw noStoreAt(store);
  if (writes) return openStoreAt(store, clock, owner);
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-no-store-'));
  const empty = await openStoreAt(join(folder, 'store.db'), clock, owner);
  const close = async () => {
    await empty.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...empty, close, [Symbol.asyncDispose]: close };
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
