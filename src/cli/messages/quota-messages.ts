import { counted, dateTime, grouped, isoTime } from '../../base/format-numbers.ts';
import { UNLIMITED } from '../../job/account-settings.ts';
import { plainCsv } from '../../rows/csv/field-bytes.ts';
import type { AccountState } from '../../run/frame/account-state.ts';
import {
  IN_LATER_PERIODS,
  quotaAdvice,
  resetText,
  subscriptionText,
} from '../../run/plan/notices.ts';
import { total } from '../../store/ledger/admission.ts';
import type { Correction, StatementBy, StatementRow } from '../../store/ledger/port.ts';
import type { ChargesJson, QuotaJson, StatementLineJson } from '../json/ledger-json.ts';
import { listed, table } from './format.ts';

export interface Quota {
  readonly state: AccountState;
  /** Without a known subscription, allowance, left and overage are not printed. */
  readonly hasSubscription: boolean;
  /** Calls of this period that ended without a charge. */
  readonly freeCalls: number;
}

/** What `quota --json` prints of an account. */
export function quotaJson({ state, hasSubscription, freeCalls }: Quota): QuotaJson {
  const { subscription, reserve, name, isAssumed = false } = state.account;
  const { period, spending, available } = state;
  const { correction } = spending;
  return {
    account: name,
    subscription: hasSubscription ? subscription.name : null,
    subscription_assumed: hasSubscription && isAssumed,
    period_start: isoTime(period.start)!,
    resets_on: isoTime(period.end)!,
    allowance: hasSubscription ? subscription.creditsPerMonth : null,
    charged: spending.charged,
    free_calls: freeCalls,
    unknown: spending.unknown,
    in_flight: spending.open,
    ...(spending.later ? { counted_later: spending.later } : {}),
    correction: correction
      ? { spent_elsewhere: correction.elsewhere, at: isoTime(correction.at)! }
      : null,
    reserved: reserve,
    left: hasSubscription ? available : null,
    overage: hasSubscription ? overageOf(state) : null,
    exhausted_at: isoTime(spending.exhaustedAt),
    exhausted_left: spending.exhaustedLeft ?? null,
  };
}

/** The period as text; reasons that prevent buying come last. */
export function quotaMessages({ state, hasSubscription, freeCalls }: Quota): string[] {
  if (state.account.subscription === UNLIMITED)
    return [
      'The sample charges nothing and has no quota. --subscription starter shows what one does.',
    ];
  const { subscription, reserve, name } = state.account;
  const { period, spending, available } = state;
  const overage = hasSubscription ? overageOf(state) : 0;
  const pairs: (readonly [string, string])[] = [
    ['account', hasSubscription ? `${name} (${subscriptionText(state.account)})` : name],
    ['period', `${dateTime(period.start)} to ${dateTime(period.end)}`],
    [
      'allowance',
      hasSubscription ? counted(subscription.creditsPerMonth, 'credit') : UNKNOWN_ALLOWANCE,
    ],
    ['charged', grouped(spending.charged)],
    ['free', counted(freeCalls, 'call')],
    [
      'unknown',
      `${grouped(spending.unknown)}${spending.unknown > 0 ? ' (calls without an answer, counted as spent)' : ''}`,
    ],
    ['in flight', grouped(spending.open)],
  ];
  if (spending.later) pairs.push(['later', `${grouped(spending.later)} (${IN_LATER_PERIODS})`]);
  if (spending.correction) pairs.push(['correction', correctionMessage(spending.correction)]);
  pairs.push(['reserved', grouped(reserve)]);
  if (hasSubscription) pairs.push(['left', `${counted(available, 'credit')}, by this store`]);
  if (overage > 0) {
    const { overageRate } = subscription;
    const dollars = overageRate === null ? '' : `, $${(overage * overageRate).toFixed(2)}`;
    pairs.push(['overage', `${counted(overage, 'credit')} beyond the allowance${dollars}`]);
  }
  return [
    ...listed(pairs),
    ...exhaustedMessage(state),
    `Resets on ${resetText(state.account, period.end)}.`,
  ];
}

const UNKNOWN_ALLOWANCE = 'unknown: no run has used this account. Give a job or --subscription';

/** Credits that all programs spent beyond the allowance. Where the job allows no overages, those that were charged for certain: an earlier
 * run allowed them, or the provider did. */
