import type { RowStatus } from '../columns/row-status.ts';
import type { CallKind } from '../contract/credits.ts';
import type { TopicSlug } from '../contract/topics.ts';
import { cheapestCalls, type PriceList } from '../plan/cheapest-calls.ts';
import type { Way } from '../plan/ways.ts';
import type { PlaceUnit } from '../rows/port.ts';
import type { Spending } from '../store/port.ts';
import type { Stop } from './buying/stop.ts';
import type { Plan, Ways } from './planning/planning.ts';
import type { UsedColumns } from './scan/layout.ts';
import type { Job } from './settings/settings.ts';
import type { Written } from './writing.ts';

/** The plan as `--json` prints it and as the run keeps it: stable names, snake case. */
export interface PlanSummary {
  readonly rows: number;
  readonly located: number;
  readonly invalid: number;
  readonly outside_us: number;
  /** What `first_line` of the findings counts: `line`, `row` of a table or sheet, or `feature`. */
  readonly unit: PlaceUnit;
  /** The share of rows that may be invalid (the job's `max_invalid`). */
  readonly max_invalid: number;
  readonly findings: readonly { finding: string; note: string; rows: number; first_line: number }[];
  /** The columns that were used, by name. */
  readonly columns: UsedColumns;
  /** How many of the located rows only the lenient reading could read. */
  readonly read_leniently: number;
  readonly cells: number;
  readonly cells_cached: number;
  readonly calls: Readonly<Record<CallKind, number>>;
  readonly credits: number;
  /** Credits that retries of topics reported unavailable may add at most. */
  readonly credits_retries_at_most: number;
  readonly credits_available: number;
  /** Most credits that the run may spend. */
  readonly credits_limit: number;
  readonly fits: boolean;
  readonly minutes: number;
  readonly periods: number | null;
  readonly finish_by: string | null;
  /** Every way to buy, side by side; `planned` is the one that the job chose. The public name of this key is `tiers`. */
  readonly tiers: Readonly<Record<keyof Ways, WaySummary>>;
  /** What the credits at hand buy, from the leanest tier to the richest. */
  readonly shares: readonly TierShareSummary[];
  readonly overage_dollars: number;
  readonly saved: SavedCredits;
  /** How far one answer serves a whole area; null where the job does not ask for it. */
  readonly areas: { readonly representatives: number; readonly verified: number; readonly spared: number } | null;
  readonly scopes: readonly string[];
  readonly sample_data: boolean;
}

interface WaySummary {
  readonly credits: number;
  readonly calls: number;
  readonly bytes: number;
  readonly overage_dollars: number;
  readonly minutes: number;
  readonly periods: number | null;
  readonly finish_by: string | null;
  readonly fits: boolean;
  /** Requested topics that this way never brings. */
  readonly lacks: readonly TopicSlug[];
}

interface TierShareSummary {
  readonly tier: string;
  readonly cells: number;
  /** Of all cells, 0 to 1. */
  readonly share_of_cells: number;
  /** Of the value of all located rows, 0 to 1; null in the order of the file. */
  readonly share_of_value: number | null;
}

/** Credits that buying the requested topics for each row on its own would have cost beyond this plan. */
interface SavedCredits {
  /** Rows that share a cell. */
  readonly by_cells: number;
  /** Answers that the store has. */
  readonly by_cache: number;
  /** Answers that serve a whole area. */
  readonly by_areas: number;
}

export interface RunSummary extends PlanSummary {
  readonly run: number;
  readonly credits_spent: number;
  readonly credits_unknown: number;
  readonly status: Readonly<Record<RowStatus, number>>;
  /** Of the located rows, those that are complete: by number and by value (null in the order of the file), 0 to 1. */
  readonly complete: { readonly rows: number; readonly value: number | null };
  /** The same for each tier, from the leanest to the richest; empty where the job has one set of topics. */
  readonly complete_tiers: readonly { readonly tier: string; readonly rows: number; readonly value: number | null }[];
  readonly output: string;
  readonly stopped: string | null;
  readonly resume_after: string | null;
}

interface PlanSummaryParts {
  readonly plan: Plan;
  readonly job: Job;
  readonly priceList: PriceList;
  readonly sample: boolean;
  readonly unit: PlaceUnit | undefined;
}

