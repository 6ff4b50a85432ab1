import { isoTime, shareOf } from '../base/format-numbers.ts';
import { BUNDLE_KINDS, callOfItem, contractPrice } from '../contract/credits.ts';
import { TOPIC_SLUGS, type TopicSlug } from '../contract/topics.ts';
import { isUnlimited } from '../job/account-settings.ts';
import type { Job } from '../job/settings.ts';
import { isPartFiles } from '../rows/parts/part-files.ts';
import type { ChargedPrices, Spending } from '../store/ledger/port.ts';
import type { RunAreas } from './areas/run-areas.ts';
import type { Connection } from './frame/connection-kinds.ts';
import type { Progress } from './frame/progress.ts';
import type { RunContext } from './frame/run-context.ts';
import type { Stop } from './frame/stop.ts';
import type { OutputDecision } from './output-decision.ts';
import { cheapestCalls } from './plan/cheapest-calls.ts';
import { scopeNotes } from './plan/notices.ts';
import type { Plan } from './plan/planning.ts';
import { creditsAtMost, creditsWithin, retryLimit, type Way } from './plan/spending.ts';
import { hasOneCurrency } from './scan/currency.ts';
import { totalValue } from './scan/scan-tally.ts';
import { sourceSummary } from './source-summary.ts';
import type {
  AreasSummary,
  ChargedPriceSummary,
  LossSummary,
  PlanSummary,
  RefusedWaySummary,
  RunSummary,
  WaySummary,
} from './summary-shapes.ts';
import type { LossSums } from './write/loss-sums.ts';
import type { OutputSums } from './write/output-fields.ts';

/** What the requested topics cost at one place. */
export function pricePerPlace({ topics }: Job, { kind }: Connection, { priceList }: Plan): number {
  return kind === 'local' ? 0 : cheapestCalls(topics, priceList).credits;
}

/** The plan as it is told. */
export function planSummary(context: RunContext, plan: Plan): PlanSummary {
  const { connection, sampleRows } = context;
  // Prices are those of the topics that are asked of the source.
  const { job } = context.sources[0];
  const { scan, price, ways, rejected } = plan;
  const isLocal = connection.kind === 'local';
  const each = pricePerPlace(job, connection, plan);
  return {
    ...inputSummary(context, plan),
    ...priceSummary(job, plan),
    ...waysSummary(job, plan),
    overage_dollars: ways.planned.overageDollars,
    /** Credits that this plan saves, compared with buying the requested topics for each row: by rows that share a cell, by answers
     * in the store (at most: an answer without data was free), by answers that hold for a whole area. Nothing is saved where the service
     * rejects the location. */
    saved: {
      by_cells: (scan.located - scan.cells.size - (rejected.rows - rejected.cells)) * each,
      by_cache:
        (scan.cells.size - plan.beyondLimit - rejected.cells) * each -
        price.credits -
        (plan.areaSavings?.saved ?? 0),
      by_areas: plan.areaSavings?.saved ?? 0,
    },
    areas: areasSummary(plan),
    scopes: isLocal ? [] : scopeNotes(job, plan),
    refused_way: refusedWaySummary(plan),
    sample_data: sampleRows.any,
    /** The credits are those that a paid service would charge: nobody charges them. */
    credits_made_up: connection.sample,
  };
}

function inputSummary(context: RunContext, plan: Plan) {
  const { job } = context;
  const { scan } = plan;
  const { rowFile } = scan;
  return {
    rows: scan.rows,
    /** The number of part files; null for one file. */
    parts: isPartFiles(rowFile) ? { total: rowFile.parts.length } : null,
    located: scan.located,
    invalid: scan.invalid,
    outside_us: scan.outsideUs,
    /** Where the rows outside the US lie, in degrees. */
    outside_us_box: scan.elsewhere,
    source: sourceSummary(context, plan),
    /** What `first_line` of the findings counts: `line`, `row` of a table or sheet, or `feature`. */
    unit: rowFile.unit ?? 'line',
    max_invalid: job.maxInvalid,
    /** `part`: the part file of `first_line`, if the input has parts. */
    findings: scan.findings.map(({ finding, note, rows, firstLine, part }) => ({
      finding,
      note,
      rows,
      first_line: firstLine,
      ...(part === undefined ? {} : { part }),
    })),
    columns: scan.layout.used,
    /** How many of the located rows only the lenient reading could read. */
    read_leniently: scan.findings.find(({ finding }) => finding === 'read_leniently')?.rows ?? 0,
  };
}

