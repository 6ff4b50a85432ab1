import { PerilbookError } from '../errors.ts';
import { accountState } from '../job/account-state.ts';
import type { Job } from '../job/settings.ts';
import { openSqliteStore } from '../store/sqlite-store.ts';
import { EXIT } from './exit-codes.ts';
import { anyJobOf } from './job-options.ts';
import type { Flags } from './program.ts';
import { type Quota, quotaJson, quotaWords } from './statement-quota.ts';
import { statementBy, statementCsv, statementJson, statementWords } from './statement-rows.ts';
import { counted, dateTime, grouped } from './words.ts';
import { say, sayJson, type World } from './world.ts';

/** `perilbook quota [JOB]`: this period by the ledger's arithmetic, which no endpoint of the service would tell; with
 * `--by` the ledger's statement below it. `perilbook quota set` corrects it by what the provider's page says. */
export async function quotaCommand(world: World, flags: Flags): Promise<number> {
  const isSet = flags.set === 'set';
  const job = anyJobOf(world, targetOf(flags, isSet), flags);
  const correction = spentAtProvider(job, flags, isSet);
  const by = statementBy(flags.by) ?? (flags.csv ? 'run' : null);
  const store = openSqliteStore(job.store, world.clock, world.owner);
  try {
    const now = world.clock.now();
    if (correction !== null) {
      const { period } = await accountState(job, store, now);
      await store.correct(job.account, period, correction);
    }
    const state = await accountState(job, store, now);
    const { account } = job;
    const rows = await store.statement({ by: by ?? 'key', account, period: state.period });
    const quota: Quota = { job, state, freeCalls: rows.reduce((sum, { calls }) => sum + calls.free, 0) };
    if (flags.csv) world.stdout.write(statementCsv(by!, rows));
    else if (flags.json) {
      sayJson(world, { ...quotaJson(quota), ...(by ? { by, statement: statementJson(by, rows) } : {}) });
    } else {
      const lines = [...quotaWords(quota), ...(by ? ['', ...statementWords(by, rows)] : [])];
      world.stdout.write(`${lines.join('\n')}\n`);
    }
    if (correction !== null) {
      say(
        world,
        `Recorded for ${account}, for the period to ${dateTime(state.period.end)}: the provider counts ${counted(correction, 'credit')} spent, ${grouped(job.subscription.creditsPerMonth - correction)} left.`,
      );
    }
    return EXIT.complete;
  } finally {
    await store.close();
  }
}

function targetOf(flags: Flags, isSet: boolean): string | undefined {
  if (isSet) return flags.job as string | undefined;
  if (flags.job === undefined) return flags.set as string | undefined;
  throw new PerilbookError(
    'USAGE',
    `quota takes one job, not ${flags.set} and ${flags.job}`,
    'Say: perilbook quota JOB, or perilbook quota set JOB --left N.',
  );
}

/** What the provider counts as spent in this period, in its own words or worked out from what is left. */
function spentAtProvider({ subscription }: Job, flags: Flags, isSet: boolean): number | null {
  const left = flags.left as number | undefined;
  const spent = flags.spent as number | undefined;
  if (!isSet && left === undefined && spent === undefined) return null;
  const value = left ?? spent;
  if (!isSet || value === undefined || (left !== undefined && spent !== undefined)) {
    throw new PerilbookError(
      'USAGE',
      isSet ? 'quota set takes either --left or --spent' : '--left and --spent belong to quota set',
      "Copy the figure of this period from the provider's page: perilbook quota set JOB --left 4200.",
    );
  }
  const name = left === undefined ? '--spent' : '--left';
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new PerilbookError('USAGE', `${name} is no whole number of credits`, `Write it like ${name} 4200.`);
  }
  const allowance = subscription.creditsPerMonth;
  if (left !== undefined && left > allowance) {
    throw new PerilbookError(
      'USAGE',
      `--left ${left} is more than the ${subscription.name} subscription's ${grouped(allowance)} credits a period`,
      'If the subscription was changed, put the new one into the job first (subscription:, or --subscription).',
    );
  }
  return left === undefined ? value : allowance - left;
}
