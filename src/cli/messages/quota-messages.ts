import { counted, dateTime, grouped } from '../../format-numbers.ts';
import type { AccountState } from '../../job/planning/account-state.ts';
import type { JobAccount } from '../../job/settings/account-settings.ts';
import { isoTime } from '../../job/summary.ts';
import { total } from '../../store/admission.ts';
import type { Correction } from '../../store/port.ts';
import { listed } from './format.ts';

/** The account's period, as the head of a statement. */
export interface Quota {
  readonly state: AccountState;
  /** Whether the subscription is known; what follows from it is not said otherwise. */
  readonly isKnown: boolean;
  /** Calls of this period that ended without a charge. */
  readonly freeCalls: number;
}

/** The period as `--json` prints it. */
export function quotaJson({ state, isKnown, freeCalls }: Quota): Record<string, unknown> {
  const { subscription, reserve, name } = state.account;
  const { period, spending, available, elsewhere } = state;
  const { correction } = spending;
  return {
    account: name,
    subscription: isKnown ? subscription.name : null,
    period_start: isoTime(period.start),
    resets_on: isoTime(period.end),
    allowance: isKnown ? subscription.creditsPerMonth : null,
    charged: spending.charged,
    free_calls: freeCalls,
    unknown: spending.unknown,
    in_flight: spending.open,
    spent_elsewhere: elsewhere,
    ...(spending.later ? { counted_later: spending.later } : {}),
    correction: correction ? { spent_elsewhere: correction.elsewhere, at: isoTime(correction.at) } : null,
    reserved: reserve,
    left: isKnown ? available : null,
    overage: isKnown ? overageOf(state) : null,
    exhausted_at: isoTime(spending.exhaustedAt),
    exhausted_left: spending.exhaustedLeft ?? null,
  };
}

/** The period for people; what stands in the way of going on comes last. */
export function quotaMessages({ state, isKnown, freeCalls }: Quota): string[] {
  const { subscription, reserve, name } = state.account;
  const { period, spending, available, elsewhere } = state;
  const overage = isKnown ? overageOf(state) : 0;
  const pairs: (readonly [string, string])[] = [
    ['account', isKnown ? `${name} (${subscription.name})` : name],
    ['period', `${dateTime(period.start)} to ${dateTime(period.end)}`],
    ['allowance', isKnown ? counted(subscription.creditsPerMonth, 'credit') : UNKNOWN_ALLOWANCE],
    ['charged', grouped(spending.charged)],
    ['free', counted(freeCalls, 'call')],
    [
      'unknown',
      `${grouped(spending.unknown)}${spending.unknown > 0 ? ' (calls without an answer; counted as spent)' : ''}`,
    ],
    ['in flight', grouped(spending.open)],
    ['spent elsewhere', grouped(elsewhere)],
  ];
  if (spending.later)
    pairs.push(['later', `${grouped(spending.later)} (counted in later periods, by a clock that was ahead)`]);
  if (spending.correction) pairs.push(['correction', correctionMessage(spending.correction)]);
  pairs.push(['reserved', grouped(reserve)]);
  if (isKnown) pairs.push(['left', counted(available, 'credit')]);
  if (overage > 0) pairs.push(['overage', overageMessage(state.account, overage)]);
  return [...listed(pairs), ...exhaustedMessage(state), `Resets on ${dateTime(period.end)}.`];
}

const UNKNOWN_ALLOWANCE = 'unknown: no run of this version used the account; name a job or --subscription';

/** Credits beyond the allowance, by whomever they were spent; none where overages are off and nothing is billed. */
function overageOf({ account: { subscription, overageCredits }, spending, elsewhere }: AccountState): number {
  if (overageCredits === 0) return 0;
  return Math.max(0, total(spending) + elsewhere - subscription.creditsPerMonth);
}

function overageMessage({ subscription: { overageRate } }: JobAccount, credits: number): string {
  const dollars = overageRate === null ? '' : `, $${(credits * overageRate).toFixed(2)}`;
  return `${counted(credits, 'credit')} beyond the allowance${dollars}`;
}

function correctionMessage({ elsewhere, at }: Correction): string {
  const difference =
    elsewhere < 0 ? `${grouped(-elsewhere)} fewer than this ledger` : `${grouped(elsewhere)} more than this ledger`;
  return `on ${dateTime(at)} the provider counted ${difference}`;
}

/** The service is believed before the ledger: every call that it refused was one that the ledger thought would fit. */
function exhaustedMessage({ spending: { exhaustedAt, exhaustedLeft }, period }: AccountState): string[] {
  if (exhaustedAt === null) return [];
  const when = `The service said on ${dateTime(exhaustedAt)} that the quota is used up`;
  if (exhaustedLeft === undefined) return [`${when}: nothing is left until it resets.`];
  return [
    `${when}, when by this ledger ${counted(exhaustedLeft, 'credit')} were left: others spend of it, or the subscription is smaller than the job says.`,
    `Nothing is bought until ${dateTime(period.end)}. If the provider's page shows credits: perilbook quota set JOB --left N.`,
    'What others spend in every period belongs in the job: spent_elsewhere.',
  ];
}
