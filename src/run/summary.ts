import type { TopicSlug } from '../contract/topics.ts';
import { shareOf } from '../format-numbers.ts';
import { cheapestCalls } from '../plan/cheapest-calls.ts';
import type { Way } from '../plan/ways.ts';
import { isPartFiles } from '../rows/parts/part-files.ts';
import type { Spending } from '../store/port.ts';
import type { Connection } from './connection-kinds.ts';
import { datasetsOf } from './look-up/local-data.ts';
import { placesWithoutData } from './look-up/places-without-data.ts';
import type { Plan } from './plan/planning.ts';
import type { RunContext } from './run-context.ts';
import type { Job } from './settings/settings.ts';
import type { Stop } from './stop.ts';
import type { Written } from './write/write-output.ts';

/** The plan as `--json` prints it and as the run keeps it: stable names, snake case. */
export type PlanSummary = ReturnType<typeof planSummary>;

/** The same of a run. */
export type RunSummary = ReturnType<typeof runSummary>;

export function planSummary({ job, connection, sampleRows }: RunContext, plan: Plan) {
  const { scan, price, ways, priceList } = plan;
  const { rowFile } = scan;
  const { forecast } = ways.planned;
  const value = plan.shares.length > 0 ? scan.cells.total() : 0;
  const isLocal = connection.kind === 'local';
  const each = isLocal ? 0 : cheapestCalls(job.topics, priceList).credits;
  const lackedBy = (bundle: ReadonlySet<TopicSlug>) => job.topics.filter((topic) => !bundle.has(topic));
  return {
    rows: scan.rows,
    /** How many part files there are; null for one file. A run adds what became of them. */
    parts: isPartFiles(rowFile) ? { total: rowFile.parts.length } : null,
    located: scan.located,
    invalid: scan.invalid,
    outside_us: scan.outsideUs,
    /** Where the answers come from. */
    source: sourceOf(connection, job, plan),
    /** What `first_line` of the findings counts: `line`, `row` of a table or sheet, or `feature`. */
    unit: rowFile.unit ?? 'line',
    /** The share of rows that may be invalid. */
    max_invalid: job.maxInvalid,
    /** `part`: the part file of `first_line`, where the input is several. */
    findings: scan.findings.map(({ finding, note, rows, firstLine, part }) => ({
      finding,
      note,
      rows,
      first_line: firstLine,
      ...(part === undefined ? {} : { part }),
    })),
    /** The columns that were used, by name. */
    columns: scan.layout.used,
    /** How many of the located rows only the lenient reading could read. */
    read_leniently: scan.findings.find(({ finding }) => finding === 'read_leniently')?.rows ?? 0,
    cells: scan.cells.size,
    cells_cached: plan.cellsCached,
    calls: price.calls,
    credits: price.credits,
    /** Credits that retries of topics reported unavailable may add at most: what budget and quota leave for them. */
    credits_retries_at_most: Math.min(
      price.retryCredits,
      Math.max(0, Math.min(plan.limit, plan.available) - plan.reach.credits),
    ),
    credits_available: plan.available,
    /** Most credits that the run may spend. */
    credits_limit: plan.limit,
    fits: forecast.fits && price.credits <= Math.min(plan.limit, plan.window),
    minutes: forecast.minutes,
    /** How long a call takes, in seconds, and whether calls of this source were measured or it is assumed; null without calls. */
    latency:
      price.credits === 0 ? null : { seconds: Math.round(plan.pace.msPerCall) / 1_000, measured: plan.pace.measured },
    periods: forecast.periods,
    finish_by: isoTime(forecast.finishBy),
    /** Every way to buy, side by side; `planned` is the one that the job chose. The key's public name is `tiers`. */
    tiers: {
      standard: wayOf(ways.standard, lackedBy(priceList.standard)),
      enterprise: wayOf(ways.enterprise, lackedBy(priceList.enterprise)),
      cheapest: wayOf(ways.cheapest),
      fewest_calls: wayOf(ways.fewest_calls),
      planned: wayOf(ways.planned),
    },
    /** What this run buys within its budget, quota and time. `share_of_value` is null in the order of the file. */
    this_run: {
      credits: plan.reach.credits,
      cells: plan.reach.cells,
      share_of_value: shareOf(plan.reach.value, value),
      minutes: Math.min(forecast.minutes, plan.reach.minutes),
    },
    /** What the available credits buy, from the leanest tier to the richest; shares of all cells and of all value, 0 to 1. */
    shares: plan.shares.map((share) => ({
      tier: share.tier.name,
      cells: share.cells,
      share_of_cells: shareOf(share.cells, scan.cells.size) ?? 0,
      share_of_value: shareOf(share.value, value),
    })),
    overage_dollars: ways.planned.overageDollars,
    /** Credits that buying the requested topics for each row on its own would have cost beyond this plan: for rows that share a
     * cell, for answers that the store has, for answers that hold for a whole area. */
    saved: {
      by_cells: (scan.located - scan.cells.size) * each,
      by_cache: scan.cells.size * each - price.credits - (plan.areas?.saved ?? 0),
      by_areas: plan.areas?.saved ?? 0,
    },
    /** How many cells one answer for a whole area saves; null where the job does not ask for it. */
    areas: plan.areas && {
      representatives: plan.areas.representatives,
      verified: plan.areas.verified,
      spared: plan.areas.spared,
      /** Of the cells, those in an area by the boundaries on this machine, and why the others are bought on their own. */
      ...(scan.areaCounts && {
        found: scan.areaCounts.inArea,
        near_border: scan.areaCounts.nearBorder,
        in_no_area: scan.areaCounts.inNoArea,
        no_boundaries: scan.areaCounts.noBoundaries,
      }),
    },
    scopes: isLocal ? [] : plan.scopeNotes,
    sample_data: sampleRows.any,
  };
}

