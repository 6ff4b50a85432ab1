import type { Clock } from '../clock.ts';
import type { CellAreaFinder } from '../data/tables/cell-area-finder.ts';
import { PerilbookError } from '../errors.ts';
import { ASSUMED_CALL_MS, callTimes, EMBEDDED_CALL_MS } from '../plan/call-times.ts';
import type { PriceList } from '../plan/cheapest-calls.ts';
import type { Streams } from '../rows/open-row-file.ts';
import type { PartFiles } from '../rows/parts/part-files.ts';
import type { RowFile } from '../rows/port.ts';
import type { Store } from '../store/port.ts';
import { type ApprovedPlan, checkApproved, creditsLeft } from './approved-plan.ts';
import { LEASE_MS } from './buy/claim-limits.ts';
import { type Progress, record } from './buy/progress.ts';
import { CellCache, completeCellFields } from './cell-fields.ts';
import type { Connection } from './connection-kinds.ts';
import { countyRatedCells } from './look-up/county-rated-cells.ts';
import { loadedSince, localNotes, type OriginNotes } from './look-up/local-data.ts';
import { openJobInput } from './parts/job-input.ts';
import { ApiKeys } from './plan/api-keys.ts';
import { type Freshness, freshnessOf } from './plan/freshness.ts';
import { makePlan, type Plan, type PlanRequest } from './plan/planning.ts';
import { priceListOf } from './plan/price-list.ts';
import { SampleRows } from './sample-rows.ts';
import { type Scan, scan } from './scan/scan-input.ts';
import type { Job } from './settings/settings.ts';
import { type PlanSummary, planSummary } from './summary.ts';

/** What a run needs from its caller. */
export interface Effects {
  readonly clock: Clock;
  readonly random: () => number;
  readonly streams: Streams;
  /** Called with what the user should know at once. */
  readonly notice: (message: string) => void;
  /** Called with a line for each request and each answer, for debugging; never with a key. */
  readonly trace?: (line: string) => void;
  /** How many threads read and write the rows beside the main one. Left out: the other cores, for large files. */
  readonly rowThreads?: number;
  /**
   * Opens the boundaries that a job with `areas.find` needs. Left out where no job has it.
   * @throws SERVICE_DATA when they are not here
   */
  readonly openAreas?: (job: Job) => OpenedAreas;
}

/** Boundaries that are open until they are disposed of. */
export interface OpenedAreas extends Disposable {
  readonly find: CellAreaFinder;
}

/** An input that was scanned and priced, ready to run. */
export interface Prepared {
  readonly job: Job;
  readonly connection: Connection;
  readonly plan: Plan;
  readonly summary: PlanSummary;
  readonly priceList: PriceList;
  readonly source: number;
  readonly apiKeys: ApiKeys;
  readonly freshness: Freshness;
  readonly rowFile: RowFile | PartFiles;
  /** The cells that lack nothing: the plan has read them, and nothing is bought there. */
  readonly cells: CellCache;
  /** What notes say of where answers come from; null for a service. */
  readonly origin: OriginNotes | null;
  readonly sampleRows: SampleRows;
  /** The approved plan under which the run spends, and most credits of all runs under it; null where there is none. */
  readonly approved: { readonly id: string; readonly budget: number } | null;
}

/** A prepared job that owns its temporary files, which are deleted when it is disposed of. */
export type OpenedJob = Prepared & Disposable;

export interface PrepareOptions {
  readonly connection: Connection;
  readonly store: Store;
  readonly effects: Effects;
  /** Counts the rows and follows the phase. */
  readonly progress?: Progress;
  /** The time from which freshness is measured; now, where it is left out. */
  readonly asOf?: number;
  readonly approved?: ApprovedPlan | null;
  /** The rows, where they are not in the job's input file. */
  readonly rowFile?: RowFile;
  /** The rows are a batch of a run that began at `asOf`: what failed in it is not tried again, since it may have been charged. */
  readonly isContinued?: boolean;
  /** Gets the complete cells as the plan reads them, instead of the cache of the pass that writes. Null: no pass follows. */
  readonly onComplete?: PlanRequest['onComplete'];
}

/**
 * Scans and prices a job; spends nothing.
 * @throws INPUT_*, SCOPE_MISSING, STORE_*; PLAN_MISMATCH where the job is not the one that was approved
 */
export async function prepare(job: Job, options: PrepareOptions): Promise<OpenedJob> {
  const scanned = await scanJob(job, options);
  using opened = new DisposableStack();
  opened.use(scanned.scan);
  const prepared = await priced(scanned);
  const owned = opened.move();
  return { ...prepared, [Symbol.dispose]: () => owned.dispose() };
}

