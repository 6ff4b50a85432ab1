import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { PerilbookError } from '../../base/errors.ts';
import { counted, dateTime, grouped, isoDay } from '../../base/format-numbers.ts';
import {
  customSubscription,
  SUBSCRIPTIONS,
  type Subscription,
} from '../../contract/subscriptions.ts';
import { isTopicSlug, TOPIC_SLUGS } from '../../contract/topics.ts';
import { openDataReadOnly, readingData } from '../../data/tables/data-database.ts';
import { describeData } from '../../data/tables/describe-data.ts';
import {
  accountsFileFor,
  openAccounts,
  openPostgresAccounts,
  sqliteAccounts,
} from '../../service/accounts/open-accounts.ts';
import type { AccountChange, ServiceAccount } from '../../service/accounts/service-account.ts';
import type { ServiceAccounts } from '../../service/accounts/service-accounts.ts';
import type { KeyInfo, NewKey } from '../../service/accounts/service-keys.ts';
import { startService } from '../../service/http/start-service.ts';
import { readDatabaseName } from '../../sql/database-name.ts';
import { completeAddress, isPostgresAddress, shownAddress } from '../../sql/postgres-address.ts';
import { type CliContext, dataFolder, printData, printResult, say } from '../frame/context.ts';
import { refuseMissing } from '../frame/data-settings.ts';
import { declareNamed, declareSold } from '../frame/sold-layers.ts';
import { colorFor, hintLine, table } from '../messages/format.ts';
import { durationOption, pathGiven, type RunCommand, usageError } from '../options/command.ts';
import type { CommandName, Flags } from '../options/command-table.ts';
import { checkCommand } from './service-check.ts';

const DEFAULT_PORT = 8737;

type FileFlags = Pick<Flags<'service start'>, 'db' | 'accounts'>;

/** A command that opens the accounts. Only the commands that make the first account may create them. */
function onAccounts<Name extends Extract<CommandName, `service ${'account' | 'key'} ${string}`>>(
  act: (context: CliContext, accounts: ServiceAccounts, flags: Flags<Name>) => Promise<void>,
  isFirst = false,
): RunCommand<Flags<Name>> {
  return async (context, flags) => {
    const files = resolveServiceFiles(context, flags);
    if (!isFirst) refuseNoAccounts(files, flags);
    await using accounts = await accountsOpener(context, files);
    await act(context, accounts, flags);
  };
}

