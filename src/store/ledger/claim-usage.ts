import { CLOCKS_APART_MS } from '../../contract/billing-period.ts';
import {
  readRows,
  readTogether,
  type SqlDatabase,
  type SqlReading,
  type SqlStatement,
  type SqlWork,
  statement,
  together,
} from '../../sql/sql-work.ts';
import { COUNTED_MS, type RecentCall, RecentCalls, total, type Usage } from './admission.ts';
import type { ClaimLimits, Correction, PeriodSpending, Spending } from './port.ts';

interface StoredPeriod extends Spending {
  readonly start: number;
  readonly exhaustedAt: number | null;
  readonly exhaustedLeft: number | null;
  readonly exhaustedLimit: number | null;
  readonly exhaustedKey: string | null;
  readonly elsewhere: number | null;
  readonly correctedAt: number | null;
}

type Changing<T> = { -readonly [Key in keyof T]: T[Key] };

const NOTHING_SPENT: Spending = { charged: 0, unknown: 0, open: 0 };
const NEW_PERIOD = {
  ...NOTHING_SPENT,
  exhaustedAt: null,
  exhaustedLeft: null,
  exhaustedLimit: null,
  exhaustedKey: null,
  elsewhere: null,
  correctedAt: null,
};

/** An account's spending in the period that begins at `start`, and in later ones. */
export function* periodSpendingOf(account: string, start: number): SqlWork<PeriodSpending> {
  const [periods, around] = yield* readTogether(
    readRows(periodsOf(account)),
    otherDays(account, start),
  );
  return sumSpending(periods, start, around);
}

function periodsOf(account: string): SqlStatement<StoredPeriod> {
  return statement(
    `SELECT period_start AS start, charged, unknown, open, exhausted_at AS "exhaustedAt", exhausted_left AS "exhaustedLeft",
       exhausted_limit AS "exhaustedLimit", exhausted_key AS "exhaustedKey",
       elsewhere, corrected_at AS "correctedAt"
     FROM periods WHERE account = $1`,
    [account],
  );
}

const LONGEST_PERIOD_MS = 31 * 24 * 60 * 60_000;

/** Credits of calls of the earlier periods that the query around goes through. Each period's are asked for by themselves: for a join, SQLite
 * read all calls of these periods for each claim, half a million in 0.2 s. */
const sumOfCalls = (condition: string) =>
  `CAST(coalesce(sum((SELECT sum(credits) FROM calls
     WHERE account = periods.account AND period_start = periods.period_start AND credits > 0 AND ${condition})), 0) AS bigint)`;

const MOVED_COLUMNS = Object.entries({ charged: 'charged', unknown: 'unknown', sent: 'open' }).map(
  ([charge, name]) => `${sumOfCalls(`claimed_at >= $2 AND charge = '${charge}'`)} AS ${name}`,
);
const MOVED = `SELECT ${MOVED_COLUMNS.join(', ')} FROM periods
  WHERE account = $1 AND period_start < $2 AND period_start > $2 - ${LONGEST_PERIOD_MS}`;

/** For each earlier period with a figure of the provider's that was recorded since: its credits before, which are in that figure too. */
const IN_FIGURES = `SELECT recorded.period_start AS start,
    (SELECT ${sumOfCalls('claimed_at >= recorded.period_start AND claimed_at < $2')} FROM periods
     WHERE periods.account = recorded.account
       AND periods.period_start < $2 AND periods.period_start > recorded.period_start - ${LONGEST_PERIOD_MS}) AS credits
  FROM periods recorded WHERE account = $1 AND period_start < $2 AND corrected_at >= $2`;

/** What the ledger has under other anniversary days, which the job named before. */
interface OtherDays {
  /** The calls since `start` that it counts in an earlier period. */
  readonly moved: Spending;
  /** The credits before `start` that are in the figure of an earlier period, by its start. */
  readonly inFigures: ReadonlyMap<number, number>;
}

/** Each claim reads these sums, so they have an index of their own. While the day stays the same, there are no such calls. */
function otherDays(account: string, start: number): SqlReading<OtherDays> {
  const reading = together(
    readRows(statement<Spending>(MOVED, [account, start])),
    readRows(statement<{ start: number; credits: number }>(IN_FIGURES, [account, start])),
  );
  return {
    statements: reading.statements,
    take(rows) {
      const [[moved], figures] = reading.take(rows);
      const inFigures = new Map(figures.map((figure) => [figure.start, figure.credits]));
      return { moved: moved!, inFigures };
    },
  };
}