function overageOf({ account: { subscription, overageCredits }, spending }: AccountState): number {
  const spent = overageCredits === 0 ? spending.charged : total(spending);
  return Math.max(0, spent + (spending.correction?.elsewhere ?? 0) - subscription.creditsPerMonth);
}

function correctionMessage({ elsewhere, at }: Correction): string {
  const difference =
    elsewhere < 0
      ? `${grouped(-elsewhere)} fewer than this ledger`
      : `${grouped(elsewhere)} more than this ledger`;
  return `on ${dateTime(at)} the provider had counted ${difference}`;
}

/** The service's refusal counts more than the ledger's sum, by which the calls fit. */
function exhaustedMessage({
  account,
  spending: { exhaustedAt, exhaustedLeft },
  period,
  isUsedUp,
}: AccountState): string[] {
  if (exhaustedAt !== null && !isUsedUp)
    return [
      `The service called the quota used up on ${dateTime(exhaustedAt)}, under other terms: the next run asks once.`,
    ];
  // A refusal is written with what was left at its claim.
  if (exhaustedAt === null || exhaustedLeft === undefined) return [];
  const when = `The service reported on ${dateTime(exhaustedAt)} that the quota is used up`;
  return [
    `${when}, while this ledger had ${counted(exhaustedLeft, 'credit')} left. Other programs spend them too, or the subscription is smaller than the job says.`,
    `Nothing is bought until ${dateTime(period.end)}. ${quotaAdvice(account)}`,
    'If other programs spend in every period, set reserve in the job to the credits that they need.',
  ];
}

/** What `quota --by … --json` prints. */
export function statementJson(by: StatementBy, rows: readonly StatementRow[]): StatementLineJson[] {
  return rows.map((row) => ({ ...formatSpender(by, row), ...figuresOf(row) }));
}

/** The rows as `--csv` prints them: the same names as in JSON, nested ones joined. */
export function statementCsv(by: StatementBy, rows: readonly StatementRow[]): string {
  const head = by === 'run' ? ['run', 'job'] : [by];
  const figures = [
    ...['calls_charged', 'calls_free', 'calls_unknown', 'calls_in_flight'],
    ...['credits_charged', 'credits_unknown', 'credits_in_flight'],
  ];
  const lines = rows.map((row) => {
    const { calls, credits } = figuresOf(row);
    return [
      ...Object.values(formatSpender(by, row)),
      ...Object.values(calls),
      ...Object.values(credits),
    ];
  });
  return plainCsv([...head, ...figures], lines);
}

/** The rows for people, with a total. */
export function statementMessages(by: StatementBy, rows: readonly StatementRow[]): string[] {
  if (rows.length === 0) return ['No calls in this period.'];
  const head = [
    ...(by === 'run' ? ['run', 'job'] : [by]),
    ...['charged', 'unknown', 'in flight', 'calls charged', 'free', 'unknown', 'in flight'],
  ];
  const numbers = ({ calls, credits }: Pick<StatementRow, 'calls' | 'credits'>) => [
    ...[credits.charged, credits.unknown, credits.inFlight],
    ...[calls.charged, calls.free, calls.unknown, calls.inFlight],
  ];
  const lines = rows.map((row) => [
    ...Object.values(formatSpender(by, row)).map(String),
    ...numbers(row).map(grouped),
  ]);
  if (rows.length > 1) {
    const sums = rows
      .map(numbers)
      .reduce((sum, row) => sum.map((value, index) => value + row[index]!));
    lines.push([...(by === 'run' ? ['', 'all'] : ['all']), ...sums.map(grouped)]);
  }
  return table(head, lines, '');
}

function formatSpender(
  by: StatementBy,
  { name, job }: StatementRow,
): Omit<StatementLineJson, keyof ChargesJson> & { readonly job?: string | number } {
  return by === 'run' ? { run: name, job: job ?? '' } : { [by]: name };
}

function figuresOf({ calls, credits }: StatementRow): ChargesJson {
  return {
    calls: {
      charged: calls.charged,
      free: calls.free,
      unknown: calls.unknown,
      in_flight: calls.inFlight,
    },
    credits: { charged: credits.charged, unknown: credits.unknown, in_flight: credits.inFlight },
  };
}
