import type Database from 'better-sqlite3';
import { type PeriodRow, periodSpending, SUM_OF } from '../period-sums.ts';
import type { ChargeState, PeriodSpending, Spending } from '../port.ts';

/** The sums of the ledger, by period and by run, which claims are decided by; all inside the caller's transaction. */
export function spendingSums(database: Database.Database) {
  const periodRow = database.prepare<[string, number], PeriodRow>(
    `SELECT charged, unknown, open, exhausted_at AS exhaustedAt, exhausted_left AS exhaustedLeft, elsewhere,
       corrected_at AS correctedAt FROM periods WHERE account = ? AND period_start = ?`,
  );
  const laterCredits = laterCreditsOf(database);
  const runRow = database.prepare<[number], Spending>('SELECT charged, unknown, open FROM runs WHERE id = ?');
  const openCredits = database
    .prepare<[string], number>('SELECT coalesce(sum(open), 0) FROM periods WHERE account = ? AND open > 0')
    .pluck();
  const ensurePeriod = database.prepare('INSERT OR IGNORE INTO periods (account, period_start) VALUES (?, ?)');
  const addToPeriod = forEachSum((sum) =>
    database.prepare(`UPDATE periods SET ${sum} = ${sum} + ? WHERE account = ? AND period_start = ?`),
  );
  const addToRun = forEachSum((sum) => database.prepare(`UPDATE runs SET ${sum} = ${sum} + ? WHERE id = ?`));

  return {
    add(account: string, period: number, run: number, charge: ChargeState, credits: number): void {
      const sum = SUM_OF[charge];
      if (sum === null || credits === 0) return;
      ensurePeriod.run(account, period);
      addToPeriod[sum].run(credits, account, period);
      addToRun[sum].run(credits, run);
    },
    ofPeriod: (account: string, start: number): PeriodSpending =>
      periodSpending(periodRow.get(account, start), laterCredits(account, start)),
    ofRun: (run: number): Spending => runRow.get(run)!,
    /** Credits of an account's calls in flight, of whatever period. */
    inFlight: (account: string): number => openCredits.get(account)!,
  };
}

/** Credits of an account that are counted in periods which begin after `start`. */
export function laterCreditsOf(database: Database.Database): (account: string, start: number) => number {
  const sum = database
    .prepare<[string, number], number>(
      'SELECT coalesce(sum(charged + unknown + open), 0) FROM periods WHERE account = ? AND period_start > ?',
    )
    .pluck();
  return (account, start) => sum.get(account, start)!;
}

function forEachSum<T>(make: (sum: keyof Spending) => T): Record<keyof Spending, T> {
  return { open: make('open'), charged: make('charged'), unknown: make('unknown') };
}
