import { PerilbookError } from '../../errors.ts';
import { counted, dateTime, grouped } from '../../figures.ts';
import { accountState } from '../../job/planning/account-state.ts';
import type { Account } from '../../job/settings/accounts.ts';
import type { Job } from '../../job/settings/settings.ts';
import type { Store } from '../../store/port.ts';
import type { Flags } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { anyJobOf } from '../job-options.ts';
import { openStore } from '../open-store.ts';
import { type Quota, quotaJson, quotaWords } from '../printed/statement-quota.ts';
import { statementBy, statementCsv, statementJson, statementWords } from '../printed/statement-rows.ts';
import { say, sayJson, type World } from '../world.ts';

/** `perilbook quota [JOB]`: this period by the ledger's arithmetic, which no endpoint of the service would tell; with
 * `--by` the ledger's statement below it. `perilbook quota set` corrects it by what the provider's page says. */
export async function quotaCommand(world: World, flags: Flags): Promise<number> {
  const isSet = flags.set === 'set';
  const { job, accounts } = chosenAccounts(world, targetOf(flags, isSet), flags);
  if (accounts.length > 1 && (isSet || flags.csv)) throw severalAccounts(accounts, isSet ? 'quota set' : '--csv');
  const correction = spentAtProvider(accounts[0]!, flags, isSet);
  const by = statementBy(flags.by) ?? (flags.csv ? 'run' : null);
  const store = openStore(world, job);
  try {
    const now = world.clock.now();
    if (correction !== null) await recordCorrection(world, store, accounts[0]!, correction);
    const sheets = [];
    for (const account of accounts) {
      const state = await accountState(account, store, now);
      const rows = await store.statement({ by: by ?? 'key', account: account.account, period: state.period });
      const quota: Quota = { state, freeCalls: rows.reduce((sum, { calls }) => sum + calls.free, 0) };
      sheets.push({ quota, rows });
    }
    if (flags.csv) world.stdout.write(statementCsv(by!, sheets[0]!.rows));
    else if (flags.json) {
      const values = sheets.map(({ quota, rows }) => ({
        ...quotaJson(quota),
        ...(by ? { by, statement: statementJson(by, rows) } : {}),
      }));
      sayJson(world, values.length === 1 ? values[0] : { accounts: values });
    } else {
      const blocks = sheets.map(({ quota, rows }) =>
        [...quotaWords(quota), ...(by ? ['', ...statementWords(by, rows)] : [])].join('\n'),
      );
      world.stdout.write(`${blocks.join('\n\n')}\n`);
    }
    return EXIT.complete;
  } finally {
    await store.close();
  }
}

/**
 * The account that is named, else all that the job's keys spend: each has its own subscription and anniversary. The name of
 * one of the job's accounts chooses it, and does not make it the one that the job's own settings describe.
 */
function chosenAccounts(
  world: World,
  target: string | undefined,
  { account: name, ...flags }: Flags,
): { readonly job: Job; readonly accounts: readonly Account[] } {
  const job = anyJobOf(world, target, flags);
  if (name === undefined) return { job, accounts: job.accounts };
  const known = job.accounts.find(({ account }) => account === name);
  if (known !== undefined) return { job, accounts: [known] };
  const ofName = anyJobOf(world, target, { ...flags, account: name });
  return { job: ofName, accounts: [ofName] };
}

function severalAccounts(accounts: readonly Account[], what: string): PerilbookError {
  return new PerilbookError(
    'USAGE',
    `${what} is for one account, and the keys of this job spend ${accounts.map(({ account }) => account).join(', ')}`,
    'Name one of them: --account NAME.',
  );
}

async function recordCorrection(world: World, store: Store, account: Account, spent: number): Promise<void> {
  const { period } = await accountState(account, store, world.clock.now());
  await store.correct(account.account, period, spent);
  const left = account.subscription.creditsPerMonth - spent;
  const counts = `${counted(spent, 'credit')} spent, ${grouped(Math.max(0, left))} left`;
  say(
    world,
    `Recorded for ${account.account}, for the period to ${dateTime(period.end)}: the provider counts ${counts}.`,
  );
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
function spentAtProvider({ subscription }: Account, flags: Flags, isSet: boolean): number | null {
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