/** The first half of `prepare`. The caller disposes of the scan. */
export async function scanJob(job: Job, options: PrepareOptions): Promise<ScannedJob> {
  const { connection, effects, progress, asOf = startOf(connection, effects.clock) } = options;
  // Local answers cost nothing: areas spare none of them.
  const scannedFor = connection.kind === 'local' ? { ...job, areas: null } : job;
  using boundaries = openAreas(scannedFor, effects);
  const rowFile = options.rowFile ?? (await openJobInput(job, effects.streams));
  const onRows = (rows: number) => {
    if (progress) record(progress, 'rowsScanned', rows);
  };
  const scanned = await scan(rowFile, scannedFor, onRows, boundaries?.find, effects.rowThreads);
  if (progress) record(progress, 'phase', 'pricing');
  return { ...options, job, rowFile, scan: scanned, asOf };
}

function openAreas(job: Job, effects: Effects): OpenedAreas | null {
  if (job.areas?.find === undefined) return null;
  if (effects.openAreas !== undefined) return effects.openAreas(job);
  throw new PerilbookError(
    'JOB_FILE',
    `areas: ${job.areas.find} cannot be used here`,
    'Run the job with perilbook plan or perilbook run.',
  );
}

/** Prices a scanned input again: after a run, to see what it left, or under an approved plan. The input is not read again, and its
 * temporary files still belong to the job that was prepared first. */
export async function prepareAgain(
  { job, connection, rowFile, plan, freshness, origin }: Prepared,
  store: Store,
  options: Pick<PrepareOptions, 'approved' | 'onComplete'> = {},
): Promise<Prepared> {
  const scanned = { job, connection, rowFile, scan: plan.scan, store, asOf: freshness.startedAt, origin };
  return await priced({ ...scanned, ...options });
}

interface ScannedJob extends Pick<Prepared, 'job' | 'connection' | 'rowFile'> {
  readonly scan: Scan;
  readonly store: Store;
  readonly asOf: number;
  readonly approved?: ApprovedPlan | null;
  readonly isContinued?: boolean;
  readonly onComplete?: PlanRequest['onComplete'];
  /** Left out: it is made from the scan. */
  readonly origin?: OriginNotes | null;
}

/** Answers from local data bear the time at which the data was read, and no run begins after its answers. */
function startOf(connection: Connection, clock: Clock): number {
  return connection.kind === 'local' ? connection.data.asOf : clock.now();
}

function freshnessIn(job: Job, asOf: number, connection: Connection): Freshness {
  if (connection.kind === 'service') return freshnessOf(job, asOf);
  return freshnessOf(job, asOf, (topic) => loadedSince(connection.data, topic, asOf));
}

function originOf({ topics, counts }: Job, connection: Connection, { cells }: Scan): OriginNotes | null {
  if (connection.kind !== 'local') return null;
  return localNotes(connection.data, counts, countyRatedCells(connection.data, topics, cells));
}

/** Prices a scanned input; the topics may differ from those that it was scanned for. */
export async function priced(scanned: ScannedJob): Promise<Prepared> {
  const { job, connection, rowFile, scan, store, asOf, approved = null, isContinued = false } = scanned;
  const source = await store.source(connection.source);
  const isLocal = connection.kind === 'local';
  const apiKeys = await ApiKeys.open(isLocal ? [] : connection.keys, store, source);
  const priceList = priceListOf(job, await store.bundleContents(source), apiKeys);
  const freshness = freshnessIn(job, asOf, connection);
  const { origin = originOf(job, connection, scan) } = scanned;
  const sampleRows = await SampleRows.open(connection, store, source);
  const cells = new CellCache(completeCellFields(job, sampleRows.has, origin));
  const keep: PlanRequest['onComplete'] = (cell, complete) => {
    if (cells.hasRoom) cells.putComplete(cell, complete);
  };
  const { onComplete = keep } = scanned;
  const latest = isLocal ? [] : await store.callTimes(source, LEASE_MS);
  const times = callTimes(
    latest,
    connection.kind === 'service' && connection.sample ? EMBEDDED_CALL_MS : ASSUMED_CALL_MS,
  );
  const approvedCredits = approved && (await creditsLeft(approved, store));
  const plan = await makePlan({
    ...{ job, scan, store, source, priceList, times, apiKeys, freshness, approvedCredits, isLocal, isContinued },
    onComplete,
  });
  const summary = planSummary({ plan, job, connection, priceList, origin, sample: sampleRows.any, rows: rowFile });
  const parts = {
    ...{ job, connection, rowFile, source, apiKeys, priceList },
    ...{ freshness, sampleRows, cells, origin, plan, summary },
  };
  if (approved === null) return { ...parts, approved };
  checkApproved(approved, parts, approvedCredits!);
  return { ...parts, approved: { id: approved.id, budget: approved.credits_at_most } };
}
