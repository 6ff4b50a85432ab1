import { customSubscription, SUBSCRIPTIONS, type Subscription } from '../../contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../../contract/topics.ts';
import { PerilbookError } from '../../errors.ts';
import { counted, dateTime, grouped } from '../../format-numbers.ts';
import { didYouMean } from '../../nearest-name.ts';
import { durationMs } from '../../run/settings/duration.ts';
import type { NewKey } from '../../service/accounts/key-life.ts';
import type { PeriodStatement } from '../../service/accounts/period-statement.ts';
import type { ServiceAccounts } from '../../service/accounts/port.ts';
import type { ServiceAccount } from '../../service/accounts/service-account.ts';
import type { Flags } from '../command.ts';
import { type CliContext, print, printData, say, sayJson } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { table } from '../messages/format.ts';

/** `perilbook service account create`. */
export async function createAccount(context: CliContext, accounts: ServiceAccounts, flags: Flags): Promise<number> {
  const signedUpAt = dayOf(flags, 'signed-up');
  const account = await accounts.createAccount({
    name: needed(flags, 'account'),
    subscription: subscriptionOf(flags) ?? SUBSCRIPTIONS.starter,
    overages: overagesOf(flags) ?? false,
    ...(signedUpAt === undefined ? {} : { signedUpAt }),
  });
  say(context, `Made the account ${account.name} (${account.subscription.name}).`);
  return EXIT.complete;
}

/** The plan of an account is upgraded, or its overages are turned on or off: by the contract, the account manager does this. */
export async function changeAccount(context: CliContext, accounts: ServiceAccounts, flags: Flags): Promise<number> {
  const name = needed(flags, 'account');
  const [subscription, overages] = [subscriptionOf(flags), overagesOf(flags)];
  if (subscription === undefined && overages === undefined) {
    throw new PerilbookError(
      'USAGE',
      `There is nothing to change of account "${name}"`,
      'Give --subscription, the figures of a custom one, --overages or --no-overages.',
    );
  }
  const { subscription: terms, ...account } = await accounts.changeAccount(name, {
    ...(subscription && { subscription }),
    ...(overages !== undefined && { overages }),
  });
  const figures = `${grouped(terms.creditsPerMonth)} credits a month, ${grouped(terms.creditsPerMinute)} a minute`;
  const served = account.overages ? 'calls beyond them are served and billed' : 'calls beyond them are refused';
  say(
    context,
    `Changed the account ${account.name} (${terms.name}): ${figures}; ${served}. This works from the next call on.`,
  );
  return EXIT.complete;
}

/** `perilbook service account list`. */
export async function listAccounts(context: CliContext, accounts: ServiceAccounts, flags: Flags): Promise<number> {
  const listed = await withStatements(accounts, await accounts.listAccounts());
  if (flags.json) {
    sayJson(context, listed);
    return EXIT.complete;
  }
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
  print(context, table(head, rows, '').join('\n'));
  return EXIT.complete;
}

/** Accounts with what they owe, one after the other. */
async function withStatements(
  accounts: ServiceAccounts,
  listed: readonly ServiceAccount[],
): Promise<(ServiceAccount & { readonly periods: readonly PeriodStatement[] })[]> {
  const found = [];
  for (const account of listed) found.push({ ...account, periods: await accounts.statement(account) });
  return found;
}

/** What each account, or one, owes by billing period: all periods, or the one that holds a day. */
export async function accountStatement(context: CliContext, accounts: ServiceAccounts, flags: Flags): Promise<number> {
  const name = flags.account as string | undefined;
  const day = dayOf(flags, 'period');
  const chosen = name === undefined ? await accounts.listAccounts() : [await accounts.findAccount(name)];
  const lines = (await withStatements(accounts, chosen)).flatMap((account) =>
    account.periods
      .filter(({ periodStart, periodEnd }) => day === undefined || (periodStart <= day && day < periodEnd))
      .map((period) => ({ account: account.name, ...period })),
  );
  if (flags.json) {
    sayJson(context, lines);
    return EXIT.complete;
  }
  const rows = lines.map((line) => [
    line.account,
    dayText(line.periodStart),
    dayText(line.periodEnd),
    line.isClosed ? 'closed' : 'open',
    grouped(line.allowance),
    grouped(line.creditsWithinAllowance),
    grouped(line.overageCredits),
    line.overageRate === null ? 'not agreed' : String(line.overageRate),
    line.overageDollars === null ? 'not agreed' : line.overageDollars.toFixed(2),
  ]);
  const head = ['account', 'from', 'until', 'period', 'allowance', 'within it', 'overage', '$ a credit', 'dollars'];
  print(context, table(head, rows, '').join('\n'));
  return EXIT.complete;
}

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function dayOf(flags: Flags, name: string): number | undefined {
  const text = flags[name] as string | undefined;
  if (text === undefined) return undefined;
  const day = Date.parse(text);
  if (!Number.isNaN(day)) return day;
  throw new PerilbookError('USAGE', `--${name} ${text} is not a day`, 'Write it like 2026-01-31.');
}