export const serviceCommands = {
  'service start': startCommand,
  'service check': checkCommand,
  'service account create': onAccounts<'service account create'>(
    async (context, accounts, flags) => {
      const signedUpAt = parseDay('signed-up', flags['signed-up']);
      const subscription =
        parseCustomSubscription(flags) ?? SUBSCRIPTIONS[flags.subscription ?? 'starter'];
      const overages = parseOverages(flags) ?? false;
      const account = await accounts.createAccount({
        name: flags.account,
        subscription,
        overages,
        signedUpAt,
      });
      const day = new Date(account.signedUpAt).getUTCDate();
      const last = day > 28 ? ' (or its last)' : '';
      // Day 1 is the default of clients.
      const clients = day === 1 ? '' : `: clients need --anniversary-day ${day}`;
      const periods = `Its billing periods begin on day ${day} of a month${last}${clients}.`;
      say(context, `Made the account ${account.name} (${account.subscription.name}). ${periods}`);
    },
    true,
  ),
  /** Changes an account's subscription or its overages. By the contract, the account manager does this. */
  'service account change': onAccounts<'service account change'>(
    async (context, accounts, flags) => {
      const name = flags.account;
      const [figures, overages] = [parseFigures(flags), parseOverages(flags)];
      const subscription = flags.subscription && SUBSCRIPTIONS[flags.subscription];
      if (subscription === undefined && figures === undefined && overages === undefined) {
        const hint = 'Give --subscription, figures of a custom one, --overages or --no-overages.';
        throw usageError(`Nothing to change in account "${name}"`, hint);
      }
      const { subscription: terms, ...account } = await accounts.changeAccount(name, {
        ...(subscription && { subscription }),
        ...(figures && { figures }),
        ...(overages !== undefined && { overages }),
      });
      const limits = `${grouped(terms.creditsPerMonth)} credits a month, ${grouped(terms.creditsPerMinute)} a minute`;
      const beyond = account.overages ? `served${formatRate(terms)}` : 'refused';
      const changed = `Changed the account ${account.name} (${terms.name}): ${limits}; calls beyond them are ${beyond}.`;
      say(context, `${changed} This works from the next call on.`);
    },
  ),
  'service account list': onAccounts<'service account list'>(async (context, accounts, flags) => {
    const listed = await withStatements(accounts, await accounts.listAccounts());
    const rows = listed.map(({ name, subscription, overages, periods }) => {
      const current = periods.find(({ isClosed }) => !isClosed)!;
      return [
        name,
        subscription.name,
        grouped(subscription.creditsPerMonth),
        grouped(subscription.creditsPerMinute),
        grouped(current.creditsCharged),
        overages ? 'on' : 'off',
        grouped(current.overageCredits),
      ];
    });
    const head = [
      'account',
      'subscription',
      'a month',
      'a minute',
      'charged',
      'overages',
      'overage credits',
    ];
    printResult(context, flags, listed, () => table(head, rows, ''));
  }),
  /** What each account (or one) owes by billing period: for all periods, or the period with a given day. */
  'service account statement': onAccounts<'service account statement'>(
    async (context, accounts, flags) => {
      const name = flags.account;
      const day = parseDay('period', flags.period);
      const chosen =
        name === undefined ? await accounts.listAccounts() : [await accounts.findAccount(name)];
      const lines = (await withStatements(accounts, chosen)).flatMap((account) =>
        account.periods
          .filter(
            ({ periodStart, periodEnd }) =>
              day === undefined || (periodStart <= day && day < periodEnd),
          )
          .map((period) => ({ account: account.name, ...period })),
      );
      const rows = lines.map((line) => [
        line.account,
        isoDay(line.periodStart),
        isoDay(line.periodEnd),
        line.isClosed ? 'closed' : 'open',
        grouped(line.allowance),
        grouped(line.creditsWithinAllowance),
        grouped(line.overageCredits),
        line.overageRate === null ? 'not agreed' : String(line.overageRate),
        line.overageDollars === null ? 'not agreed' : line.overageDollars.toFixed(2),
      ]);
      const head = [
        'account',
        'from',
        'until',
        'period',
        'allowance',
        'within it',
        'overage',
        '$ a credit',
        'dollars',
      ];
      printResult(context, flags, lines, () => table(head, rows, ''));
    },
  ),
  /** The new key is written to stdout, once. */
  'service key create': onAccounts<'service key create'>(async (context, accounts, flags) => {
    const life = durationOption('expires-in', flags['expires-in']);
    const scopes = parseScopes(flags);
    // An unknown one is refused as a scope.
    declareNamed(
      context,
      scopes.filter((scope) => scope !== 'bundle' && !isTopicSlug(scope)),
    );
    showOnce(context, await accounts.createKey(flags.account, scopes, life ?? null));
  }, true),
  'service key list': onAccounts<'service key list'>(async (context, accounts, flags) => {
    const keys = await accounts.listKeys(flags.account);
    const rows = keys.map(({ id, account, state, scopes, ...times }) => [
      String(id),
      account,
      state,
      lastTime(times),
      scopes.length > 4
        ? `${scopes.slice(0, 3).join(' ')} and ${scopes.length - 3} more`
        : scopes.join(' '),
    ]);
    printResult(context, flags, keys, () =>
      table(['key', 'account', 'state', 'works until', 'scopes'], rows, ''),
    );
  }),
  /** The new key is written to stdout, once. */
  'service key rotate': onAccounts<'service key rotate'>(async (context, accounts, flags) => {
    const grace = flags.grace ?? 0;
    showOnce(context, await accounts.rotateKey(flags.key, grace));
    say(context, `The old key works for ${counted(grace, 'more second')}.`);
  }),
  'service key revoke': onAccounts<'service key revoke'>(async (context, accounts, flags) => {
    await accounts.revokeKey(flags.key);
    say(context, 'Revoked: the next request with it is refused.');
  }),
};

/** The file of the data, and the file or the database of the accounts. */
interface ServiceFiles {
  readonly data: string;
  readonly accounts: string;
}

/** @returns for the accounts a file, or the address of a database */
function resolveServiceFiles(context: CliContext, { db, accounts }: FileFlags): ServiceFiles {
  const inFolder = (file: string) => resolve(context.workingFolder, file);
  const data = inFolder(
    db === undefined ? `${dataFolder(context)}/data.db` : pathGiven('--db', db),
  );
  const named =
    accounts === undefined
      ? accountsFileFor(data)
      : pathGiven('--accounts', accounts, readDatabaseName);
  if (isPostgresAddress(named)) return { data, accounts: completeAddress(named, context.env) };
  const path = inFolder(named);
  if (path === data)
    throw usageError(`--db and --accounts name one file, ${data}`, 'Name two files.');
  return { data, accounts: path };
}

async function accountsOpener(
  { clock }: CliContext,
  { accounts }: ServiceFiles,
): Promise<ServiceAccounts> {
  if (isPostgresAddress(accounts)) return await openPostgresAccounts(accounts, clock);
  const opened = openAccounts(makeFolder(accounts));
  return sqliteAccounts(opened, clock, () => void opened.close());
}

function makeFolder(file: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return file;
}

/** A misspelled name must be an error, not an empty file with an empty list of accounts. */
function refuseNoAccounts({ data, accounts }: ServiceFiles, flags: FileFlags): void {
  if (isPostgresAddress(accounts)) return;
  if (flags.accounts !== undefined) refuseMissing(accounts, '--accounts');
  else if (flags.db !== undefined && !existsSync(accounts)) refuseMissing(data, '--db');
}

