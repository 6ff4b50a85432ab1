import { PerilbookError } from '../base/errors.ts';
import { NO_OUTPUT } from '../job/settings.ts';
import type { PartFiles } from '../rows/parts/part-files.ts';
import type { RowFile } from '../rows/port.ts';
import { type RenewContext, withPresentData } from './frame/present-data.ts';
import { openContext, type RunContext } from './frame/run-context.ts';
import { makePlan, type Plan, type PlanOptions } from './plan/planning.ts';
import { KEPT } from './scan/kept-answers.ts';
import { openJobInput, type Scan, scan } from './scan/scan-input.ts';
import { planSummary } from './summary.ts';
import type { PlanSummary } from './summary-shapes.ts';
import { checkRoom } from './write/write-output.ts';

/** A scanned and priced input, ready to run. */
export interface Prepared extends RunContext {
  readonly plan: Plan;
  readonly summary: PlanSummary;
}

/** A prepared job that owns its temporary files, which are deleted when it is disposed of. */
export type OpenedJob = Prepared & Disposable;

/** Prices a job alone; where data on this machine is replaced meanwhile, again with the new data. @throws as `prepare` */
export async function priceJob(
  context: RunContext,
  renew: RenewContext,
  options: PlanOptions = {},
): Promise<OpenedJob> {
  const input = await openJobInput(context.job, context.effects.streams);
  return await withPresentData(context, renew, (current) => prepare(current, options, input));
}

/** Scans and prices a job; spends nothing.
 * @param rowFile the rows; default: those of the job's input, which is opened
 * @throws INPUT_*, OUTPUT_UNWRITABLE, SCOPE_MISSING, STORE_* */
export async function prepare(
  context: RunContext,
  options: PlanOptions = {},
  rowFile?: RowFile | PartFiles,
): Promise<OpenedJob> {
  using opened = new DisposableStack();
  const scanned = opened.use(await scan(context, rowFile));
  refuseMixed(context, scanned);
  if (context.job.output !== NO_OUTPUT) await checkRoom(context.job, scanned);
  const prepared = await prepareScanned(context, scanned, options);
  const owned = opened.move();
  return { ...prepared, [Symbol.dispose]: () => owned.dispose() };
}

/** Refuses an output that would have made-up answers beside real ones: those that the input brings, and those of this run. A service may say of its
 * answers that they are made up. @throws INPUT_COLUMNS */
export function refuseMixed(
  { job, connection, sampleRows }: Pick<RunContext, 'job' | 'connection' | 'sampleRows'>,
  { layout, coded }: Pick<Scan, 'layout' | 'coded'>,
): void {
  if (layout.keptAnswers === null || coded === null) return;
  const isMadeUp = connection.sample || sampleRows.any;
  const other = isMadeUp ? KEPT.real : KEPT.madeUp;
  if (coded.codes.every((codes) => (codes.at(-1)! & other) === 0)) return;
  const kept = layout.keptAnswers.topics.map(({ topic }) => topic);
  const [those, these] = isMadeUp ? ['real', 'made up'] : ['made-up', 'real'];
  const message = `The input has ${those} answers to ${kept.join(', ')}; those of this run are ${these}, and no output has both`;
  const all = [...job.topics, ...kept].join(',');
  const hint = isMadeUp
    ? 'Give the file without the columns of the earlier run. Or write made-up answers apart from them, such as with --prefix sample_.'
    : `Give the file without the columns of the earlier run. Or ask for these topics too, which replaces them: --topics ${all}`;
  throw new PerilbookError('INPUT_COLUMNS', message, hint, { file: job.input });
}

/** Prices a scanned input, perhaps for other topics. The scan still owns its temporary files. @throws as `prepare` */
export async function prepareScanned(
  context: RunContext,
  scanned: Scan,
  options: PlanOptions = {},
): Promise<Prepared> {
  const plan = await makePlan(context, scanned, options);
  return { ...context, plan, summary: planSummary(context, plan) };
}

/** Prices a prepared job again after its run, as the next run will, to see what is missing: by what the run has read. Keys count as untried
 * again; local data is not read again. */
export async function prepareAgain(prepared: Prepared): Promise<Prepared> {
  const { job, freshness, plan, deadline } = prepared;
  const context = await openContext(job, { ...prepared, asOf: freshness.startedAt });
  const { origin, fields, codes } = plan;
  return await prepareScanned({ ...context, deadline }, plan.scan, { origin, fields, codes });
}
