import { PerilbookError } from '../base/errors.ts';
import { createClient, requireSendable } from '../client/client.ts';
import { Throttle } from '../client/throttle.ts';
import { isUnlimited } from '../job/account-settings.ts';
import type { PartFiles } from '../rows/parts/part-files.ts';
import type { RowFile } from '../rows/port.ts';
import { total } from '../store/ledger/admission.ts';
import type { Store } from '../store/port.ts';
import type { FinalState, RunLimits } from '../store/runs/port.ts';
import { rowsAnsweredBefore } from './answered-before.ts';
import { buyInRounds } from './buy/buying-rounds.ts';
import { purchaseJob, type ServiceConnection } from './frame/connection-kinds.ts';
import {
  answersFrom,
  answersLoss,
  lossError,
  type ReplacedOutput,
  readReplacedOutput,
  sourceLoss,
} from './frame/earlier-output.ts';
import { checkOutputs, isEarlierFile, outputFiles } from './frame/job-outputs.ts';
import { type RenewContext, withPresentData } from './frame/present-data.ts';
import { enterPhase, setIn } from './frame/progress.ts';
import { contextOf, type RunContext } from './frame/run-context.ts';
import { RunTimes } from './frame/run-times.ts';
import { rowsAreDone, STOPS, type Stop, storeMovedStop } from './frame/stop.ts';
import { lookUp, lookUpLossRates } from './look-up/look-up.ts';
import { decideOutput } from './output-decision.ts';
import { type Plan, rowsWithAnswers } from './plan/planning.ts';
import { spendingLimit } from './plan/spending.ts';
import { type Prepared, prepare } from './prepare.ts';
import { openJobInput } from './scan/scan-input.ts';
import { lackingRows, pricePerPlace, runSummary } from './summary.ts';
import type { RunSummary } from './summary-shapes.ts';
import { openOutputFields } from './write/output-fields.ts';
import type { TopicRatings } from './write/rating-counts.ts';
import { writeOutput } from './write/write-output.ts';

export interface RunResult {
  /** What `run --json` prints. */
  readonly summary: RunSummary;
  /** How it ended, as in `status`. */
  readonly state: FinalState;
  /** Why it ended early; null where it did not. */
  readonly stop: Stop | null;
  /** The rows by their highest ratings, for the natural topics. */
  readonly ratings: readonly TopicRatings[];
}

/** Runs a job from its input to its output, for the command, the library and the page. Where data on this machine is replaced before anything
 * was bought, it begins again with the new data, as the same run.
 * @param options.approve gets the plan before anything is spent, and throws to refuse it
 * @returns the result, with the plan, which the caller disposes of
 * @throws OUTPUT_EXISTS where the output would lose answers */
export async function runJob(context: RunContext, options: RunJobOptions): Promise<RunDone> {
  const { job, effects, store } = context;
  // Once: standard input cannot be opened again.
  const input = await openJobInput(job, effects.streams);
  return await recorded(store, (begin) =>
    withPresentData(context, options.renew, (current) => runOnce(current, input, begin, options)),
  );
}

async function runOnce(
  context: RunContext,
  input: RowFile | PartFiles,
  begin: BeginRun,
  { approve, renew: _, ...options }: RunJobOptions,
): Promise<RunDone> {
  using opened = new DisposableStack();
  const prepared = opened.use(await prepare(context, {}, input));
  const earlier = await refuseLoss(prepared, options);
  await approve(prepared);
  const result = await runPrepared(prepared, begin, { ...options, earlier });
  const owned = opened.move();
  return { prepared, result, [Symbol.dispose]: () => owned.dispose() };
}

/** A run that has ended, with its plan. */
export interface RunDone extends Disposable {
  readonly prepared: Prepared;
  readonly result: RunResult;
}

export interface RunJobOptions extends OutputOptions {
  readonly approve: (prepared: Prepared) => void | Promise<void>;
  readonly renew: RenewContext;
}

interface OutputOptions {
  /** Replace existing files that Perilbook did not write, and outputs with answers that this run does not give. */
  readonly force?: boolean;
  /** The command that writes another output, for a hint; left out where there is no command line. */
  readonly commandWith?: (output: string) => string;
  /** The output that is there, if it was read before; null: it may be replaced. */
  readonly earlier?: ReplacedOutput | null;
}

/** Refuses, before anything is bought, to replace an output by answers of another source, or by fewer.
 * @returns what the run may not replace by less; null for nothing
 * @throws OUTPUT_EXISTS */