async function startCommand(
  context: CliContext,
  flags: Flags<'service start'>,
): Promise<undefined> {
  const port = flags.port ?? DEFAULT_PORT;
  const files = resolveServiceFiles(context, flags);
  const layers = namesIn(flags.layers ?? '');
  declareSold(context, layers);
  if (flags.db !== undefined) refuseMissing(files.data, '--db');
  if (flags.accounts !== undefined) refuseNoAccounts(files, flags);
  await using accounts = await accountsOpener(context, files);
  using data = openDataReadOnly(makeFolder(files.data));
  const { topics, unavailable, withoutRecords, sample } = readingData(files.data, () =>
    describeData(data),
  );
  const onError = (error: unknown) => {
    const todo =
      error instanceof PerilbookError
        ? `\n${hintLine(error, colorFor(context, context.stderr))}`
        : '';
    say(context, `perilbook service: ${error instanceof Error ? error.message : error}${todo}`);
  };
  await using service = await startService({ data, accounts, port, onError });
  const accountsAt = shownAddress(files.accounts);
  say(
    context,
    `perilbook service: ${service.url}, data in ${files.data}, accounts in ${accountsAt}`,
  );
  if (sample) say(context, 'Sample data: made up, not for decisions.');
  say(context, `${counted(topics.length, 'topic')} can be answered.`);
  if (layers.length > 0) say(context, `Sold besides, a credit a call: ${layers.join(' ')}`);
  if (unavailable.length > 0) {
    const how =
      'perilbook data shows how to get them; perilbook data load sample fills all with sample data';
    say(context, `Unavailable: ${unavailable.map(({ topic }) => topic).join(' ')} (${how})`);
  }
  if (withoutRecords.length > 0) {
    const lacking = withoutRecords.map(({ topic, missing }) => `${topic} (${missing.join(', ')})`);
    say(context, `Answered without the records that are not loaded: ${lacking.join('; ')}`);
  }
  if (!context.interrupt.aborted) await once(context.interrupt, 'abort');
}

function formatRate({ overageRate }: Subscription): string {
  if (overageRate === null) return ', and no rate is agreed for them (--overage-rate)';
  return ` and billed at $${overageRate} a credit`;
}

/** Accounts with what they owe, one after the other. */
async function withStatements(accounts: ServiceAccounts, listed: readonly ServiceAccount[]) {
  const listing = [];
  for (const account of listed)
    listing.push({ ...account, periods: await accounts.statement(account) });
  return listing;
}

function parseDay(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const day = Date.parse(text);
  if (!Number.isNaN(day)) return day;
  throw usageError(`--${name} ${text} is not a day`, 'Write it like 2026-01-31.');
}

/** When a key stops working, or stopped; '' if nothing ends it. */
function lastTime({
  expiresAt,
  retiresAt,
  revokedAt,
}: Pick<KeyInfo, 'expiresAt' | 'retiresAt' | 'revokedAt'>): string {
  const ends = [expiresAt, retiresAt, revokedAt].filter((end) => end !== null);
  return ends.length === 0 ? '' : dateTime(Math.min(...ends));
}

function showOnce(context: CliContext, { id, key }: NewKey): void {
  say(context, `Key ${id}. It is shown once; only its hash is kept.`);
  printData(context, key);
}

/** `all` are the topics of the contract and flood zones: a layer is named. */
function parseScopes({ scopes }: Flags<'service key create'>): string[] {
  const names = namesIn(scopes);
  if (!names.includes('all')) return names;
  return ['bundle', ...TOPIC_SLUGS, ...names.filter((name) => name !== 'all')];
}

const namesIn = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);

const FIGURES = {
  creditsPerMonth: 'credits-per-month',
  creditsPerMinute: 'credits-per-minute',
  overageRate: 'overage-rate',
} as const;

type TermsFlags = Flags<'service account create'> | Flags<'service account change'>;

/** The figures of a custom subscription that are given; undefined if none is. */
function parseFigures(flags: TermsFlags): AccountChange['figures'] {
  const given = Object.entries(FIGURES).filter(([, figure]) => flags[figure] !== undefined);
  return given.length === 0
    ? undefined
    : Object.fromEntries(given.map(([name, figure]) => [name, flags[figure]]));
}

/** The custom subscription of a new account; undefined if no figure is given. @throws USAGE if a limit is missing */
function parseCustomSubscription(flags: TermsFlags): Subscription | undefined {
  const figures = parseFigures(flags);
  if (figures === undefined) return undefined;
  const { creditsPerMonth, creditsPerMinute, overageRate } = figures;
  if (creditsPerMonth !== undefined && creditsPerMinute !== undefined) {
    return customSubscription(creditsPerMonth, creditsPerMinute, overageRate);
  }
  const hint = 'Give both; starter and professional have their own figures.';
  throw usageError(
    'A custom subscription needs both --credits-per-month and --credits-per-minute',
    hint,
  );
}

function parseOverages(flags: TermsFlags): boolean | undefined {
  return flags.overages ? true : flags['no-overages'] ? false : undefined;
}
