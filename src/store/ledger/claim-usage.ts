import { RATE_WINDOW_MS } from '../../contract/subscriptions.ts';
import {
  read,
  type SqlDatabase,
  type SqlReading,
  type SqlStatement,
  type SqlWork,
  statement,
} from '../../sql/sql-work.ts';
import { MINUTE_MARGIN_MS, type Usage } from './admission.ts';
import type { ClaimLimits, PeriodSpending, Spending } from './port.ts';
import { type RecentCall, RecentCalls } from './recent-calls.ts';

type StoredPeriod = PeriodRow & { readonly account: string; readonly start: number };
type Changing<T> = { -readonly [Key in keyof T]: T[Key] };

const PERIOD_COLUMNS = `account, period_start AS start, charged, unknown, open, exhausted_at AS "exhaustedAt",
  exhausted_left AS "exhaustedLeft", elsewhere, corrected_at AS "correctedAt"`;

/** An account's spending in the period that begins at `start`, and in later ones. */
export function* periodSpendingOf(account: string, start: number): SqlWork<PeriodSpending> {
  const [periods, [moved]] = yield* read(
    statement<StoredPeriod>(`SELECT ${PERIOD_COLUMNS} FROM periods WHERE account = $1`, [account]),
    movedInto(account, start),
  );
  return spendingOf(periods, start, moved!);
}

const LONGEST_PERIOD_MS = 31 * 24 * 60 * 60_000;

const MOVED_COLUMNS = Object.entries({ charged: 'charged', unknown: 'unknown', sent: 'open' }).map(
  ([charge, name]) => `coalesce(sum(calls.credits) FILTER (WHERE calls.charge = '${charge}'), 0) AS ${name}`,
);
const MOVED = `SELECT ${MOVED_COLUMNS.join(', ')} FROM periods
  JOIN calls ON calls.account = periods.account AND calls.period_start = periods.period_start
  WHERE periods.account = $1 AND periods.period_start < $2 AND periods.period_start > $2 - ${LONGEST_PERIOD_MS}
    AND calls.claimed_at >= $2 AND calls.credits > 0`;

/**
 * The calls since `start` that the ledger has in an earlier period, because the job then named another anniversary day. Each claim reads
 * it, so it has an index of its own; while the day stays the same there are no such calls.
 */
function movedInto(account: string, start: number): SqlStatement<Spending> {
  return statement(MOVED, [account, start]);
}

function spendingOf(periods: readonly StoredPeriod[], start: number, moved: Spending): PeriodSpending {
  const later = periods
    .filter((period) => period.start > start)
    .reduce((sum, row) => sum + row.charged + row.unknown + row.open, 0);
  const row = periods.find((period) => period.start === start);
  return periodSpending(row, moved, later);
}

/**
 * Reads the sums for decisions on claims, under the locks of the accounts; `spend` adds the calls that the transaction grants.
 *
 * @param windows the calls of the last minute by account; only new ones are read
 */
export function usageOf(
  { dialect }: SqlDatabase,
  windows: Map<string, RecentCalls>,
  terms: readonly ClaimLimits[],
): SqlReading<ClaimUsage> {
  const accounts = [...new Set(terms.map(({ account }) => account))];
  const starts = [...new Map(terms.map((claim) => [periodKey(claim), claim])).values()];
  const since = dialect.greatest('$2', '(SELECT latest FROM accounts WHERE account = $1) - $3');
  return {
    statements: [
      statement(`SELECT ${PERIOD_COLUMNS} FROM periods WHERE account IN ${dialect.list('$1', 'text')}`, [
        JSON.stringify(accounts),
      ]),
      statement(`SELECT id, charged, unknown, open FROM runs WHERE id IN ${dialect.list('$1', 'bigint')}`, [
        JSON.stringify([...new Set(terms.map(({ run }) => run))]),
      ]),
      ...starts.map((claim) => movedInto(claim.account, startOf(claim))),
      // The account's time is not before its newest settlement, so no older call is within the minute.
      ...accounts.map((account) =>
        statement(
          `SELECT run, credits, settled_at AS "settledAt" FROM calls
           WHERE account = $1 AND credits > 0 AND settled_at >= ${since} ORDER BY settled_at`,
          [account, windows.get(account)?.latest ?? 0, RATE_WINDOW_MS + MINUTE_MARGIN_MS],
        ),
      ),
    ],
    take([periods, runs, ...others]) {
      const newer = others.slice(starts.length);
      for (const [index, account] of accounts.entries()) {
        const recent = windows.get(account) ?? new RecentCalls();
        recent.add(newer[index] as RecentCall[]);
        windows.set(account, recent);
      }
      return usageFrom(windows, {
        periods: periods as StoredPeriod[],
        runs: runs as ({ id: number } & Spending)[],
        moved: new Map(starts.map((claim, at) => [periodKey(claim), others[at]![0] as Spending])),
      });
    },
  };
}