function priceSummary(job: Job, plan: Plan) {
  const { scan, price, ways } = plan;
  const { forecast } = ways.planned;
  return {
    cells: scan.cells.size,
    cells_cached: plan.cellsCached,
    /** The places that are not asked for, because the service rejected them (local data: no area of it holds them). */
    cells_rejected: plan.rejected.cells,
    calls: price.calls,
    credits: price.credits,
    prices: pricesSummary(plan.charged).filter(
      ({ topic, credits, contract }) =>
        credits !== contract && (topic === null || job.topics.includes(topic)),
    ),
    /** Most credits for retries of unavailable topics and, where there is a budget, of lost answers, within budget and quota. */
    credits_retries_at_most: Math.min(
      retryLimit(job, price),
      Math.max(0, creditsAtMost(plan.bounds) - plan.reach.credits),
    ),
    /** Null for the sample, whose answers are not charged: it has no quota where the job names no subscription. */
    credits_available: isUnlimited(job) ? null : plan.bounds.quota,
    /** Most credits that the run spends, in one number: its price and the retries, or the budget if that is less. Its claims are checked
     * against it. */
    credits_limit: plan.bounds.run,
    fits: forecast.fits && price.credits <= creditsWithin(plan.bounds),
    minutes: forecast.minutes,
    /** The duration of a call, in seconds, and whether it was measured at this source or is assumed; null without calls. */
    latency:
      price.credits === 0
        ? null
        : { seconds: Math.round(plan.pace.msPerCall) / 1_000, measured: plan.pace.measured },
    periods: forecast.periods,
    finish_by: isoTime(forecast.finishBy),
  };
}

/** The prices that a service charged, bundles first. */
export function pricesSummary(charged: ChargedPrices): ChargedPriceSummary[] {
  const items = [...BUNDLE_KINDS, ...TOPIC_SLUGS].filter((item) => charged.has(item));
  return items.map((item) => {
    const call = callOfItem(item);
    const { credits, at, holdsMs } = charged.get(item)!;
    return {
      kind: call.kind,
      topic: call.kind === 'single' ? call.topic : null,
      credits,
      contract: contractPrice(call),
      charged_at: new Date(at).toISOString(),
      holds: holdsMs > 0,
    };
  });
}

function waysSummary(job: Job, plan: Plan) {
  const { scan, ways, priceList } = plan;
  const value = totalValue(scan);
  const lackedBy = (bundle: ReadonlySet<TopicSlug>) =>
    job.topics.filter((topic) => !bundle.has(topic));
  return {
    /** Every way to buy, side by side; `planned` is the one that the job chose. */
    ways: {
      standard: wayOf(ways.standard, lackedBy(priceList.standard)),
      enterprise: wayOf(ways.enterprise, lackedBy(priceList.enterprise)),
      cheapest: wayOf(ways.cheapest),
      fewest_calls: wayOf(ways.fewest_calls),
      planned: wayOf(ways.planned),
    },
    /** What this run buys within its budget, quota and time. `share_of_value` is null in file order. */
    this_run: {
      credits: plan.reach.credits,
      cells: plan.reach.cells,
      share_of_value: shareOf(plan.reach.value, value),
      minutes: Math.min(ways.planned.forecast.minutes, plan.reach.minutes),
    },
    /** The cells that are complete after this run, with their shares of all cells and of all value, 0 to 1 (null in file order). */
    after_run: {
      cells: plan.reach.complete.cells,
      share_of_cells: shareOf(plan.reach.complete.cells, scan.cells.size) ?? 0,
      share_of_value: shareOf(plan.reach.complete.value, value),
    },
  };
}

function refusedWaySummary({ refusedWay }: Plan): RefusedWaySummary | null {
  if (refusedWay === null) return null;
  const { credits, refused } = refusedWay;
  return {
    credits,
    refused: refused.map(({ scope, reason, at }) => {
      return { scope, reason, refused_at: new Date(at).toISOString() };
    }),
  };
}

/** How many cells one answer for a whole area saves; null where the job does not ask for it. */
function areasSummary({ areas, scan: { areaCounts } }: Plan): AreasSummary | null {
  return (
    areas && {
      representatives: areas.plan.representatives,
      verified: areas.plan.verified,
      spared: areas.plan.spared,
      ...verificationSummary(areas),
      /** How many cells are in an area by the boundaries on this machine, and why the others are bought on their own. */
      ...(areaCounts && {
        found: areaCounts.in_area,
        near_border: areaCounts.near_border,
        in_no_area: areaCounts.in_no_area,
        no_boundaries: areaCounts.no_boundaries,
      }),
    }
  );
}