export function planSummary({ plan, job, priceList, sample, unit = 'line' }: PlanSummaryParts): PlanSummary {
  const { scan, price, ways } = plan;
  const { forecast } = ways.planned;
  const value = plan.shares.length > 0 ? cellValue(plan) : 0;
  const each = cheapestCalls(job.topics, priceList).credits;
  const lackedBy = (bundle: ReadonlySet<TopicSlug>) => job.topics.filter((topic) => !bundle.has(topic));
  return {
    rows: scan.rows,
    located: scan.located,
    invalid: scan.invalid,
    outside_us: scan.outsideUs,
    unit,
    max_invalid: job.maxInvalid,
    findings: scan.findings.map(({ finding, note, rows, firstLine }) => ({
      finding,
      note,
      rows,
      first_line: firstLine,
    })),
    columns: scan.layout.used,
    read_leniently: scan.findings.find(({ finding }) => finding === 'read_leniently')?.rows ?? 0,
    cells: scan.cells.size,
    cells_cached: plan.cellsCached,
    calls: price.calls,
    credits: price.credits,
    credits_retries_at_most: price.retryCredits,
    credits_available: plan.available,
    credits_limit: plan.limit,
    fits: forecast.fits && price.credits <= Math.min(plan.limit, plan.window),
    minutes: forecast.minutes,
    periods: forecast.periods,
    finish_by: isoTime(forecast.finishBy),
    tiers: {
      standard: wayOf(ways.standard, lackedBy(priceList.standard)),
      enterprise: wayOf(ways.enterprise, lackedBy(priceList.enterprise)),
      cheapest: wayOf(ways.cheapest),
      fewest_calls: wayOf(ways.fewest_calls),
      planned: wayOf(ways.planned),
    },
    shares: plan.shares.map((share) => ({
      tier: share.tier.name,
      cells: share.cells,
      share_of_cells: scan.cells.size === 0 ? 0 : share.cells / scan.cells.size,
      share_of_value: value === 0 ? null : share.value / value,
    })),
    overage_dollars: ways.planned.overageDollars,
    saved: {
      by_cells: (scan.located - scan.cells.size) * each,
      by_cache: scan.cells.size * each - price.credits - (plan.areas?.saved ?? 0),
      by_areas: plan.areas?.saved ?? 0,
    },
    areas: plan.areas && {
      representatives: plan.areas.representatives,
      verified: plan.areas.verified,
      spared: plan.areas.spared,
    },
    scopes: plan.scopeNotes,
    sample_data: sample,
  };
}

/**
 * Whether so many rows have no usable location that the file was probably read wrongly: with its columns exchanged, or with the
 * wrong location columns. Rows outside the US are real places; they count only where no row is inside.
 */
export function hasTooManyInvalid(summary: PlanSummary): boolean {
  return summary.rows > 0 && unusableRows(summary) / summary.rows > summary.max_invalid;
}

/** The rows that `hasTooManyInvalid` counts. */
export function unusableRows({ rows, located, invalid }: PlanSummary): number {
  return located === 0 ? rows : invalid;
}

interface RunSummaryParts {
  readonly planned: PlanSummary;
  readonly job: Pick<Job, 'output' | 'tiers'>;
  readonly run: number;
  readonly spent: Spending;
  readonly written: Pick<Written, 'status' | 'value' | 'tiers'>;
  readonly stop: Stop | null;
}

export function runSummary({ planned, job, run, spent, written, stop }: RunSummaryParts): RunSummary {
  const { status, value, tiers } = written;
  return {
    ...planned,
    run,
    credits_spent: spent.charged,
    credits_unknown: spent.unknown + spent.open,
    status,
    complete: { rows: shareOf(status.ok, status, 1), value: shareOf(value.ok, value, null) },
    complete_tiers:
      job.tiers.length < 2
        ? []
        : tiers.map((tier, index) => ({
            tier: job.tiers[index]!.name,
            rows: shareOf(tier.rows, status, 1),
            value: shareOf(tier.value, value, null),
          })),
    output: job.output,
    stopped: stop?.message ?? null,
    resume_after: isoTime(stop?.resumeAfter ?? null),
  };
}

/** A share of the located rows, or of their value; `ifNone` where there are none. */
function shareOf<None>(part: number, sums: Written['status'], ifNone: None): number | None {
  const all = sums.ok + sums.partial + sums.deferred + sums.failed + sums.rejected;
  return all === 0 ? ifNone : part / all;
}

function wayOf(
  { price, calls, bytes, overageDollars, forecast }: Way,
  lacks: readonly TopicSlug[] = [...price.unobtainable.keys()],
): WaySummary {
  return {
    credits: price.credits,
    calls,
    bytes,
    overage_dollars: overageDollars,
    minutes: forecast.minutes,
    periods: forecast.periods,
    finish_by: isoTime(forecast.finishBy),
    fits: forecast.fits,
    lacks,
  };
}

function cellValue({ scan }: Plan): number {
  let sum = 0;
  for (let cell = 0; cell < scan.cells.size; cell++) sum += scan.cells.value(cell);
  return sum;
}

export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
