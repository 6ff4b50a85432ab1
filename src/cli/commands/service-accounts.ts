import { counted, dateTime, grouped, isoDay } from '../../base/format-numbers.ts';
import { customSubscription, SUBSCRIPTIONS, type Subscription } from '../../contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../../contract/topics.ts';
import type { PeriodStatement } from '../../service/accounts/period-statement.ts';
import type { AccountChange, ServiceAccount } from '../../service/accounts/service-account.ts';
import type { ServiceAccounts } from '../../service/accounts/service-accounts.ts';
import type { KeyInfo, NewKey } from '../../service/accounts/service-keys.ts';
import { durationOption, usageError } from '../command.ts';
import type { Flags } from '../command-table.ts';
import { type CliContext, printData, printResult, say } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { table } from '../messages/format.ts';

/** An action on the accounts of a service. */
export type AccountsCommand<Flags> = (context: CliContext, accounts: ServiceAccounts, flags: Flags) => Promise<number>;

/** `perilbook service account create`. */
export const createAccount: AccountsCommand<Flags<'service account create'>> = async (context, accounts, flags) => {
  const signedUpAt = parseDay('signed-up', flags['signed-up']);
  const account = await accounts.createAccount({
    name: flags.account,
    subscription: parseCustomSubscription(flags) ?? SUBSCRIPTIONS[flags.subscription ?? 'starter'],
    overages: parseOverages(flags) ?? false,
    signedUpAt,
  });
  const day = new Date(account.signedUpAt).getUTCDate();
  const last = day > 28 ? ' (or its last)' : '';
  // Day 1 is the default of clients.
  const clients = day === 1 ? '' : `: clients need --anniversary-day ${day}`;
  say(
    context,
    `Made the account ${account.name} (${account.subscription.name}). Its billing periods begin on day ${day} of a month${last}${clients}.`,
  );
  return EXIT.complete;
};

/** Changes an account's subscription or its overages. By the contract, the account manager does this. */
export const changeAccount: AccountsCommand<Flags<'service account change'>> = async (context, accounts, flags) => {
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
  const beyond = account.overages ? `served${billed(terms)}` : 'refused';
  say(
    context,
    `Changed the account ${account.name} (${terms.name}): ${limits}; calls beyond them are ${beyond}. This works from the next call on.`,
  );
  return EXIT.complete;
};

function billed({ overageRate }: Subscription): string {
  if (overageRate === null) return ', and no rate is agreed for them (--overage-rate)';
  return ` and billed at $${overageRate} a credit`;
}

/** `perilbook service account list`. */
export const listAccounts: AccountsCommand<Flags<'service account list'>> = async (context, accounts, flags) => {
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
  const head = ['account', 'subscription', 'a month', 'a minute', 'charged', 'overages', 'overage credits'];
  return printResult(context, flags, listed, () => table(head, rows, ''));
};

/** Accounts with what they owe, one after the other. */
async function withStatements(
  accounts: ServiceAccounts,
  listed: readonly ServiceAccount[],
): Promise<(ServiceAccount & { readonly periods: readonly PeriodStatement[] })[]> {
  const listing = [];
  for (const account of listed) listing.push({ ...account, periods: await accounts.statement(account) });
  return listing;
}

/** What each account (or one) owes by billing period: for all periods, or the period with a given day. */
export const accountStatement: AccountsCommand<Flags<'service account statement'>> = async (
  context,
  accounts,
  flags,
) => {
  const name = flags.account;
  const day = parseDay('period', flags.period);
  const chosen = name === undefined ? await accounts.listAccounts() : [await accounts.findAccount(name)];
  const lines = (await withStatements(accounts, chosen)).flatMap((account) =>
    account.periods
      .filter(({ periodStart, periodEnd }) => day === undefined || (periodStart <= day && day < periodEnd))
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
  const head = ['account', 'from', 'until', 'period', 'allowance', 'within it', 'overage', '$ a credit', 'dollars'];
  return printResult(context, flags, lines, () => table(head, rows, ''));
};

function parseDay(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const day = Date.parse(text);
  if (!Number.isNaN(day)) return day;
  throw usageError(`--${name} ${text} is not a day`, 'Write it like 2026-01-31.');
}

/** `perilbook service key create`. The new key is written to stdout, once. */
export const createKey: AccountsCommand<Flags<'service key create'>> = async (context, accounts, flags) => {
  const life = durationOption('expires-in', flags['expires-in']);
  showOnce(context, await accounts.createKey(flags.account, parseScopes(flags), life ?? null));
  return EXIT.complete;
};

/** `perilbook service key rotate`. The new key is written to stdout, once. */
export const rotateKey: AccountsCommand<Flags<'service key rotate'>> = async (context, accounts, flags) => {
  const grace = flags.grace ?? 0;
  showOnce(context, await accounts.rotateKey(flags.key, grace));
  say(context, `The old key works for ${counted(grace, 'more second')}.`);
  return EXIT.complete;
};

/** `perilbook service key revoke`. */
export const revokeKey: AccountsCommand<Flags<'service key revoke'>> = async (context, accounts, flags) => {
  await accounts.revokeKey(flags.key);
  say(context, 'Revoked: the next request with it is refused.');
  return EXIT.complete;
};

/** `perilbook service key list`. */
export const listKeys: AccountsCommand<Flags<'service key list'>> = async (context, accounts, flags) => {
  const keys = await accounts.listKeys(flags.account);
  const rows = keys.map(({ id, account, state, scopes, ...times }) => [
    String(id),
    account,
    state,
    lastTime(times),
    scopes.length > 4 ? `${scopes.slice(0, 3).join(' ')} and ${scopes.length - 3} more` : scopes.join(' '),
  ]);
  return printResult(context, flags, keys, () => table(['key', 'account', 'state', 'works until', 'scopes'], rows, ''));
};

/** When a key stops working, or stopped; '' if nothing ends it. */
function lastTime({ expiresAt, retiresAt, revokedAt }: Pick<KeyInfo, 'expiresAt' | 'retiresAt' | 'revokedAt'>): string {
  const ends = [expiresAt, retiresAt, revokedAt].filter((end) => end !== null);
  return ends.length === 0 ? '' : dateTime(Math.min(...ends));
}

function showOnce(context: CliContext, { id, key }: NewKey): void {
  say(context, `Key ${id}. It is shown once; only its hash is kept.`);
  printData(context, key);
}

function parseScopes({ scopes }: Flags<'service key create'>): string[] {
  const names = scopes.split(',').map((name) => name.trim());
  return names.includes('all') ? ['bundle', ...TOPIC_SLUGS] : names;
}

const FIGURES = {
  creditsPerMonth: 'credits-per-month',
  creditsPerMinute: 'credits-per-minute',
  overageRate: 'overage-rate',
} as const;

/** The options of an account's terms. */
type TermsFlags = Flags<'service account create'> | Flags<'service account change'>;

/** The figures of a custom subscription that are given; undefined if none is. */
function parseFigures(flags: TermsFlags): AccountChange['figures'] {
  const given = Object.entries(FIGURES).filter(([, figure]) => flags[figure] !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given.map(([name, figure]) => [name, flags[figure]]));
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
  throw usageError('A custom subscription needs both --credits-per-month and --credits-per-minute', hint);
}

function parseOverages(flags: TermsFlags): boolean | undefined {
  return flags.overages ? true : flags['no-overages'] ? false : undefined;
}
