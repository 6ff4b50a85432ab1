import { stat } from 'node:fs/promises';
import { shareOf } from '../../base/format-numbers.ts';
import type { Job } from '../../job/settings.ts';
import { purchaseJob } from '../../run/frame/connection-kinds.ts';
import { type Effects, openContext, type RunContext } from '../../run/frame/run-context.ts';
import { refusedWayText } from '../../run/plan/approval.ts';
import { purchaseBySet } from '../../run/plan/cheapest-calls.ts';
import { NO_FIELDS } from '../../run/plan/planning.ts';
import { findReach } from '../../run/plan/reach.ts';
import { creditsWithin } from '../../run/plan/spending.ts';
import { type Prepared, prepareScanned, refuseMixed } from '../../run/prepare.ts';
import { findLayout, type Layout } from '../../run/scan/layout.ts';
import { type Scan, scan } from '../../run/scan/scan-input.ts';
import { totalValue } from '../../run/scan/scan-tally.ts';
import type { PlanSummary } from '../../run/summary-shapes.ts';
import { checkRoom } from '../../run/write/write-output.ts';
import type { Store } from '../../store/port.ts';
import { withoutTerminal } from './page-words.ts';

export type PriceRequest = Pick<RunContext, 'job' | 'connection'>;

/** The price of a job. */
export interface JobPrice {
  readonly summary: PlanSummary;
  /** What each budget buys; null for local data, whose answers are free. */
  readonly curve: BudgetCurve | null;
  /** Null for local data, which has no account; `resets` in milliseconds since the epoch. */
  readonly account: { readonly name: string; readonly resets: number } | null;
  /** Why it is dearer than the cheapest way, with the service's sentence, where a refusal keeps it from that; null where none does. */
  readonly refused: string | null;
}

/** What a budget buys. */
export interface BudgetReach {
  readonly credits: number;
  /** Places. */
  readonly cells: number;
  readonly minutes: number;
  /** Null in the order of the file. */
  readonly share_of_value: number | null;
}

/** The share that each budget buys, in the order of buying. */
interface BudgetCurve {
  /** Of all value, or of all places if rows are bought in file order. */
  readonly of: 'value' | 'places';
  /** Credits and the share that they buy, both growing. */
  readonly points: readonly (readonly [credits: number, share: number])[];
  /** The fewest credits that buy a share, if the whole price buys it. */
  readonly marks: readonly { readonly share: number; readonly credits: number }[];
}

/** Prices the page's settings. The last scan is cached: other topics are priced without reading a large file again. A run scans again. */
export class Pricing implements Disposable {
  readonly #store: Store;
  readonly #effects: Effects;
  #kept: { readonly key: string; readonly scan: Scan } | null = null;
  /** The last priced job, so that another budget needs no new price. */
  #last: { readonly key: string; readonly prepared: Prepared } | null = null;
  /** Prices run one at a time, because they share the cached scan. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Store, effects: Effects) {
    this.#store = store;
    this.#effects = effects;
  }

  /** The price of a job, and what its account has left. Spends nothing. @throws INPUT_*, OUTPUT_UNWRITABLE, SCOPE_MISSING */
  price(request: PriceRequest): Promise<JobPrice> {
    return this.#inTurn(() => this.#price(request));
  }

  /** What a budget buys of a job's plan. Prices the job first, unless it was the last one priced. Spends nothing. */
  reach(request: PriceRequest, budget: number): Promise<BudgetReach> {
    return this.#inTurn(async () => {
      const { job, connection } = request;
      if (this.#last?.key !== settingsKey(job)) await this.#price(request);
      const { scan: scanned, order, missing, priceList, pace, bounds } = this.#last!.prepared.plan;
      const { cells } = scanned;
      const { creditsPerMinute } = purchaseJob(job, connection).account.subscription;
      const planned = {
        creditsPerMinute,
        cells,
        order,
        missing,
        priceList,
        msPerCredit: pace.msPerCredit,
      };
      const {
        credits,
        cells: bought,
        minutes,
        value,
      } = findReach(planned, creditsWithin({ ...bounds, run: budget }));
      // No share of the value in the order of the file.
      return {
        credits,
        cells: bought,
        minutes,
        share_of_value: shareOf(value, totalValue(scanned)),
      };
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => {});
    return mine;
  }

