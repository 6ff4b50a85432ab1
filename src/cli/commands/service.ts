import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { openServiceDatabase, type ServiceDatabase } from '../../data/tables/data-database.ts';
import { describeData } from '../../data/tables/describe-data.ts';
import { PerilbookError } from '../../errors.ts';
import { counted } from '../../format-numbers.ts';
import { startService } from '../../service/http/start-service.ts';
import type { Flags } from '../command.ts';
import { type CliContext, dataFolder, say } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { portOf } from '../option-values.ts';
import { accountAction, keyAction } from './service-accounts.ts';
import { checkAction } from './service-check.ts';
import { dataAction, loadAction } from './service-load.ts';

const DEFAULT_PORT = 8737;

/** `perilbook service start | load | data | check | account … | key …`: the lookup service and its books. */
export async function serviceCommand(context: CliContext, flags: Flags): Promise<number> {
  if (flags.action === 'check') return checkAction(context, flags);
  const port = portOf(flags) ?? DEFAULT_PORT;
  const file = resolve(context.workingFolder, (flags.db as string | undefined) ?? `${dataFolder(context)}/service.db`);
  if (flags.db !== undefined && onlyReads(flags)) refuseMissing(file);
  mkdirSync(dirname(file), { recursive: true });
  const database = openServiceDatabase(file);
  try {
    switch (flags.action) {
      case 'start':
        return await startAction(context, database, file, port);
      case 'load':
        return await loadAction(context, database, flags);
      case 'data':
        return dataAction(context, database, flags);
      case 'account':
        return accountAction(context, database, flags);
      default:
        return keyAction(context, database, flags);
    }
  } finally {
    database.close();
  }
}

/** What has nothing to say or to change in a new database. */
const onlyReads = ({ action, what }: Flags): boolean => action === 'data' || NEEDS_ACCOUNTS.includes(String(what));

/** Actions of accounts and keys that only make sense where there are some. A misspelt one is told as such, wherever it is said. */
const NEEDS_ACCOUNTS = ['list', 'statement', 'rotate', 'revoke'];

/** A wrong name would otherwise make an empty database, and the answer would be that there are no accounts. */
function refuseMissing(file: string): void {
  if (existsSync(file)) return;
  throw new PerilbookError('SERVICE_DATA', `There is no database ${file}`, 'Check the name that --db gives.', { file });
}

async function startAction(
  context: CliContext,
  database: ServiceDatabase,
  file: string,
  port: number,
): Promise<number> {
  const { topics, unavailable, withoutRecords, sample } = describeData(database);
  const onError = (error: unknown) =>
    say(context, `perilbook service: ${error instanceof Error ? error.message : error}`);
  const service = await startService({ database, clock: context.clock, port, onError });
  say(context, `perilbook service: ${service.url}, data in ${file}`);
  if (sample) say(context, 'Sample data: made up, not for decisions.');
  say(context, `${counted(topics.length, 'topic')} can be answered.`);
  if (unavailable.length > 0) {
    say(
      context,
      `Unavailable: ${unavailable.map(({ topic }) => topic).join(' ')} (perilbook service load lists what can be loaded; load sample fills all with sample data)`,
    );
  }
  if (withoutRecords.length > 0) {
    const lacking = withoutRecords.map(({ topic, missing }) => `${topic} (${missing.join(', ')})`);
    say(context, `Answered without the records that are not loaded: ${lacking.join('; ')}`);
  }
  if (!context.interrupt.aborted) {
    await new Promise((done) => context.interrupt.addEventListener('abort', done, { once: true }));
  }
  await service.close();
  return EXIT.complete;
}
