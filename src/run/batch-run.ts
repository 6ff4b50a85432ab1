import { PerilbookError } from '../base/errors.ts';
import { ROW_STATUSES, type RowStatus } from '../columns/row-status.ts';
import type { Field } from '../contract/answer.ts';
import { rowCodesOf, type TopicSlug } from '../contract/topics.ts';
import { rowFields } from '../rows/placed-fields.ts';
import type { RowFile } from '../rows/port.ts';
import type { RunLimits } from '../store/runs/port.ts';
import { type RenewContext, withPresentData } from './frame/present-data.ts';
import { newProgress, type Progress } from './frame/progress.ts';
import type { RunContext } from './frame/run-context.ts';
import { type RunEvent, reportProgress } from './frame/run-events.ts';
import { STOPS, type Stop } from './frame/stop.ts';
import { lookUpLossRates } from './look-up/look-up.ts';
import { type OpenedJob, prepare } from './prepare.ts';
import { checkPurchase, getAnswers, lookUpBeside, startRun, stateOf } from './run-job.ts';
import { openOutputFields } from './write/output-fields.ts';
import { writeOutput } from './write/write-output.ts';

/** What the batches of a run have spent. */
type Spent = Pick<
  Progress,
  'creditsSpent' | 'creditsUnknown' | 'callsUnknown' | 'calls' | 'paidFailures'
>;

const NOTHING_SPENT: Spent = {
  creditsSpent: 0,
  creditsUnknown: 0,
  callsUnknown: 0,
  calls: 0,
  paidFailures: 0,
};

/** A coordinate in decimal degrees: a number, or the text of one. Text in other notations needs `coordinates: 'lenient'`. */
export type Coordinate = number | string | null | undefined;

/** Latitude and longitude, and after them the codes of areas (`codesInMemory`). */
export type LocationInMemory = readonly [Coordinate, Coordinate, ...Coordinate[]];

/** The names of the columns with codes that the layers among some topics read: of the spellings of each the first that rows have. */
export function codesInMemory(
  topics: readonly TopicSlug[],
  isThere: (name: string) => boolean = () => false,
): string[] {
  const all = topics.flatMap((topic) => {
    const columns = rowCodesOf(topic)?.columns ?? [];
    return columns.find(isThere) ?? columns.slice(0, 1);
  });
  return [...new Set(all)];
}

/** A program's rows as a row file, so that the code for files scans, prices and joins them. */
interface MemoryRows extends RowFile {
  /** The fields of each row, once they were written. */
  readonly written: () => readonly (readonly Field[])[];
}

function memoryRows(locations: readonly LocationInMemory[], codes: readonly string[]): MemoryRows {
  let written: readonly (readonly Field[])[] = [];
  return {
    format: 'memory',
    columns: ['lat', 'lng', ...codes],
    unit: 'row',
    async *read(columns) {
      // No message names a program's row by its number.
      yield locations.map((location) => ({
        number: 0,
        line: 0,
        fields: columns.map((column) => String(location[column] ?? '')),
      }));
    },
    async write(request) {
      written = await rowFields(request, (fields) => fields)(locations.length);
      return { rows: locations.length, bytes: 0 };
    },
    written: () => written,
  };
}

export interface BatchRunOptions {
  /** Makes the context again where data on this machine was replaced. */
  readonly renew: RenewContext;
  /** Gets the plan of a batch before anything is spent, and throws to refuse it; left out where the budget is the approval. */
  readonly approve?: (prepared: OpenedJob) => Promise<void>;
  readonly onEvent?: (event: RunEvent) => void;
}

/** A run of rows from memory: the batches of a program, or the one location of a look-up. Each batch has its own scan, plan, purchase (or
 * look-up) and join. All batches are one run in the ledger, with one budget, which its claims are checked against. The run begins with the
 * first batch that lacks an answer, and ends when this is disposed of. */
export class BatchRun implements AsyncDisposable {
  #context: RunContext;
  readonly #options: Required<BatchRunOptions>;
  readonly #status = Object.fromEntries(ROW_STATUSES.map((name) => [name, 0])) as Record<
    RowStatus,
    number
  >;
  #run: number | null = null;
  #stop: Stop | null = null;
  #rows = 0;
  #spent = NOTHING_SPENT;
  #hasEnded = false;

