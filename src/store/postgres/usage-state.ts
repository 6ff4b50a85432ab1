import { RATE_WINDOW_MS } from '../../contract/subscriptions.ts';
import type { Session } from '../../sql/postgres-pool.ts';
import { MINUTE_MARGIN_MS, type Usage } from '../admission.ts';
import { NOTHING_SPENT, type PeriodRow, periodSpending } from '../period-sums.ts';
import type { ClaimLimits, PeriodSpending, Spending } from '../port.ts';
import { latestOf, movedWindow, type RecentCall, recentOf } from '../recent-calls.ts';
import { integers } from './stored-cells.ts';

type StoredPeriod = PeriodRow & { readonly account: string; readonly start: number };
type Changing<T> = { -readonly [Key in keyof T]: T[Key] };

const PERIOD_COLUMNS = `account, period_start AS start, charged, unknown, open, exhausted_at AS "exhaustedAt",
  exhausted_left AS "exhaustedLeft", elsewhere, corrected_at AS "correctedAt"`;

/** What an account has spent in the period that begins at `start`, and in later ones. */
export async function periodSpendingOf(session: Session, account: string, start: number): Promise<PeriodSpending> {
  const periods = await session.rows<StoredPeriod>(`SELECT ${PERIOD_COLUMNS} FROM periods WHERE account = $1`, [
    account,
  ]);
  return spendingOf(periods, start);
}

function spendingOf(periods: readonly StoredPeriod[], start: number): PeriodSpending {
  const later = periods
    .filter((period) => period.start > start)
    .reduce((sum, row) => sum + row.charged + row.unknown + row.open, 0);
  return periodSpending(
    periods.find((period) => period.start === start),
    later,
  );
}

/**
 * Reads the sums that claims are decided by, under the locks of their accounts; `spend` counts what the transaction itself grants.
 *
 * @param windows the calls of the last minute by account, of which only new ones are read
 */
export async function readUsage(
  session: Session,
  windows: Map<string, readonly RecentCall[]>,
  terms: readonly ClaimLimits[],
) {
  const accounts = [...new Set(terms.map(({ account }) => account))];
  const plans = [...new Set(terms.flatMap(({ plan }) => (plan ? [plan.id] : [])))];
  const [periods, runs, underPlans] = await Promise.all([
    session.rows<StoredPeriod>(`SELECT ${PERIOD_COLUMNS} FROM periods WHERE account = ANY($1)`, [accounts]),
    session.rows<{ id: number } & Spending>('SELECT id, charged, unknown, open FROM runs WHERE id = ANY($1)', [
      integers([...new Set(terms.map(({ run }) => run))]),
    ]),
    plans.length === 0
      ? []
      : session.rows<{ plan: string } & Spending>(
          `SELECT plan, sum(charged)::bigint AS charged, sum(unknown)::bigint AS unknown, sum(open)::bigint AS open
           FROM runs WHERE plan = ANY($1) GROUP BY plan`,
          [plans],
        ),
    ...accounts.map(async (account) => {
      const before = windows.get(account) ?? [];
      // The account's time is not before its newest settlement, so that nothing older is within the minute.
      const newer = await session.rows<RecentCall & Record<string, unknown>>(
        `SELECT run, credits, settled_at AS "settledAt" FROM calls WHERE account = $1 AND credits > 0
           AND settled_at >= greatest($2, (SELECT latest FROM accounts WHERE account = $1) - $3) ORDER BY settled_at`,
        [account, latestOf(before), RATE_WINDOW_MS + MINUTE_MARGIN_MS],
      );
      windows.set(account, movedWindow(before, newer, 0));
    }),
  ]);
  const ofAccount = Map.groupBy(periods as Changing<StoredPeriod>[], ({ account }) => account);
  const ofRun = new Map(runs.map((run): [number, Changing<Spending>] => [run.id, run]));
  const ofPlan = new Map(underPlans.map((plan): [string, Changing<Spending>] => [plan.plan, plan]));
  const periodsOf = (account: string) => ofAccount.get(account) ?? [];

  return {
    /** @param since calls that settled then or before are not of the minute */
    of({ account, run, period, countedSince, plan }: ClaimLimits, since: number): Usage {
      const calls = windows.get(account)!.filter(({ settledAt }) => settledAt > since);
      windows.set(account, calls);
      return {
        period: spendingOf(periodsOf(account), countedSince ?? period.start),
        run: { ...(ofRun.get(run) ?? NOTHING_SPENT) },
        underPlan: plan ? { ...(ofPlan.get(plan.id) ?? NOTHING_SPENT) } : null,
        inFlight: periodsOf(account).reduce((sum, { open }) => sum + open, 0),
        recent: recentOf(calls),
      };
    },
    spend({ account, run, period: { start }, plan }: ClaimLimits, credits: number): void {
      let row = periodsOf(account).find((period) => period.start === start);
      if (!row) {
        const nothing = { exhaustedAt: null, exhaustedLeft: null, elsewhere: null, correctedAt: null };
        row = { account, start, ...NOTHING_SPENT, ...nothing };
        ofAccount.set(account, [...periodsOf(account), row]);
      }
      row.open += credits;
      const sums = ofRun.get(run);
      if (sums) sums.open += credits;
      const underPlan = plan && ofPlan.get(plan.id);
      if (underPlan) underPlan.open += credits;
    },
  };
}
