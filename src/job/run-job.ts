import { PerilbookError } from '../errors.ts';
import { createClient, requireSendable } from '../fetch/client.ts';
import { createThrottle } from '../fetch/throttle.ts';
import { checkOutput } from '../rows/files/output-file.ts';
import { checkFormat } from '../rows/output-format.ts';
import type { EndState, Store } from '../store/port.ts';
import { type ApprovedPlan, checkApproved } from './approved-plan.ts';
import { type Stop, storeMovedStop } from './buying/buying.ts';
import { buyInRounds } from './buying/buying-rounds.ts';
import type { Progress } from './buying/progress.ts';
import { RunTimes } from './buying/run-times.ts';
import { enterPhase } from './phase.ts';
import type { Effects, Prepared } from './prepare.ts';
import { createBodyReader } from './reading/body-readers.ts';
import { type RunSummary, runSummary } from './summary.ts';
import { writeOutput } from './writing.ts';

/** How a run ended, and why if it stopped early. */
export interface RunEnded {
  readonly summary: RunSummary;
  readonly state: EndState;
  readonly stop: Stop | null;
}

/** Nothing done yet. */
export function newProgress(): Progress {
  return {
    phase: 'reading',
    rows: 0,
    onChange: null,
    cells: 0,
    cellsDone: 0,
    creditsPlanned: 0,
    creditsSpent: 0,
    creditsUnknown: 0,
    callsUnknown: 0,
    calls: 0,
    callsInFlight: 0,
    retries: 0,
    failures: 0,
    failuresByKind: {},
    slowedDown: 0,
    slowedUntil: 0,
    waitingUntil: 0,
    atHand: null,
    minuteLeft: null,
  };
}

/**
 * Buys what the plan says, as far as budget and quota reach, and writes the output: complete in rows whatever happened.
 * An interrupt stops new calls, lets those in flight land, and still writes.
 */
export async function run(
  prepared: Prepared,
  store: Store,
  effects: Effects,
  progress: Progress,
  interrupt: AbortSignal,
  approved: ApprovedPlan | null = null,
): Promise<RunEnded> {
  const { job, plan, summary, freshness, source, connection, sampleRows } = prepared;
  refuseUnobtainable(prepared);
  if (approved !== null) {
    const { charged, unknown, open } = await store.planSpending(approved.id);
    plan.limit = Math.min(plan.limit, checkApproved(approved, prepared, charged + unknown + open));
  }
  checkFormat(job.output, prepared.rowFile.format);
  await checkOutput(job.output, job.input, [job.store]);
  for (const { secret } of connection.keys) requireSendable(secret);
  const number = await store.startRun({
    job: job.name,
    input: job.input,
    output: job.output,
    account: job.account.name,
    plannedCredits: plan.price.credits,
    budget: plan.limit,
    accounts: job.accounts,
    ...(approved === null ? {} : { plan: approved.id }),
  });
  try {
    const bought = await buy(prepared, store, effects, progress, interrupt, number, approved);
    await sampleRows.refresh();
    enterPhase(progress, 'writing');
    const written = await writeOutput({
      rowFile: prepared.rowFile,
      job,
      scan: plan.scan,
      store,
      source,
      sampleRows,
      freshness,
      cells: prepared.cells,
      onRows: (rows) => {
        progress.rows += rows;
      },
    });
    const spent = await store.runSpending(number);
    const stop = await storeMoved(store, bought);
    const planned = { ...summary, sample_data: sampleRows.any };
    const ended = runSummary(planned, number, spent, written, job, stop);
    const state = stateOf(stop, ended);
    await store.finishRun(number, { state, resumeAfter: stop?.resumeAfter ?? null, summary: ended });
    return { summary: ended, state, stop };
  } catch (error) {
    // Where the store itself failed, it fails here too: the first error is the one to tell.
    await store.finishRun(number, { state: 'stopped', resumeAfter: null, summary: null }).catch(() => {});
    throw error;
  }
}