  constructor(
    context: RunContext,
    { renew, approve = async () => {}, onEvent = () => {} }: BatchRunOptions,
  ) {
    this.#context = context;
    this.#options = { renew, approve, onEvent };
  }

  /** What the batches have spent so far. */
  get spent(): Spent {
    return this.#spent;
  }

  /** The fields of the rows of a batch, in their order. Where data on this machine was replaced before anything was bought for them, the
   * batch begins again with the new data. @param codes the names of the columns after latitude and longitude */
  async answer(
    locations: readonly LocationInMemory[],
    codes = codesInMemory(this.#context.job.topics),
  ): Promise<readonly (readonly Field[])[]> {
    const rowFile = memoryRows(locations, codes);
    const progress = { ...newProgress(), ...this.#spent };
    using _ = reportProgress(progress, this.#options.onEvent, () => this.#rows);
    const own = { setAside: new Map(), progress };
    const renew = async () => {
      this.#context = await this.#options.renew();
      return { ...this.#context, ...own };
    };
    return await withPresentData({ ...this.#context, ...own }, renew, (current) =>
      this.#answerRows(current, rowFile),
    );
  }

  async #answerRows(
    context: RunContext,
    rowFile: MemoryRows,
  ): Promise<readonly (readonly Field[])[]> {
    using prepared = await prepare(context, {}, rowFile);
    // The rest of a budget may pay for a place that lacks little. Every other reason holds for all places.
    const mayAsk = this.#stop === null || this.#stop.reason === 'budget';
    const { order, beside } = prepared.plan;
    const isLacking = order.length + (beside?.order.length ?? 0) > 0;
    // Before anything is bought, as in a run.
    await lookUpLossRates(prepared, prepared.plan);
    if (isLacking && mayAsk) await this.#ask(prepared);
    else if (isLacking) await lookUpBeside(prepared, prepared.plan);
    const fields = await openOutputFields(prepared, prepared.plan);
    const { status } = await writeOutput(prepared, prepared.plan.scan, fields);
    for (const name of ROW_STATUSES) this.#status[name] += status[name];
    const written = rowFile.written();
    this.#rows += written.length;
    // Read now: the fields are unpacked from the store, which the program may close.
    return written.map((fields) => this.#withReason(fields));
  }

  /** The error that the user must correct before more can be bought; null if there is none, and a later enrichment continues. */
  get refusal(): PerilbookError | null {
    const row = this.#stop && STOPS[this.#stop.reason];
    if (row?.state !== 'stopped') return null;
    const message = this.#stop!.message.replace(/\.$/, '');
    return new PerilbookError(row.code, message, `${row.remedy}, then enrich the rows again.`);
  }

  /** All rows were given. */
  end(): void {
    this.#hasEnded = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#run === null) return;
    const state = this.#hasEnded
      ? stateOf(this.#stop, { status: this.#status, partial_kept: 0 })
      : 'interrupted';
    const summary = this.#stop === null ? null : { stopped: this.#stop.message };
    await this.#context.store.finishRun(this.#run, {
      state,
      resumeAfter: this.#stop?.resumeAfter ?? null,
      summary,
    });
  }

  /** Adds the reason why buying stopped to a deferred row. */
  #withReason(fields: readonly Field[]): readonly Field[] {
    const [status, note, ...rest] = fields;
    return this.#stop === null || status !== 'deferred'
      ? fields
      : [status, `${note}. ${this.#stop.message}`, ...rest];
  }

  async #ask(prepared: OpenedJob): Promise<void> {
    const { plan, progress } = prepared;
    checkPurchase(prepared);
    await this.#options.approve(prepared);
    this.#run ??= await startRun(prepared, limitsOf(prepared));
    const stop = await getAnswers(prepared, plan, this.#run);
    const { creditsSpent, creditsUnknown, callsUnknown, calls, paidFailures } = progress;
    this.#spent = { creditsSpent, creditsUnknown, callsUnknown, calls, paidFailures };
    if (stop !== null && stop.reason !== this.#stop?.reason)
      this.#options.onEvent({ type: 'stopped', ...stop });
    this.#stop = stop ?? this.#stop;
  }
}

/** More batches may follow, at an unknown price: with a budget, the budget is what is planned. */
function limitsOf({ job, plan }: OpenedJob): RunLimits {
  return job.budget === null
    ? { plannedCredits: plan.price.credits, budget: plan.bounds.run }
    : { plannedCredits: job.budget, budget: job.budget };
}
