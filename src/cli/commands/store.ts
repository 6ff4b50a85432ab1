import { shownAddress } from '../../sql/postgres-address.ts';
import { type CliContext, printResult } from '../frame/context.ts';
import { readOptionalJob } from '../frame/job-of-options.ts';
import { openStore } from '../frame/open-store.ts';
import type { StoreReadyJson } from '../json/ledger-json.ts';
import type { Flags } from '../options/command-table.ts';

export const storeCommands = { 'store init': initCommand };

/** `perilbook store init`: makes the store with all its tables, or brings it up to the version of this program. In PostgreSQL the role that
 * owns the tables does this once, before others are granted their rights.
 * @throws STORE_TOO_NEW, STORE_UNUSABLE, STORE_UNREACHABLE */
async function initCommand(context: CliContext, flags: Flags<'store init'>): Promise<undefined> {
  const job = readOptionalJob(context, [], { store: flags.store });
  await using _store = await openStore(context, job);
  const ready: StoreReadyJson = { store: shownAddress(job.store), ready: true };
  printResult(context, flags, ready, () => [`The store ${ready.store} is ready.`]);
}
