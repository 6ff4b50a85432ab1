import type { Clock } from '../clock.ts';
import { completeFields } from '../columns/row.ts';
import type { PriceList } from '../plan/cheapest-calls.ts';
import { openRowFile, type Streams } from '../rows/open-row-file.ts';
import type { Store } from '../store/port.ts';
import { CellCache } from './cell-fields.ts';
import { editedValues } from './edited-values.ts';
import { enterPhase, type Phased } from './phase.ts';
import { type Freshness, freshnessOf } from './planning/freshness.ts';
import { type Key, Keyring } from './planning/keyring.ts';
import { makePlan, type Plan } from './planning/planning.ts';
import { priceListOf } from './planning/price-list.ts';
import type { BodyReader } from './reading/body-readers.ts';
import { SampleRows } from './sample-rows.ts';
import { type Scan, scan } from './scan/scan-input.ts';
import type { Job } from './settings/settings.ts';
import { type PlanSummary, planSummary } from './summary.ts';

/** The service that a run asks: where it is, what opens it, whose answers it gives. */
export interface Connection {
  readonly baseUrl: string;
  /** Names the service and its data set in the store: answers of two sources never mix. */
  readonly source: string;
  /** All answers are sample data. A service may also say so in its answers (`SampleRows`). */
  readonly sample: boolean;
  readonly keys: readonly Key[];
}

/** What a run uses of the world outside. */
export interface Effects {
  readonly clock: Clock;
  readonly random: () => number;
  readonly streams: Streams;
  /** Told of what the user should know at once. */
  readonly notice: (message: string) => void;
  /** Told of each request and of what came of it, for whoever looks for an error; never of a key. */
  readonly trace?: (line: string) => void;
  /** Reads the bodies of answers; closed with the run. Left out: large ones in workers. */
  readonly reader?: BodyReader;
}

/** A book that was scanned and priced, ready to run. */
export interface Prepared {
  readonly job: Job;
  readonly connection: Connection;
  readonly plan: Plan;
  readonly summary: PlanSummary;
  readonly priceList: PriceList;
  readonly source: number;
  readonly keyring: Keyring;
  readonly freshness: Freshness;
  readonly rowFile: Awaited<ReturnType<typeof openRowFile>>;
  /** The cells that lack nothing: the plan has read them, and nothing is bought there. */
  readonly cells: CellCache;
  readonly sampleRows: SampleRows;
}

/**
 * Scans and prices a job; spends nothing.
 * @param progress is told of the rows and of the phase
 * @param asOf the time from which freshness is measured; now, where it is left out
 * @throws INPUT_*, SCOPE_MISSING, STORE_*
 */
export async function prepare(
  job: Job,
  connection: Connection,
  store: Store,
  effects: Effects,
  progress?: Phased,
  asOf = effects.clock.now(),
): Promise<Prepared> {
  const rowFile = await openRowFile(job.input, job.reading, effects.streams);
  const scanned = await scan(rowFile, job, (rows) => {
    if (progress) progress.rows = rows;
  });
  if (progress) enterPhase(progress, 'pricing');
  const source = await store.source(connection.source);
  const sampleRows = await SampleRows.open(connection, store, source);
  const freshness = freshnessOf(job, asOf);
  const edited = await editedValues(rowFile, { job, scan: scanned, store, source, sampleRows, freshness });
  const findings = edited === null ? scanned.findings : [...scanned.findings, edited];
  return await priced({ job, connection, rowFile }, { ...scanned, findings }, store, asOf);
}

/** Prices a scanned book anew: after a run, to see what it left. The input is not read again. */
export async function prepareAgain({ plan, freshness, ...prepared }: Prepared, store: Store): Promise<Prepared> {
  return await priced(prepared, plan.scan, store, freshness.startedAt);
}

/** Prices a scanned book; the topics may be other ones than it was scanned for. */
export async function priced(
  { job, connection, rowFile }: Pick<Prepared, 'job' | 'connection' | 'rowFile'>,
  scanned: Scan,
  store: Store,
  asOf: number,
): Promise<Prepared> {
  const source = await store.source(connection.source);
  const keyring = await Keyring.open(connection.keys, store, source);
  const priceList = priceListOf(job, await store.bundleContents(source), keyring);
  const freshness = freshnessOf(job, asOf);
  const sampleRows = await SampleRows.open(connection, store, source);
  const cells = new CellCache();
  const fieldsOf = completeFields(job.topics, job.counts, sampleRows.has);
  const plan = await makePlan(job, scanned, store, source, priceList, keyring, freshness, (cell, { asOf, fields }) => {
    cells.put(cell, () => fieldsOf(asOf, fields()));
  });
  const summary = planSummary(plan, job, priceList, sampleRows.any, rowFile.unit);
  return { job, connection, plan, summary, priceList, source, keyring, freshness, rowFile, cells, sampleRows };
}

/** The temporary files of a prepared job. A run closes them itself when it has written its output. */
export function temporaryFilesOf({ plan }: Prepared): Disposable {
  return {
    [Symbol.dispose]() {
      plan.scan.places.close();
    },
  };
}
