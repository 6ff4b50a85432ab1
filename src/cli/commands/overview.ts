import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PerilbookError } from '../../base/errors.ts';
import { counted, dateTime, grouped } from '../../base/format-numbers.ts';
import { isSampleAccount } from '../../job/account-settings.ts';
import type { Job } from '../../job/settings.ts';
import { readLocalData } from '../../run/look-up/local-data.ts';
import { resetText, subscriptionText } from '../../run/notices.ts';
import { accountState } from '../../run/plan/account-state.ts';
import { isPostgresAddress, shownAddress } from '../../sql/postgres-address.ts';
import type { Store } from '../../store/port.ts';
import { type CliContext, lineWidth, print } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { readOptionalJob } from '../job-of-options.ts';
import { listed, shownPath } from '../messages/format.ts';
import { openStore } from '../open-store.ts';

type StateLine = readonly [name: string, value: string];

const SAMPLE_FILE = fileURLToPath(new URL('../../../sample-data/listings.csv', import.meta.url));

/** The largest number of states and accounts that are listed. */
const MOST_STATES = 8;
const MOST_ACCOUNTS = 3;

/** `perilbook` alone: what it is, three first steps, and the state of this machine. Makes no file. */
export async function overviewCommand(context: CliContext): Promise<number> {
  const sample = shownPath(SAMPLE_FILE, context.workingFolder);
  const steps: readonly StateLine[] = [
    ['try the sample', `perilbook run ${sample} -o sample.csv --topics natural --service sample`],
    ['price your file', 'perilbook plan FILE --service sample'],
    ['open the page', 'perilbook ui'],
  ];
  const width = lineWidth(context.stdout);
  const lines = [
    'Perilbook adds hazard ratings to a file of US locations: from public data on this machine, or from a paid service.',
    '',
    'First steps:',
    ...listed(steps, '  ', width),
    '',
    'This machine:',
    ...listed(await machineState(context), '  ', width),
    '',
    'All commands: perilbook --help',
  ];
  print(context, lines.join('\n'));
  return EXIT.complete;
}

async function machineState(context: CliContext): Promise<readonly StateLine[]> {
  try {
    const job = readOptionalJob(context, [], {});
    return [['data', dataHere(context, job)], ...(await lastRunAndQuota(context, job))];
  } catch (error) {
    return [['settings', describeProblem(error)]];
  }
}

function dataHere({ clock }: CliContext, { dataFile }: Job): string {
  try {
    const data = readLocalData(dataFile, clock.now());
    if (data === null || data.datasets.length === 0) return NO_DATA;
    const { topics, boundaryStates, sample } = data;
    const count = boundaryStates.length;
    const states = count <= MOST_STATES ? boundaryStates.join(', ') : `${count} states and territories`;
    const madeUp = sample ? ' (some of it made up)' : '';
    return `${counted(topics.size, 'topic')}, ${states === '' ? 'no boundaries' : `boundaries of ${states}`}${madeUp}`;
  } catch (error) {
    return describeProblem(error);
  }
}

const NO_DATA = "none. To get FEMA's ratings: perilbook data get natural --for FILE";

/** Does not make a missing store, and does not wait for a PostgreSQL server. */
async function lastRunAndQuota(context: CliContext, job: Job): Promise<readonly StateLine[]> {
  if (isPostgresAddress(job.store)) return [['last run', `in ${shownAddress(job.store)}: perilbook status`]];
  if (!existsSync(job.store)) return [['last run', 'none'], NO_ACCOUNT];
  try {
    await using store = await openStore(context, job);
    const [latest] = await store.runs({});
    const run = latest === undefined ? 'none' : `${latest.job}, ${dateTime(latest.startedAt)}: ${latest.state}`;
    return [['last run', run], ...(await quotas(store, context.clock.now()))];
  } catch (error) {
    return [['last run', describeProblem(error)]];
  }
}

const NO_ACCOUNT: StateLine = ['quota', 'no account was used yet'];

async function quotas(store: Store, now: number): Promise<readonly StateLine[]> {
  const accounts = await store.ledgerAccounts();
  if (accounts.length === 0) return [NO_ACCOUNT];
  const pairs: StateLine[] = [];
  for (const account of accounts.slice(0, MOST_ACCOUNTS)) {
    const { available, period } = await accountState(account, store, now);
    const assumed = account.isAssumed ? ` (${subscriptionText(account)})` : '';
    const left = `${grouped(available)} of ${counted(account.subscription.creditsPerMonth, 'credit')} left${assumed}`;
    const title = isSampleAccount(account.name) ? 'sample account' : account.name;
    pairs.push([pairs.length === 0 ? 'quota' : '', `${title}: ${left}, resets on ${resetText(account, period.end)}`]);
  }
  const rest = accounts.length - MOST_ACCOUNTS;
  return rest > 0 ? [...pairs, ['', `and ${counted(rest, 'more account')}: perilbook quota`]] : pairs;
}

/** A store or a file that cannot be read is part of the state. @throws errors that are no PerilbookError */
function describeProblem(error: unknown): string {
  if (error instanceof PerilbookError) return error.message;
  throw error;
}