type ClaimUsage = ReturnType<typeof usageFrom>;

/** Where the period begins whose credits count for a claim. */
function startOf({ countedSince, period }: ClaimLimits): number {
  return countedSince ?? period.start;
}

function periodKey(claim: ClaimLimits): string {
  return `${startOf(claim)}/${claim.account}`;
}

/** The rows of an account's usage. */
interface UsageRows {
  readonly periods: readonly StoredPeriod[];
  readonly runs: readonly ({ readonly id: number } & Spending)[];
  readonly moved: ReadonlyMap<string, Spending>;
}

function usageFrom(windows: Map<string, RecentCalls>, { periods, runs, moved }: UsageRows) {
  const ofAccount = Map.groupBy(periods as Changing<StoredPeriod>[], ({ account }) => account);
  const ofRun = new Map(runs.map((run): [number, Changing<Spending>] => [run.id, run]));
  const periodsOf = (account: string) => ofAccount.get(account) ?? [];

  return {
    /** @param since calls that settled then or before are outside the minute */
    of(claim: ClaimLimits, since: number): Usage {
      const { account, run } = claim;
      const recent = windows.get(account)!;
      recent.forget(since);
      return {
        period: spendingOf(periodsOf(account), startOf(claim), moved.get(periodKey(claim))!),
        run: { ...(ofRun.get(run) ?? NOTHING_SPENT) },
        inFlight: periodsOf(account).reduce((sum, { open }) => sum + open, 0),
        recent,
      };
    },
    spend({ account, run, period: { start } }: ClaimLimits, credits: number): void {
      let row = periodsOf(account).find((period) => period.start === start);
      if (!row) {
        const nothing = { exhaustedAt: null, exhaustedLeft: null, elsewhere: null, correctedAt: null };
        row = { account, start, ...NOTHING_SPENT, ...nothing };
        ofAccount.set(account, [...periodsOf(account), row]);
      }
      row.open += credits;
      const sums = ofRun.get(run);
      if (sums) sums.open += credits;
    },
  };
}

/** The stored sums of one period of an account. */
interface PeriodRow extends Spending {
  readonly exhaustedAt: number | null;
  readonly exhaustedLeft: number | null;
  readonly elsewhere: number | null;
  readonly correctedAt: number | null;
}

const NOTHING_SPENT: Spending = { charged: 0, unknown: 0, open: 0 };

/** @param later credits of the account in periods that begin later */
function periodSpending(row: PeriodRow | undefined, moved: Spending, later: number): PeriodSpending {
  const counted = later === 0 ? {} : { later };
  if (!row) return { ...moved, exhaustedAt: null, ...counted };
  const { exhaustedAt, exhaustedLeft, elsewhere, correctedAt } = row;
  return {
    charged: row.charged + moved.charged,
    unknown: row.unknown + moved.unknown,
    open: row.open + moved.open,
    exhaustedAt,
    ...(exhaustedLeft === null ? {} : { exhaustedLeft }),
    ...(elsewhere === null || correctedAt === null ? {} : { correction: { elsewhere, at: correctedAt } }),
    ...counted,
  };
}
