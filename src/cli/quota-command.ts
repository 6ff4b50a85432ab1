import { accountState } from '../job/planning.ts';
import { isoTime } from '../job/summary.ts';
import { openSqliteStore } from '../store/sqlite-store.ts';
import { EXIT } from './exit-codes.ts';
import { anyJobOf } from './job-options.ts';
import type { Flags } from './program.ts';
import { counted, dateTime, grouped, listed } from './words.ts';
import { sayJson, type World } from './world.ts';

/** `perilbook quota`: this period by the ledger's arithmetic, which no endpoint of the service would tell. */
export async function quotaCommand(world: World, flags: Flags): Promise<number> {
  const job = anyJobOf(world, flags.job as string | undefined, flags);
  const store = openSqliteStore(job.store, world.clock, world.owner);
  try {
    const { period, spending, available } = await accountState(job, store, world.clock.now());
    const { subscription, reserve, account } = job;
    if (flags.json) {
      sayJson(world, {
        account,
        subscription: subscription.name,
        period_start: isoTime(period.start),
        resets_on: isoTime(period.end),
        allowance: subscription.creditsPerMonth,
        charged: spending.charged,
        unknown: spending.unknown,
        in_flight: spending.open,
        reserved: reserve,
        left: available,
        exhausted_at: isoTime(spending.exhaustedAt),
      });
      return EXIT.complete;
    }
    const lines = listed([
      ['account', `${account} (${subscription.name})`],
      ['period', `${dateTime(period.start)} to ${dateTime(period.end)}`],
      ['allowance', counted(subscription.creditsPerMonth, 'credit')],
      ['charged', grouped(spending.charged)],
      [
        'unknown',
        `${grouped(spending.unknown)}${spending.unknown > 0 ? ' (calls without an answer; counted as spent)' : ''}`,
      ],
      ['in flight', grouped(spending.open)],
      ['reserved', grouped(reserve)],
      ['left', counted(available, 'credit')],
    ]);
    if (spending.exhaustedAt !== null) {
      lines.push(
        `The service said on ${dateTime(spending.exhaustedAt)} that the quota is used up: nothing is left until it resets.`,
      );
    }
    lines.push(`Resets on ${dateTime(period.end)}.`);
    world.stdout.write(`${lines.join('\n')}\n`);
    return EXIT.complete;
  } finally {
    await store.close();
  }
}