interface RunSummaryParts {
  readonly planned: PlanSummary;
  readonly plan: Pick<Plan, 'areas' | 'areaSavings'>;
  readonly job: Pick<Job, 'output' | 'losses'>;
  readonly each: number;
  readonly run: number;
  /** `byOthers`: planned credits that were not needed, because other runs bought the answers meanwhile. */
  readonly spent: Spending & { readonly byOthers: number } & Pick<
      Progress,
      'callsAbovePrice' | 'creditsAbovePrice' | 'lastFailure'
    >;
  readonly written: Omit<OutputSums, 'ratings'>;
  readonly decision: OutputDecision;
  readonly stop: Stop | null;
}

/** The result of a run as it is told. */
export function runSummary({
  planned,
  plan,
  job,
  each,
  run,
  spent,
  written,
  decision,
  stop,
}: RunSummaryParts): RunSummary {
  const { status, keptLacking, value, cellsComplete, isComplete } = written;
  const located = locatedIn(status);
  return {
    ...planned,
    areas: planned.areas && plan.areas && { ...planned.areas, ...verificationSummary(plan.areas) },
    /** Rows at the same place and answers for a whole area save credits only if the place has its answers. */
    saved: {
      ...planned.saved,
      by_cells: Math.max(0, status.ok + keptLacking - cellsComplete) * each,
      by_areas: savedByAreas(plan, planned.cells, isComplete),
    },
    /** The plan's saving over all places. Added to its credits, it gives the price of each row on its own. */
    saved_by_plan: planned.saved,
    run,
    credits_spent: spent.charged,
    credits_unknown: spent.unknown + spent.open,
    credits_by_others: spent.byOthers,
    /** The calls for which the service charged more than the plan's price, and how much more in all. */
    calls_above_price: spent.callsAbovePrice,
    credits_above_price: spent.creditsAbovePrice,
    status,
    partial_kept: keptLacking,
    /** The share of located rows that are complete: by number and by value (null in file order), 0 to 1. */
    complete: {
      rows: shareOf(status.ok, located) ?? 1,
      value: hasOneCurrency(planned.findings) ? shareOf(value.ok, locatedIn(value)) : null,
    },
    output: job.output,
    /** The file is the earlier output, unchanged, and why; null where it was written. */
    output_kept: decision.kind === 'keep',
    output_kept_because: decision.kind === 'keep' ? decision.because : null,
    /** What the last call that was given up failed with; null where none was. */
    last_failure: spent.lastFailure || null,
    stopped: stop?.message ?? null,
    resume_after: isoTime(stop?.resumeAfter ?? null),
    ...(job.losses && { losses: written.losses.map(lossSummary) }),
  };
}

function lossSummary(losses: LossSums): LossSummary {
  const toCents = (amount: number) => Math.round(amount * 100) / 100;
  return {
    currency: losses.currency,
    annual_loss: toCents(losses.annualLoss),
    value: toCents(losses.value),
    all_value: toCents(losses.allValue),
    topics: losses.topics.map(({ topic, annualLoss }) => ({
      topic,
      annual_loss: toCents(annualLoss),
    })),
  };
}

/** How many areas are verified, how many of them differed, and whether each place is bought for itself because of that. */
function verificationSummary({ verification, isTrusted }: RunAreas) {
  return {
    areas_verified: verification.verified,
    areas_differed: verification.differed,
    each_place: !isTrusted,
  };
}

function savedByAreas(
  { areas, areaSavings }: RunSummaryParts['plan'],
  cells: number,
  isComplete: OutputSums['isComplete'],
): number {
  let saved = 0;
  if (areas?.isTrusted)
    for (let cell = 0; cell < cells; cell++)
      if (isComplete(cell)) saved += areaSavings!.savedAt(cell);
  return saved;
}

/** The sum over the statuses of located rows. */
export function locatedIn({
  ok,
  partial,
  deferred,
  failed,
  rejected,
}: OutputSums['status']): number {
  return ok + partial + deferred + failed + rejected;
}

/** The rows that lack answers to topics of the job. What kept columns of an earlier run lack, no later run of this job completes. */
export function lackingRows({
  status,
  partial_kept,
}: Pick<RunSummary, 'status' | 'partial_kept'>): number {
  return status.partial - partial_kept + status.failed + status.deferred;
}

/** @param lacks requested topics that this way never returns */
function wayOf(
  { price, calls, bytes, overageDollars, forecast }: Way,
  lacks: readonly TopicSlug[] = [...price.unobtainable.keys()],
): WaySummary {
  const { minutes, periods, finishBy, fits } = forecast;
  return {
    credits: price.credits,
    calls,
    bytes,
    overage_dollars: overageDollars,
    minutes,
    periods,
    finish_by: isoTime(finishBy),
    fits,
    lacks,
  };
}