function sumSpending(
  periods: readonly StoredPeriod[],
  start: number,
  { moved, inFigures }: OtherDays,
): PeriodSpending {
  const row = periods.find((period) => period.start === start) ?? NEW_PERIOD;
  const { exhaustedAt, exhaustedLeft, exhaustedLimit, exhaustedKey } = row;
  const later = periods
    .filter((period) => period.start > start)
    .reduce((sum, period) => sum + total(period), 0);
  const correction = correctionOf(periods, start, inFigures);
  return {
    charged: row.charged + moved.charged,
    unknown: row.unknown + moved.unknown,
    open: row.open + moved.open,
    exhaustedAt,
    ...(exhaustedLeft === null ? {} : { exhaustedLeft }),
    ...(exhaustedLimit === null || exhaustedKey === null
      ? {}
      : { exhaustedTerms: { limit: exhaustedLimit, key: exhaustedKey } }),
    ...(correction === null ? {} : { correction }),
    ...(later === 0 ? {} : { later }),
  };
}

/** What the provider counted beyond the ledger. The figure was one of the period in which it was recorded, also where the job named another
 * anniversary day at that time: without that, to name the right day took it back. The newest counts; one of a later period, which a clock
 * that was ahead may have recorded, only if it is more. */
function correctionOf(
  periods: readonly StoredPeriod[],
  start: number,
  inFigures: OtherDays['inFigures'],
): Correction | null {
  const recorded = periods.flatMap(({ start: of, elsewhere, correctedAt: at }) => {
    if (elsewhere === null || at === null) return [];
    // Until then a clock may still have been before the anniversary.
    if (of !== start && at < start + CLOCKS_APART_MS) return [];
    return [{ elsewhere: elsewhere + (inFigures.get(of) ?? 0), at, isLater: of > start }];
  });
  const newest = recorded
    .toSorted((one, other) => one.at - other.at)
    .reduce<(typeof recorded)[number] | null>(
      (best, next) =>
        next.isLater && best !== null && best.elsewhere > next.elsewhere ? best : next,
      null,
    );
  return newest && { elsewhere: newest.elsewhere, at: newest.at };
}

/** Reads the sums of an account for decisions on claims, under the lock of the account.
 * @param windows the calls of the last minute by account; only new ones are read */
export function sumUsage(
  { dialect }: SqlDatabase,
  windows: Map<string, RecentCalls>,
  account: string,
  terms: readonly ClaimLimits[],
): SqlReading<ClaimUsage> {
  const starts = [...new Set(terms.map(startOf))];
  const around = together(...starts.map((start) => otherDays(account, start)));
  const runs = JSON.stringify([...new Set(terms.map(({ run }) => run))]);
  // The account's time is not before its newest settlement, so no older call is within the minute.
  const since = dialect.greatest('$2', '(SELECT latest FROM accounts WHERE account = $1) - $3');
  return {
    statements: [
      periodsOf(account),
      statement(
        `SELECT id, charged, unknown, open FROM runs WHERE id IN ${dialect.list('$1', 'bigint')}`,
        [runs],
      ),
      statement(
        `SELECT run, credits, settled_at AS "settledAt" FROM calls
         WHERE account = $1 AND credits > 0 AND settled_at >= ${since} ORDER BY settled_at`,
        [account, windows.get(account)?.latest ?? 0, COUNTED_MS],
      ),
      ...around.statements,
    ],
    take([periods, runs, newer, ...others]) {
      const recent = windows.get(account) ?? new RecentCalls();
      recent.add(newer as RecentCall[]);
      windows.set(account, recent);
      return claimUsage(
        recent,
        periods as StoredPeriod[],
        runs as ({ id: number } & Spending)[],
        new Map(around.take(others).map((days, at) => [starts[at]!, days])),
      );
    },
  };
}

/** Where the period begins whose credits count for a claim. */
function startOf({ countedSince, period }: ClaimLimits): number {
  return countedSince ?? period.start;
}

/** The sums of an account, with the calls that a transaction grants. */
export interface ClaimUsage {
  /** @param since calls that settled then or before are outside the minute */
  of(claim: ClaimLimits, since: number): Usage;
  /** Adds the credits of a call that is granted. */
  spend(claim: ClaimLimits, credits: number): void;
}

/** @param others by the start of a period */
function claimUsage(
  recent: RecentCalls,
  periods: Changing<StoredPeriod>[],
  stored: readonly ({ readonly id: number } & Changing<Spending>)[],
  others: ReadonlyMap<number, OtherDays>,
): ClaimUsage {
  const runs = new Map(stored.map((run) => [run.id, run]));
  return {
    of(claim, since) {
      recent.forget(since);
      const start = startOf(claim);
      return {
        period: sumSpending(periods, start, others.get(start)!),
        run: { ...runs.get(claim.run)! },
        inFlight: periods.reduce((sum, { open }) => sum + open, 0),
        recent,
      };
    },
    spend({ run, period: { start } }, credits) {
      let period = periods.find((stored) => stored.start === start);
      if (!period) {
        period = { ...NEW_PERIOD, start };
        periods.push(period);
      }
      period.open += credits;
      runs.get(run)!.open += credits;
    },
  };
}
