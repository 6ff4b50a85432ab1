import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { counted } from '../../base/format-numbers.ts';
import { openDataReadOnly } from '../../data/tables/data-database.ts';
import { describeData } from '../../data/tables/describe-data.ts';
import {
  accountsFileFor,
  openAccounts,
  openPostgresAccounts,
  sqliteAccounts,
} from '../../service/accounts/open-accounts.ts';
import type { ServiceAccounts } from '../../service/accounts/service-accounts.ts';
import { startService } from '../../service/http/start-service.ts';
import { completeAddress, isPostgresAddress, shownAddress } from '../../sql/postgres-address.ts';
import { type RunCommand, usageError } from '../command.ts';
import type { Flags } from '../command-table.ts';
import { type CliContext, dataFolder, say } from '../context.ts';
import { refuseMissing } from '../data-settings.ts';
import { EXIT } from '../exit-codes.ts';
import {
  type AccountsCommand,
  accountStatement,
  changeAccount,
  createAccount,
  createKey,
  listAccounts,
  listKeys,
  revokeKey,
  rotateKey,
} from './service-accounts.ts';
import { checkCommand } from './service-check.ts';

const DEFAULT_PORT = 8737;

/** Options that name the files of a service. */
interface FileFlags {
  readonly db?: string | undefined;
  readonly accounts?: string | undefined;
}

/** A command that opens the accounts. Only the commands that make the first account may create them. */
function onAccounts<Flags extends FileFlags>(act: AccountsCommand<Flags>, isFirst = false): RunCommand<Flags> {
  return async (context, flags) => {
    const files = resolveServiceFiles(context, flags);
    if (!isFirst) refuseNoAccounts(files, flags);
    await using accounts = await accountsOpener(context, files);
    return await act(context, accounts, flags);
  };
}

/** The commands of `perilbook service`. */
export const serviceCommands = {
  'service start': startCommand,
  'service check': checkCommand,
  'service account create': onAccounts(createAccount, true),
  'service account change': onAccounts(changeAccount),
  'service account list': onAccounts(listAccounts),
  'service account statement': onAccounts(accountStatement),
  'service key create': onAccounts(createKey, true),
  'service key list': onAccounts(listKeys),
  'service key rotate': onAccounts(rotateKey),
  'service key revoke': onAccounts(revokeKey),
};

/** Where the data and the accounts of a service are. */
interface ServiceFiles {
  readonly data: string;
  /** A file, or the address of a database. */
  readonly accounts: string;
}

function resolveServiceFiles(context: CliContext, { db, accounts }: FileFlags): ServiceFiles {
  const pathOf = (file: string | undefined, otherwise: string) => resolve(context.workingFolder, file ?? otherwise);
  const data = pathOf(db, `${dataFolder(context)}/data.db`);
  if (accounts !== undefined && isPostgresAddress(accounts))
    return { data, accounts: completeAddress(accounts, context.env) };
  const path = pathOf(accounts, accountsFileFor(data));
  if (path === data) throw usageError(`--db and --accounts name one file, ${data}`, 'Name two files.');
  return { data, accounts: path };
}

async function accountsOpener({ clock }: CliContext, { accounts }: ServiceFiles): Promise<ServiceAccounts> {
  if (isPostgresAddress(accounts)) return await openPostgresAccounts(accounts, clock);
  const opened = openAccounts(madeFolder(accounts));
  return sqliteAccounts(opened, clock, () => void opened.close());
}

function madeFolder(file: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return file;
}

/** A misspelled name must be an error, not an empty file with an empty list of accounts. */
function refuseNoAccounts({ data, accounts }: ServiceFiles, flags: FileFlags): void {
  if (isPostgresAddress(accounts)) return;
  if (flags.accounts !== undefined) refuseMissing(accounts, '--accounts');
  else if (flags.db !== undefined && !existsSync(accounts)) refuseMissing(data, '--db');
}

async function startCommand(context: CliContext, flags: Flags<'service start'>): Promise<number> {
  const port = flags.port ?? DEFAULT_PORT;
  const files = resolveServiceFiles(context, flags);
  if (flags.db !== undefined) refuseMissing(files.data, '--db');
  if (flags.accounts !== undefined) refuseNoAccounts(files, flags);
  await using accounts = await accountsOpener(context, files);
  using data = openDataReadOnly(madeFolder(files.data));
  const { topics, unavailable, withoutRecords, sample } = describeData(data);
  const onError = (error: unknown) =>
    say(context, `perilbook service: ${error instanceof Error ? error.message : error}`);
  await using service = await startService({ data, accounts, port, onError });
  const accountsAt = shownAddress(files.accounts);
  say(context, `perilbook service: ${service.url}, data in ${files.data}, accounts in ${accountsAt}`);
  if (sample) say(context, 'Sample data: made up, not for decisions.');
  say(context, `${counted(topics.length, 'topic')} can be answered.`);
  if (unavailable.length > 0) {
    say(
      context,
      `Unavailable: ${unavailable.map(({ topic }) => topic).join(' ')} (perilbook data shows how to get them; perilbook data load sample fills all with sample data)`,
    );
  }
  if (withoutRecords.length > 0) {
    const lacking = withoutRecords.map(({ topic, missing }) => `${topic} (${missing.join(', ')})`);
    say(context, `Answered without the records that are not loaded: ${lacking.join('; ')}`);
  }
  if (!context.interrupt.aborted) await once(context.interrupt, 'abort');
  return EXIT.complete;
}
