import { resolve } from 'node:path';
import { PerilbookError } from '../../errors.ts';
import { counted, grouped } from '../../format-numbers.ts';
import { isSampleSource } from '../../library/connection.ts';
import { isSameFile, resolvedPath } from '../../rows/files/output-file.ts';
import type { Job } from '../../run/settings/settings.ts';
import { isSqliteFile } from '../../sql/open-sqlite.ts';
import { isPostgresAddress } from '../../sql/postgres-address.ts';
import type { Store } from '../../store/port.ts';
import { filesOfExport, type Imported, importFiles, importStore } from '../../warehouse/import-answers.ts';
import type { StoreFlags } from '../command-options.ts';
import { type CliContext, say, sayJson } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { openStore } from '../job-of-options.ts';

/** `perilbook cache import`: brings answers that were bought elsewhere into the store. The newer answer wins. */
export async function importCommand(
  context: CliContext,
  flags: StoreFlags,
  store: Store,
  job: Job,
  [named]: readonly string[],
): Promise<number> {
  if (named === undefined) {
    throw new PerilbookError(
      'USAGE',
      'cache import needs a path',
      'Name a file or folder of cache export, or a store.',
    );
  }
  const path = isPostgresAddress(named) ? named : resolve(context.workingFolder, named);
  const imported = isStore(path)
    ? await importFrom(context, store, { ...job, store: path }, job)
    : await importFiles(store, filesOfExport(path), context.clock.now(), isSampleSource);
  if (flags.json) {
    const { places, answers, alreadyStored, sample } = imported;
    sayJson(context, { places, answers, already_known: alreadyStored, sample_left_out: sample });
  } else say(context, linesOf(imported).join('\n'));
  return EXIT.complete;
}

async function importFrom(context: CliContext, store: Store, other: Job, job: Job): Promise<Imported> {
  if (isSameFile(await resolvedPath(other.store), await resolvedPath(job.store))) {
    const hint = 'Name another store, or import into another with --store.';
    throw new PerilbookError('USAGE', `${other.store} is the store itself`, hint);
  }
  await using opened = await openStore(context, other);
  return await importStore(store, opened, isSampleSource);
}

function linesOf({ places, answers, alreadyStored, sample }: Imported): string[] {
  const lines = [`Imported ${counted(answers, 'answer')} at ${counted(places, 'place')}. The ledger is unchanged.`];
  if (alreadyStored > 0) lines.push(`The store already had ${grouped(alreadyStored)} that are as new or newer.`);
  if (sample > 0) lines.push(`Left out ${grouped(sample)} of sample data: they must not mix with real answers.`);
  return lines;
}

/** Whether a path is the address of a store in PostgreSQL or the file of a store, by its first bytes. */
function isStore(path: string): boolean {
  return isPostgresAddress(path) || isSqliteFile(path);
}