interface RunSummaryParts {
  readonly planned: PlanSummary;
  readonly areas: Plan['areas'];
  readonly job: Pick<Job, 'output' | 'tiers'>;
  readonly run: number;
  readonly spent: Spending;
  readonly written: Pick<Written, 'status' | 'value' | 'tiers' | 'parts' | 'cellsComplete' | 'isComplete'>;
  readonly stop: Stop | null;
}

export function runSummary({ planned, areas, job, run, spent, written, stop }: RunSummaryParts) {
  const { status, value, tiers, cellsComplete, isComplete } = written;
  const located = locatedIn(status);
  // What one place costs, from the plan: it divides without a rest.
  const shared = planned.located - planned.cells;
  const each = shared === 0 ? 0 : planned.saved.by_cells / shared;
  return {
    ...planned,
    /** Rows at the same place, and an answer for a whole area, save something only where the place has its answers. */
    saved: {
      ...planned.saved,
      by_cells: Math.max(0, status.ok - cellsComplete) * each,
      by_areas: savedByAreas(areas, planned.cells, isComplete),
    },
    /** What the plan would save of all places: with its credits, the price of each row on its own. */
    saved_by_plan: planned.saved,
    run,
    parts: written.parts ?? null,
    credits_spent: spent.charged,
    credits_unknown: spent.unknown + spent.open,
    status,
    /** Of the located rows, those that are complete: by number and by value (null in the order of the file), 0 to 1. */
    complete: { rows: shareOf(status.ok, located) ?? 1, value: shareOf(value.ok, locatedIn(value)) },
    /** The same for each tier, from the leanest to the richest; empty where the job has one set of topics. */
    complete_tiers:
      job.tiers.length < 2
        ? []
        : tiers.map((tier, index) => ({
            tier: job.tiers[index]!.name,
            rows: shareOf(tier.rows, located) ?? 1,
            value: shareOf(tier.value, locatedIn(value)),
          })),
    output: job.output,
    stopped: stop?.message ?? null,
    resume_after: isoTime(stop?.resumeAfter ?? null),
  };
}

function savedByAreas(areas: Plan['areas'], cells: number, isComplete: Written['isComplete']): number {
  let saved = 0;
  if (areas !== null) for (let cell = 0; cell < cells; cell++) if (isComplete(cell)) saved += areas.savedAt(cell);
  return saved;
}

/** The sum over the statuses of located rows. */
function locatedIn({ ok, partial, deferred, failed, rejected }: Written['status']): number {
  return ok + partial + deferred + failed + rejected;
}

/** @param lacks requested topics that this way never returns */
function wayOf(
  { price, calls, bytes, overageDollars, forecast }: Way,
  lacks: readonly TopicSlug[] = [...price.unobtainable.keys()],
) {
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

/** The datasets of a local source, those that the job's topics use, and what none of them answers: topics, and places to look up. */
function sourceOf(connection: Connection, { topics, counts }: Job, { order, scan, origin }: Plan) {
  if (connection.kind === 'service') return { kind: connection.sample ? ('sample' as const) : ('service' as const) };
  const { datasets, topics: here, topicsWithoutRecords } = connection.data;
  const used = datasetsOf(topics, counts);
  return {
    kind: 'local' as const,
    datasets: datasets
      .filter(({ name }) => used.has(name))
      .map(({ name, level, source, vintage, licence, states, loadedAt }) => ({
        name,
        level,
        source,
        vintage,
        licence,
        states: states ?? null,
        loaded_at: isoTime(loadedAt),
      })),
    topics_without_data: topics.filter((topic) => !here.has(topic)),
    /** These are answered, but a count of theirs stays empty: records of their events are not loaded. */
    topics_without_records: topics.filter((topic) => counts && topicsWithoutRecords.has(topic)),
    places_without_data: placesWithoutData(connection.data, topics, order, scan.cells),
    /** These get ratings of their county, because their tract has none here or no outline. */
    places_with_county_ratings:
      origin === null ? 0 : countedCells(scan.cells.size, (cell) => origin.originOf(cell).isOfCounty),
  };
}

function countedCells(size: number, isCounted: (cell: number) => boolean): number {
  let count = 0;
  for (let cell = 0; cell < size; cell++) if (isCounted(cell)) count += 1;
  return count;
}

export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
