import type { TestContext } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { column, openHarness, places } from '../run/harness.ts';

export interface LongTrial {
  readonly periods: readonly { readonly start: string; readonly charged: number; readonly quota: number }[];
  readonly wrong: readonly string[];
}

/** A job that three periods' quotas are needed for, with a clock that leaps from anniversary to anniversary. */
export async function longTrial(t: TestContext, cells: number): Promise<LongTrial> {
  const quota = Math.ceil(cells * 0.4);
  const started = '2026-01-15T12:00:00Z';
  // The true pace, so that no call is late by a clock that runs ahead of it; only the waits for a new quota are leapt over.
  const harness = await openHarness(t, {
    subscription: customSubscription(quota, 1_000_000),
    start: started,
    factor: 1,
  });
  // Its disk is not what is looked at here, and every call would wait for it.
  harness.accounts.pragma('synchronous = OFF');
  harness.writeInput(places(cells));
  const job = { topics: ['wildfire' as const], on_quota: 'wait' as const, budget: cells, concurrency: 32 };
  const { state, summary } = await harness.run(job);
  const periods = harness.accounts
    .prepare<[], { start: number; charged: number }>(
      'SELECT period_start AS start, credits AS charged FROM periods ORDER BY period_start',
    )
    .all()
    .map(({ start, charged }) => ({ start: new Date(start).toISOString().slice(0, 10), charged, quota }));
  const ledger = await harness.ledger();
  const days = await harness.store.statement({ by: 'day' });
  const byDay = days.reduce((sum, { credits }) => sum + credits.charged, 0);
  const wrong: string[] = [];
  if (state !== 'complete') wrong.push(`the run ended ${state}`);
  if (periods.length !== 3) wrong.push(`${periods.length} periods`);
  if (periods.some(({ charged }) => charged > quota)) wrong.push('more than the quota was charged in a period');
  if (harness.charged() !== cells) wrong.push(`${harness.charged()} credits charged for ${cells} cells`);
  if (ledger.charged !== cells || ledger.unknown + ledger.open > 0)
    wrong.push(`the ledger says ${JSON.stringify(ledger)}`);
  if (byDay !== cells) wrong.push(`the days of the statement sum to ${byDay}`);
  if (summary.status.ok !== cells || column(harness.output(), 'hazard_status').some((status) => status !== 'ok')) {
    wrong.push('not every row is ok');
  }
  const again = await harness.run(job);
  if (again.summary.credits_spent !== 0 || harness.charged() !== cells) wrong.push('another run bought something');
  return { periods, wrong };
}