async function refuseLoss(
  { job, store, plan, connection }: Prepared,
  { force = false, commandWith }: OutputOptions,
): Promise<ReplacedOutput | null> {
  const earlier = force ? null : await readReplacedOutput(job, store);
  if (earlier === null) return null;
  const { located } = plan.scan;
  const now = rowsWithAnswers(plan, connection.kind === 'local');
  // A run without rows or answers leaves the output as it is, and says why.
  const loss =
    sourceLoss(earlier, answersFrom(connection)) ??
    (now === 0
      ? null
      : await answersLoss(earlier, { now, located }, () =>
          rowsAnsweredBefore(earlier.files, plan.scan, job),
        ));
  if (loss !== null) throw lossError(loss, job, commandWith ?? null);
  return earlier;
}

/** Buys the missing answers of the plan within budget and quota, or looks them up in local data, and writes the output. The output has
 * all rows, also after a failure; an earlier output that says more stays as it is (`decideOutput`). An interrupt stops new calls and
 * batches; calls and batches in progress end, and the output is still written. @throws as `runJob` */
export async function run(prepared: Prepared, options: OutputOptions = {}): Promise<RunResult> {
  return await recorded(prepared.store, (begin) => runPrepared(prepared, begin, options));
}

async function runPrepared(
  prepared: Prepared,
  begin: BeginRun,
  options: OutputOptions,
): Promise<RunResult> {
  const { job, store, plan } = prepared;
  checkPurchase(prepared);
  const { force = false, earlier = await refuseLoss(prepared, options) } = options;
  await checkOutputs(job, plan.scan.rowFile, store, force);
  return await fetchAndWrite(prepared, await begin(prepared), earlier);
}

/** Records that a run begins, or begins again with another plan. @returns its number */
type BeginRun = (prepared: Prepared) => Promise<number>;

/** Does the work of one run, and records that it stopped where the work fails. */
async function recorded<T>(store: Store, work: (begin: BeginRun) => Promise<T>): Promise<T> {
  let number: number | null = null;
  const begin: BeginRun = async (prepared) => {
    if (number === null) number = await startRun(prepared);
    else await store.replanRun(number, limitsOf(prepared));
    return number;
  };
  try {
    return await work(begin);
  } catch (error) {
    // If the store failed, this fails too. Report the first error.
    if (number !== null)
      await store
        .finishRun(number, { state: 'stopped', resumeAfter: null, summary: null })
        .catch(() => {});
    throw error;
  }
}

/** What a started run does, to the record of its end. */
async function fetchAndWrite(
  prepared: Prepared,
  number: number,
  earlier: ReplacedOutput | null,
): Promise<RunResult> {
  const { job, store, plan, summary, sampleRows, progress } = prepared;
  // Before anything is bought, as all that is read on this machine: when the data is replaced meanwhile, the output gets what was bought.
  await lookUpLossRates(prepared, plan);
  const stopped =
    (await getAnswers(prepared, plan, number)) ??
    (plan.beyondLimit > 0 ? rowsAreDone(job.limit!) : null);
  const { creditsByOthers, callsAbovePrice, creditsAbovePrice, lastFailure } = progress;
  const spending = await store.runSpending(number);
  enterPhase(progress, 'writing');
  const fields = await openOutputFields(prepared, plan);
  const decision = await decideOutput({
    earlier,
    isThere: (await outputFiles(job)).every(isEarlierFile),
    rows: plan.scan.rows,
    stop: stopped,
    callsFailed: progress.callsFailed,
    callsAnswered: progress.callsAnswered,
    sums: async () => fields.sums(),
    stayed: async () =>
      earlier === null ? null : await rowsAnsweredBefore(earlier.files, plan.scan, job),
  });
  const written =
    decision.kind === 'keep' ? fields.sums() : await writeOutput(prepared, plan.scan, fields);
  // Before every other reason: the next run may not find the bought answers.
  const moved = await store.moved();
  const stop = moved === null ? stopped : storeMovedStop(moved);
  const result = runSummary({
    planned: { ...summary, sample_data: sampleRows.any },
    plan,
    job,
    each: pricePerPlace(prepared.sources[0].job, prepared.connection, plan),
    run: number,
    spent: {
      ...spending,
      byOthers: creditsByOthers,
      callsAbovePrice,
      creditsAbovePrice,
      lastFailure,
    },
    written,
    decision,
    stop,
  });
  // A broken export has no rows: it is no success.
  const state = stop === null && result.rows === 0 ? 'incomplete' : stateOf(stop, result);
  await store.finishRun(number, {
    state,
    resumeAfter: stop?.resumeAfter ?? null,
    summary: result,
  });
  return { summary: result, state, stop, ratings: written.ratings };
}

/** Records the start of a run in the store. @param limits differ from the plan's where more batches of rows follow */
export async function startRun(prepared: Prepared, limits = limitsOf(prepared)): Promise<number> {
  const { job, store, connection } = prepared;
  return await store.startRun({
    job: job.name,
    input: job.input,
    output: job.output,
    account: connection.kind === 'local' ? '' : job.account.name,
    // Made-up answers say nothing of a paid account, also where a job gives them its name: its next run would have no quota.
    ...(connection.kind === 'local' || isUnlimited(job) ? {} : { terms: job.account }),
    ...limits,
    settings: job.given,
  });
}