/** `perilbook service key create`. The new key is written to stdout, once. */
export async function createKey(context: CliContext, accounts: ServiceAccounts, flags: Flags): Promise<number> {
  const life = flags['expires-in'] as string | undefined;
  const ms = life === undefined ? undefined : durationMs(life);
  if (ms === null) throw new PerilbookError('USAGE', `--expires-in ${life} is not a duration`, 'Write it like 90d.');
  showOnce(context, await accounts.createKey(needed(flags, 'account'), scopesOf(flags), ms ?? null));
  return EXIT.complete;
}

/** `perilbook service key rotate`. The new key is written to stdout, once. */
export async function rotateKey(context: CliContext, accounts: ServiceAccounts, flags: Flags): Promise<number> {
  const grace = (flags.grace as number | undefined) ?? 0;
  showOnce(context, await accounts.rotateKey(keyNumber(flags), grace));
  say(context, `The old key works for ${counted(grace, 'more second')}.`);
  return EXIT.complete;
}

/** `perilbook service key revoke`. */
export async function revokeKey(context: CliContext, accounts: ServiceAccounts, flags: Flags): Promise<number> {
  await accounts.revokeKey(keyNumber(flags));
  say(context, 'Revoked: the next request with it is refused.');
  return EXIT.complete;
}

/** `perilbook service key list`. */
export async function listKeys(context: CliContext, accounts: ServiceAccounts, flags: Flags): Promise<number> {
  const keys = await accounts.listKeys(flags.account as string | undefined);
  if (flags.json) {
    sayJson(context, keys);
    return EXIT.complete;
  }
  const rows = keys.map(({ id, account, state, scopes, expiresAt }) => [
    String(id),
    account,
    state,
    expiresAt === null ? '' : dateTime(expiresAt),
    scopes.length > 4 ? `${scopes.slice(0, 3).join(' ')} and ${scopes.length - 3} more` : scopes.join(' '),
  ]);
  print(context, table(['key', 'account', 'state', 'expires', 'scopes'], rows, '').join('\n'));
  return EXIT.complete;
}

function showOnce(context: CliContext, { id, key }: NewKey): void {
  say(context, `Key ${id}. It is shown once; only its hash is kept.`);
  printData(context, key);
}

function scopesOf(flags: Flags): string[] {
  const names = needed(flags, 'scopes')
    .split(',')
    .map((name) => name.trim());
  return names.includes('all') ? ['bundle', ...TOPIC_SLUGS] : names;
}

const FIGURES = ['credits-per-month', 'credits-per-minute', 'overage-rate'] as const;

/** The subscription that is named, or that has the figures which are given; undefined without either. */
function subscriptionOf(flags: Flags): Subscription | undefined {
  const name = flags.subscription as string | undefined;
  const [month, minute, rate] = FIGURES.map((figure) => flags[figure] as number | undefined);
  const given = FIGURES.find((figure) => flags[figure] !== undefined);
  if (given === undefined) return name === undefined ? undefined : soldSubscription(name);
  if (name !== undefined) {
    throw new PerilbookError(
      'USAGE',
      `--subscription ${name} has figures of its own, and --${given} is given too`,
      'Give the name or the figures.',
    );
  }
  if (month !== undefined && minute !== undefined) return customSubscription(month, minute, rate ?? null);
  throw new PerilbookError(
    'USAGE',
    `--${given} is for a custom subscription, which needs both --credits-per-month and --credits-per-minute`,
    'Give both; starter and professional have their own figures.',
  );
}

function soldSubscription(name: string): Subscription {
  if (name === 'starter' || name === 'professional') return SUBSCRIPTIONS[name];
  throw new PerilbookError(
    'USAGE',
    `There is no subscription ${name}${didYouMean(name, Object.keys(SUBSCRIPTIONS))}`,
    'Give starter or professional, or your own figures with --credits-per-month and --credits-per-minute.',
  );
}

function overagesOf(flags: Flags): boolean | undefined {
  if (flags.overages && flags['no-overages']) {
    throw new PerilbookError('USAGE', '--overages and --no-overages are both given', 'Give one of them.');
  }
  return flags.overages ? true : flags['no-overages'] ? false : undefined;
}

function keyNumber(flags: Flags): number {
  const number = flags.key as number | undefined;
  if (number !== undefined) return number;
  throw new PerilbookError(
    'USAGE',
    '--key is missing',
    'Give the number of a key; perilbook service key list shows them.',
  );
}

function needed(flags: Flags, name: string): string {
  const value = flags[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new PerilbookError('USAGE', `--${name} is missing`, 'perilbook service --help shows the options.');
}
