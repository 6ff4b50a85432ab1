import { PerilbookError } from '../base/errors.ts';
import { ROW_STATUSES, type RowStatus } from '../columns/row-status.ts';
import type { Field } from '../contract/answer.ts';
import { type RunEvent, reportProgress } from '../host/run-events.ts';
import { rowFields } from '../rows/placed-fields.ts';
import type { RowFile } from '../rows/port.ts';
import { newProgress, type Progress } from '../run/frame/progress.ts';
import type { RunContext } from '../run/frame/run-context.ts';
import { STOPS, type Stop } from '../run/frame/stop.ts';
import { type OpenedJob, prepare } from '../run/prepare.ts';
import { checkPurchase, getAnswers, startRun, stateOf, verifiedPlan } from '../run/run-job.ts';
import { openOutputFields } from '../run/write/output-fields.ts';
import { writeOutput } from '../run/write/write-output.ts';
import type { Claim, ClaimLimits, ClaimRequest } from '../store/ledger/port.ts';
import type { Store } from '../store/port.ts';
import { NO_LIMIT } from './answer-source.ts';
import type { SharedRun } from './answer-store.ts';

/** A coordinate in decimal degrees: a number, or the text of one. Text in other notations needs `coordinates: 'lenient'`. */
export type Coordinate = number | string | null | undefined;

/** A program's rows as a row file, so that the code for files scans, prices and joins them. */
interface MemoryRows extends RowFile {
  /** The fields of each row, once they were written. */
  readonly written: () => readonly (readonly Field[])[];
}

function memoryRows(locations: readonly (readonly [Coordinate, Coordinate])[]): MemoryRows {
  let written: readonly (readonly Field[])[] = [];
  return {
    format: 'memory',
    columns: ['lat', 'lng'],
    unit: 'row',
    async *read(columns) {
      // No message names a program's row by its number.
      yield locations.map((location) => ({
        ...{ number: 0, line: 0 },
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

/** Answers batches of rows. Each batch has its own scan, plan, purchase (or look-up) and join. All batches are one run in the ledger,
 * with one budget. The run begins with the first batch that lacks an answer, and ends when this is disposed of. */
export class BatchRun implements AsyncDisposable {
  readonly #context: RunContext;
  readonly #onEvent: (event: RunEvent) => void;
  readonly #status = Object.fromEntries(ROW_STATUSES.map((name) => [name, 0])) as Record<
    RowStatus,
    number
  >;
  #run: number | null = null;
  #stop: Stop | null = null;
  #rows = 0;
  #spent: Partial<Progress> = {};
  #hasEnded = false;
  readonly #shared: SharedRun | null;
  readonly #approve: (prepared: OpenedJob) => Promise<void>;

  /** @param shared a run that others continue, and end; null: a run of its own
   * @param approve gets the plan of a batch before anything is spent, and throws to refuse it */
  constructor(
    context: RunContext,
    onEvent: (event: RunEvent) => void,
    shared: SharedRun | null,
    approve: (prepared: OpenedJob) => Promise<void> = async () => {},
  ) {
    this.#approve = approve;
    this.#context = shared === null ? context : { ...context, store: countingAlone(context.store) };
    this.#onEvent = onEvent;
    this.#shared = shared;
  }

  /** The fields of the rows of a batch, in their order. */
  async answer(
    locations: readonly (readonly [Coordinate, Coordinate])[],
  ): Promise<readonly (readonly Field[])[]> {
    const rowFile = memoryRows(locations);
    const progress = { ...newProgress(), ...this.#spent };
    using _ = reportProgress(progress, this.#onEvent, () => this.#rows);
    using prepared = await prepare(
      { ...this.#context, setAside: new Map(), progress },
      {},
      rowFile,
    );
    // The rest of a budget may pay for a place that lacks little. Every other reason holds for all places.
    const mayAsk = this.#stop === null || this.#stop.reason === 'budget';
    if (mayAsk && prepared.plan.order.length > 0) await this.#ask(prepared);
    const fields = await openOutputFields(prepared, await verifiedPlan(prepared, prepared.plan));
    const { status } = await writeOutput(prepared, prepared.plan.scan, fields);
    for (const name of ROW_STATUSES) this.#status[name] += status[name];
    this.#rows += locations.length;
    // Read now: the fields are unpacked from the store, which the program may close.
    return rowFile.written().map((fields) => this.#withReason(fields));
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
    if (this.#run === null || this.#shared !== null) return;
    const state = this.#hasEnded ? stateOf(this.#stop, { status: this.#status }) : 'interrupted';
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
    const { job, plan, progress } = prepared;
    checkPurchase(prepared);
    await this.#approve(prepared);
    // More batches follow. Their price is unknown; only the budget limits it.
    const isLimited = job.budget !== null && job.budget !== NO_LIMIT;
    const { price, limit } = plan;
    const planned = isLimited
      ? { plannedCredits: job.budget, budget: job.budget }
      : { plannedCredits: price.credits, budget: limit };
    this.#run ??= await (this.#shared === null
      ? startRun(prepared, planned)
      : runIn(this.#shared, prepared, planned));
    const stop = await getAnswers(prepared, plan, this.#run);
    const { creditsSpent, creditsUnknown, callsUnknown, calls } = progress;
    this.#spent = { creditsSpent, creditsUnknown, callsUnknown, calls };
    if (stop !== null && stop.reason !== this.#stop?.reason)
      this.#onEvent({ type: 'stopped', ...stop });
    this.#stop = stop ?? this.#stop;
  }
}

/** The number of a shared run, which begins with the first purchase. */
async function runIn(
  shared: SharedRun,
  prepared: OpenedJob,
  planned: Parameters<typeof startRun>[1],
): Promise<number> {
  shared.number ??= startRun(prepared, planned);
  try {
    return await shared.number;
  } catch (error) {
    shared.number = null;
    throw error;
  }
}

/** The store for one of those that share a run: the ledger adds up the credits of a run, so the budget of each is kept here. */
function countingAlone(store: Store): Store {
  const prices = new Map<number, number>();
  let spent = 0;
  const claim = async (limits: ClaimLimits, request: ClaimRequest): Promise<Claim> => {
    const { credits } = request;
    if (spent + credits > limits.budget) return { outcome: 'budget' };
    spent += credits;
    const [claim] = await store.claim({ ...limits, budget: NO_LIMIT }, [request]);
    if (claim!.outcome === 'granted') prices.set(claim!.call, credits);
    else spent -= credits;
    return claim!;
  };
  return {
    ...store,
    runSpending: async () => ({ charged: spent, unknown: 0, open: 0 }),
    claim: (limits, requests) => Promise.all(requests.map((request) => claim(limits, request))),
    async settle(settlements) {
      await store.settle(settlements);
      for (const { call, credits } of settlements) spent += credits - prices.get(call)!;
    },
  };
}