  [Symbol.dispose](): void {
    this.#last = null;
    this.#kept?.scan[Symbol.dispose]();
    this.#kept = null;
  }

  async #price({ job, connection }: PriceRequest): Promise<JobPrice> {
    const context = await openContext(job, {
      connection,
      store: this.#store,
      effects: this.#effects,
    });
    const { scanned, layout } = await this.#scanned(context);
    // As a run does before it asks: else only the start would refuse it.
    refuseMixed(context, scanned);
    await checkRoom(job, { ...scanned, layout });
    const prepared = await prepareScanned(context, scanned, { fieldsOf: NO_FIELDS });
    this.#last = { key: settingsKey(job), prepared };
    const paying = prepared.plan.account;
    const account = paying && { name: paying.account.name, resets: paying.period.end };
    const findings = prepared.summary.findings.map(({ note, ...rest }) => ({
      ...rest,
      note: withoutTerminal(note),
    }));
    const { refusedWay } = prepared.plan;
    const refused =
      refusedWay && withoutTerminal(refusedWayText(refusedWay, prepared.summary.credits));
    // Local data has no account, and its answers are free.
    const curve = connection.kind === 'local' ? null : budgetCurve(prepared);
    return { summary: { ...prepared.summary, findings }, curve, account, refused };
  }

  /** The scan of the input, and the layout for these topics: the cached scan may be of others. @throws INPUT_* where their columns clash with the input's */
  async #scanned(
    context: RunContext,
  ): Promise<{ readonly scanned: Scan; readonly layout: Layout }> {
    const { input, location, coordinates, reading, precision, orderBy, prefix, areas } =
      context.job;
    // These change when the file is written.
    const { size, mtimeMs, ino } = await stat(input);
    const ofFile = [
      input,
      size,
      mtimeMs,
      ino,
      location,
      coordinates,
      reading,
      precision,
      orderBy,
      prefix,
    ];
    const key = JSON.stringify([ofFile, context.connection.kind === 'local' ? null : areas]);
    if (this.#kept?.key === key) {
      const scanned = this.#kept.scan;
      const layout = await findLayout(scanned.rowFile, context.job);
      if (readsOfRows(layout) === readsOfRows(scanned.layout)) return { scanned, layout };
    }
    this[Symbol.dispose]();
    const scanned = await scan(context);
    this.#kept = { key, scan: scanned };
    return { scanned, layout: scanned.layout };
  }
}

/** What a scan has read of each row beside its location and value: codes of its own, and answers of an earlier run. It differs by topics. */
const readsOfRows = ({ codes, keptAnswers }: Layout): string =>
  JSON.stringify([codes, keptAnswers]);

const settingsKey = (job: Job): string => JSON.stringify({ ...job, budget: null });

const MARKS = [0.5, 0.8, 0.95];

/** About as many as a slider has pixels. */
const MOST_POINTS = 200;

/** One pass over the plan: what a budget buys by `findReach` is the same at each point. */
function budgetCurve({ plan }: Prepared): BudgetCurve {
  const { cells } = plan.scan;
  const total = totalValue(plan.scan);
  const of = total > 0 ? 'value' : 'places';
  const purchaseOf = purchaseBySet(() => plan.priceList);
  const step = plan.order.length / MOST_POINTS;
  const points: [number, number][] = [[0, 0]];
  const marks: { share: number; credits: number }[] = [];
  let [credits, bought, count] = [0, 0, 0];
  for (const cell of plan.order) {
    const price = purchaseOf(plan.missing.get(cell)).credits;
    credits += price;
    count++;
    bought += of === 'value' ? cells.value(cell) : 1;
    const share = shareOf(bought, of === 'value' ? total : cells.size)!;
    while (marks.length < MARKS.length && share >= MARKS[marks.length]!) {
      marks.push({ share: MARKS[marks.length]!, credits });
    }
    if (count === plan.order.length || count >= points.length * step) points.push([credits, share]);
  }
  return { of, points, marks };
}
