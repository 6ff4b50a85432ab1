import type { RowStatus } from '../columns/status.ts';
import type { CallKind } from '../contract/credits.ts';
import { cheapestCalls, type Market } from '../plan/cheapest-calls.ts';
import type { Price } from '../plan/prices.ts';
import type { Stop } from './buying.ts';
import type { Plan } from './planning.ts';
import type { Job } from './settings.ts';

/** The plan as `--json` prints it and as the run keeps it: stable names, snake case. */
export interface PlanSummary {
  readonly rows: number;
  readonly located: number;
  readonly invalid: number;
  readonly outside_us: number;
  readonly findings: readonly { finding: string; note: string; rows: number; first_line: number }[];
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
  readonly tiers: Readonly<Record<'standard' | 'enterprise' | 'cheapest', { credits: number; calls: number }>>;
  readonly saved: SavedCredits;
  readonly scopes: readonly string[];
  readonly sample_data: boolean;
}

/** Credits that buying the requested topics for each row on its own would have cost beyond this plan. */
export interface SavedCredits {
  /** Rows that share a cell. */
  readonly by_cells: number;
  /** Answers that the store has. */
  readonly by_cache: number;
}

export interface RunSummary extends PlanSummary {
  readonly run: number;
  readonly credits_spent: number;
  readonly credits_unknown: number;
  readonly status: Readonly<Record<RowStatus, number>>;
  readonly output: string;
  readonly stopped: string | null;
  readonly resume_after: string | null;
}

export function planSummary(plan: Plan, job: Job, market: Market, sample: boolean): PlanSummary {
  const { scan, price } = plan;
  const each = cheapestCalls(job.topics, market).credits;
  return {
    rows: scan.rows,
    located: scan.located,
    invalid: scan.invalid,
    outside_us: scan.outsideUs,
    findings: scan.findings.map(({ finding, note, rows, firstLine }) => ({
      finding,
      note,
      rows,
      first_line: firstLine,
    })),
    cells: scan.cells.size,
    cells_cached: plan.cellsCached,
    calls: price.calls,
    credits: price.credits,
    credits_retries_at_most: price.retryCredits,
    credits_available: plan.account.available,
    credits_limit: plan.limit,
    fits: plan.forecast.fits && price.credits <= plan.limit,
    minutes: plan.forecast.minutes,
    periods: plan.forecast.periods,
    finish_by: isoTime(plan.forecast.finishBy),
    tiers: {
      standard: tierOf(plan.tiers.standard),
      enterprise: tierOf(plan.tiers.enterprise),
      cheapest: tierOf(plan.tiers.cheapest),
    },
    saved: {
      by_cells: (scan.located - scan.cells.size) * each,
      by_cache: scan.cells.size * each - price.credits,
    },
    scopes: plan.scopeNotes,
    sample_data: sample,
  };
}

export function runSummary(
  planned: PlanSummary,
  run: number,
  spent: { readonly charged: number; readonly unknown: number; readonly open: number },
  status: Readonly<Record<RowStatus, number>>,
  output: string,
  stop: Stop | null,
): RunSummary {
  return {
    ...planned,
    run,
    credits_spent: spent.charged,
    credits_unknown: spent.unknown + spent.open,
    status,
    output,
    stopped: stop?.message ?? null,
    resume_after: isoTime(stop?.resumeAfter ?? null),
  };
}

function tierOf({ credits, calls }: Price): { credits: number; calls: number } {
  return { credits, calls: calls.single + calls.standard + calls.enterprise };
}

export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