async function buy(
  prepared: Prepared,
  store: Store,
  effects: Effects,
  progress: Progress,
  interrupt: AbortSignal,
  number: number,
  approved: ApprovedPlan | null,
): Promise<Stop | null> {
  const { job, plan, connection, source, keyring, freshness } = prepared;
  progress.cells = plan.order.length;
  progress.creditsPlanned = plan.price.credits;
  if (plan.order.length === 0) return null;
  enterPhase(progress, 'buying');
  const { clock, random, notice, trace } = effects;
  const { baseUrl } = connection;
  const secrets = connection.keys.map(({ secret }) => secret);
  const client = createClient({
    ...{ baseUrl, sockets: job.concurrency, userAgent: 'perilbook', clock, secrets },
    ...(trace ? { trace } : {}),
  });
  const reader = effects.reader ?? createBodyReader();
  const throttles = new Map(
    job.accounts.map(({ name, subscription: { creditsPerMinute } }) => [
      name,
      createThrottle({ creditsPerMinute, sockets: job.concurrency, clock }),
    ]),
  );
  progress.minuteLeft = () => [...throttles.values()].reduce((sum, { available }) => sum + Math.max(0, available), 0);
  const contents = await store.bundleContents(source);
  const tell = once(notice);
  const parts = {
    ...{
      job,
      store,
      client,
      reader,
      throttles,
      keyring,
      secrets,
      clock,
      random,
      source,
      freshness,
      contents,
      progress,
    },
    ...{ run: number, budget: plan.limit, places: plan.scan, notice: tell },
    approved: approved && { id: approved.id, budget: approved.credits_at_most },
    times: new RunTimes(clock, freshness.startedAt, tell),
    represents: plan.areas?.represents ?? new Map(),
    hadNoData: plan.hadNoData,
  };
  try {
    return await buyInRounds(parts, plan, interrupt);
  } finally {
    progress.minuteLeft = null;
    for (const throttle of throttles.values()) await throttle.close();
    await client.close();
    await reader.close();
  }
}

/** Topics that no key may buy are an error before anything is spent, not holes found afterwards. */
function refuseUnobtainable({ plan }: Prepared): void {
  const topics = [...plan.price.unobtainable.keys()];
  if (topics.length === 0) return;
  throw new PerilbookError(
    'SCOPE_MISSING',
    `No key may buy ${topics.join(', ')}`,
    'Ask the provider for these scopes, add a key that has them, or leave these topics out (--topics).',
  );
}

function stateOf(stop: Stop | null, { status }: RunSummary): RunEnded['state'] {
  if (stop === null) {
    const isWhole = status.partial + status.failed + status.deferred === 0 && !allLocationsRejected(status);
    return isWhole ? 'complete' : 'incomplete';
  }
  if (stop.reason === 'interrupted') return 'interrupted';
  return FOR_THE_USER.has(stop.reason) ? 'stopped' : 'paused';
}

/** Locations were checked before they were asked about: where the service rejects all of them, it or its address is as likely
 * to be wrong as they are. */
export function allLocationsRejected({ ok, partial, deferred, failed, rejected }: RunSummary['status']): boolean {
  return rejected > 0 && ok + partial + deferred + failed === 0;
}

/** Going on makes no sense before the user has changed something. */
const FOR_THE_USER: ReadonlySet<Stop['reason']> = new Set(['keys', 'denied', 'misdirected', 'store_moved']);

/** A store that was moved comes before every other reason: what was bought may not be found again. */
async function storeMoved(store: Store, stop: Stop | null): Promise<Stop | null> {
  const moved = await store.moved();
  return moved === null ? stop : storeMovedStop(moved);
}

/** The same news from a hundred calls is told once. */
function once(notice: (message: string) => void): (message: string) => void {
  const told = new Set<string>();
  return (message) => {
    if (told.has(message)) return;
    told.add(message);
    notice(message);
  };
}
