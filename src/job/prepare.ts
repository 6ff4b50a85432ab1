import type { Clock } from '../clock.ts';
import { addedColumns, enrichedFields } from '../columns/row.ts';
import type { CellRecord } from '../contract/answer.ts';
import type { TopicSlug } from '../contract/topics.ts';
import type { Market } from '../plan/cheapest-calls.ts';
import { openBook, type Streams } from '../rows/open-book.ts';
import type { Store } from '../store/port.ts';
import { CellFields } from './cell-fields.ts';
import { type Freshness, freshnessOf } from './planning/freshness.ts';
import { type Key, Keyring } from './planning/keyring.ts';
import { marketOf } from './planning/market.ts';
import { makePlan, type Plan } from './planning/planning.ts';
import type { BodyReader } from './reading/body-readers.ts';
import { scan } from './scan/scan.ts';
import type { Job } from './settings/settings.ts';
import { type PlanSummary, planSummary } from './summary.ts';

/** The service that a run asks: where it is, what opens it, whose answers it gives. */
export interface Connection {
  readonly baseUrl: string;
  /** Names the service and its data set in the store: answers of two sources never mix. */
  readonly source: string;
  /** The answers are sample data. */
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
  readonly market: Market;
  readonly source: number;
  readonly keyring: Keyring;
  readonly freshness: Freshness;
  readonly book: Awaited<ReturnType<typeof openBook>>;
  /** What the write puts behind the rows of cells that lack nothing: the plan has read them, and nothing is bought there. */
  readonly finished: CellFields;
}

/** Scans and prices a job; spends nothing. @throws INPUT_*, SCOPE_MISSING, STORE_* */
export async function prepare(job: Job, connection: Connection, store: Store, effects: Effects): Promise<Prepared> {
  const book = await openBook(job.input, job.reading, effects.streams);
  const scanned = await scan(book, job);
  const source = await store.source(connection.source);
  const keyring = await Keyring.open(connection.keys, store, source);
  const market = marketOf(job, await store.bundleContents(source), keyring);
  const freshness = freshnessOf(job, effects.clock.now());
  const finished = new CellFields(scanned.cells.size, addedColumns(job.topics, job.prefix, job.counts).length);
  const keep = (cell: number, record: CellRecord) => {
    if (isSettled(record, job.topics, freshness)) {
      finished.put(cell, enrichedFields(record, job.topics, SETTLED, connection.sample, job.counts));
    }
  };
  const plan = await makePlan(job, scanned, store, source, market, keyring, freshness, keep);
  const summary = planSummary(plan, job, market, connection.sample);
  return { job, connection, plan, summary, market, source, keyring, freshness, book, finished };
}

const SETTLED = { status: 'ok', note: '' } as const;

/** Whether each topic has a fresh answer of its own: then neither a purchase nor an area can add anything. */
function isSettled({ answers }: CellRecord, topics: readonly TopicSlug[], { freshSince }: Freshness): boolean {
  return topics.every((topic) => (answers.get(topic)?.asOf ?? Number.NEGATIVE_INFINITY) >= freshSince(topic));
}