const limitsOf = ({ plan }: Prepared): RunLimits => ({
  plannedCredits: plan.price.credits,
  budget: plan.bounds.run,
});

/** Buys or looks up the missing answers, in a started run. @returns why it ended early; null if it did not */
export async function getAnswers(
  context: RunContext,
  plan: Plan,
  run: number,
): Promise<Stop | null> {
  const { sources, sampleRows } = context;
  const first = contextOf(context, sources[0]);
  const { connection } = first;
  // Before anything is bought: it is free, and what is wrong with the data is said in time.
  const stopped =
    (await lookUpBeside(context, plan)) ??
    (connection.kind === 'local'
      ? await lookUp(first, { ...plan, fields: plan.fields.parts[0]! }, connection.data)
      : await buy(first, plan, connection, run));
  await sampleRows.refresh();
  return stopped;
}

/** Looks up what the data beside a service answers. @returns why it ended early; null if it did not */
export async function lookUpBeside(context: RunContext, { beside }: Plan): Promise<Stop | null> {
  const [, source] = context.sources;
  if (beside === null || source?.connection.kind !== 'local') return null;
  return await lookUp(contextOf(context, source), beside, source.connection.data);
}

async function buy(
  {
    job: planned,
    store,
    source,
    apiKeys,
    freshness,
    setAside,
    effects,
    progress,
    deadline,
    interrupt,
  }: RunContext,
  plan: Plan,
  connection: ServiceConnection,
  run: number,
): Promise<Stop | null> {
  if (plan.order.length === 0) return null;
  const { clock, random, trace } = effects;
  const { baseUrl, proxy } = connection;
  const job = purchaseJob(planned, connection);
  const secrets = connection.keys.map(({ secret }) => secret);
  await using opened = new AsyncDisposableStack();
  const { concurrency: sockets, account } = job;
  const settings = {
    baseUrl,
    sockets,
    proxy,
    userAgent: 'perilbook',
    clock,
    secrets,
    readsDetails: false,
    trace,
  };
  const client = opened.use(createClient(settings));
  const { creditsPerMinute } = account.subscription;
  const throttle = opened.use(new Throttle({ creditsPerMinute, sockets, clock }));
  opened.defer(() => setIn(progress, { minuteLeft: null }));
  const minuteLeft = () => Math.max(0, throttle.available);
  enterPhase(progress, 'buying', {
    cells: plan.order.length,
    cellsDone: 0,
    creditsPlanned: plan.price.credits,
    minuteLeft,
  });
  const notice = once(effects.notice);
  // A run of several batches has spent some of its credits.
  const spent = total(await store.runSpending(run));
  const rest = job.budget === null ? null : job.budget - spent;
  const budget = spent + spendingLimit({ budget: rest }, plan.price);
  const times = new RunTimes(clock, freshness.startedAt, account.anniversaryDay, notice);
  const stop = await buyInRounds({
    job,
    plan,
    store,
    freshness,
    setAside,
    progress,
    deadline,
    interrupt,
    limits: { run, source, budget },
    service: { client, throttle, apiKeys },
    effects: { clock, times, random, notice },
  });
  await plan.areas?.verify();
  return stop;
}

/** Refuses, before anything is spent, topics that no key may buy and keys that cannot be sent. @throws SCOPE_MISSING, KEY_REFUSED */
export function checkPurchase({ plan, connection }: Prepared): void {
  const topics = [...plan.price.unobtainable.keys()];
  if (topics.length > 0) {
    const hint =
      'Ask the provider for these scopes, add a key that has them, or leave these topics out (--topics).';
    throw new PerilbookError('SCOPE_MISSING', `No key may buy ${topics.join(', ')}`, hint);
  }
  if (connection.kind === 'service')
    for (const { secret } of connection.keys) requireSendable(secret);
}

/** The final state of a run. */
export function stateOf(
  stop: Stop | null,
  summary: Pick<RunSummary, 'status' | 'partial_kept'>,
): RunResult['state'] {
  if (stop === null) {
    const isWhole = lackingRows(summary) === 0 && !allLocationsRejected(summary.status);
    return isWhole ? 'complete' : 'incomplete';
  }
  return STOPS[stop.reason].state;
}

/** Locations are checked before they are sent. If the service rejects all of them, the service or its address may be wrong. */
export function allLocationsRejected({
  ok,
  partial,
  deferred,
  failed,
  rejected,
}: RunSummary['status']): boolean {
  return rejected > 0 && ok + partial + deferred + failed === 0;
}

/** Prints each message once: a hundred calls may have the same one. */
function once(notice: (message: string) => void): (message: string) => void {
  const repeated = new Set<string>();
  return (message) => {
    if (repeated.has(message)) return;
    repeated.add(message);
    notice(message);
  };
}
