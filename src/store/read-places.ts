import Database from 'better-sqlite3';
import { systemClock } from '../base/clock.ts';
import type { SqlDatabase, SqlWork } from '../sql/sql-work.ts';
import { sqliteDriver } from '../sql/sqlite-driver.ts';
import type { InThread } from '../threads/thread-messages.ts';
import { inOrder, type ThreadPool } from '../threads/thread-pool.ts';
import { askedBlock, rangeBlock } from './answers/cell-blocks.ts';
import { type PreparedReading, placeReader } from './answers/place-reader.ts';
import type { CellLists, PlacesRead } from './answers/port.ts';
import { asStoreError } from './store-address.ts';

/** A part of the cells: those with a number after one, up to another; or some places. */
type CellPart =
  | { readonly kind: 'range'; readonly after: number; readonly to: number }
  | { readonly kind: 'places'; readonly numbers: Int32Array };

/** Cells of one task of a thread: 2 MB with 18 natural topics. */
const CELLS_A_PART = 8_192;
/** Cells per statement. One statement per cell takes half as much time again. */
const CELLS_A_STATEMENT = 2_000;
/** A store with at most this many times the asked cells is read whole, which takes a third of the time. */
const MOST_UNASKED = 2;

export interface PlacesRequest {
  readonly reading: PreparedReading;
  readonly count: number;
  /** The file or the address of the store. */
  readonly store: string;
  /** The highest number of a stored cell. */
  readonly highest: number;
}

/** Reads places in this thread, and in others where the store is a file. */
export async function* readPlaces(
  { reading, count, store, highest }: PlacesRequest,
  database: Pick<SqlDatabase, 'dialect' | 'read'>,
  pool: ThreadPool | null,
): AsyncGenerator<PlacesRead> {
  const parts =
    highest <= MOST_UNASKED * count ? rangesTo(highest) : askedParts(reading.again, count);
  const here = partReader(reading, store, database);
  const isInFile = database.dialect.engine === 'sqlite' && store !== ':memory:';
  if (pool === null || pool.threads === 0 || !isInFile) {
    for (const part of parts) yield await here(part);
    return;
  }
  await using work = pool.begin<ThreadSetup, CellPart, PlacesRead>(
    import.meta.url,
    { reading, store },
    here,
  );
  for await (const [, result] of inOrder(parts, 2 * (pool.threads + 1), (part) => work.run(part)))
    yield result;
}

function* rangesTo(highest: number): Generator<CellPart> {
  for (let after = 0; after < highest; after += CELLS_A_PART)
    yield { kind: 'range', after, to: after + CELLS_A_PART };
}

function* askedParts(again: PreparedReading['again'], count: number): Generator<CellPart> {
  const numbers = again?.numbers ?? Int32Array.from({ length: count }, (_, number) => number);
  for (let from = 0; from < numbers.length; from += CELLS_A_PART)
    yield { kind: 'places', numbers: numbers.slice(from, from + CELLS_A_PART) };
}

function partReader(
  reading: PreparedReading,
  store: string,
  { dialect, read }: Pick<SqlDatabase, 'dialect' | 'read'>,
): (part: CellPart) => Promise<PlacesRead> {
  const reader = placeReader(reading, store);
  const ask = <T>(work: () => SqlWork<T>) => read(work);
  const { source, cells } = reading;

  async function* blocksOf(part: CellPart): AsyncGenerator<CellLists> {
    if (part.kind === 'range') {
      for (let after = part.after; ; ) {
        const from = after;
        const block = await ask(() => rangeBlock({ dialect }, source, from, part.to));
        if (block === null) return;
        yield block;
        after = block.last;
      }
    }
    const { numbers } = part;
    for (let first = 0; first < numbers.length; first += CELLS_A_STATEMENT) {
      const asked = Array.from(numbers.subarray(first, first + CELLS_A_STATEMENT), (number) => ({
        lat7: cells.keys[2 * number]!,
        lng7: cells.keys[2 * number + 1]!,
      }));
      yield await ask(() => askedBlock({ dialect }, source, asked));
    }
  }
  return (part) => reader.read(blocksOf(part));
}

/** The memory of what was read, which is moved between threads. */
export const memoryOf = ({ ratings, pairs }: PlacesRead): ArrayBuffer[] =>
  [ratings, pairs].map(({ buffer }) => buffer as ArrayBuffer);

interface ThreadSetup {
  readonly reading: PreparedReading;
  readonly store: string;
}

const BUSY_TIMEOUT_MS = 30_000;

/** @public: threads import it */
export const inThread: InThread<ThreadSetup, CellPart, PlacesRead> = ({ reading, store }) => {
  const handle = new Database(store, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  // Each page is read once.
  handle.pragma('cache_size = -1024');
  const database = sqliteDriver(handle, systemClock, (error) => asStoreError(store, error));
  return {
    run: partReader(reading, store, database),
    memoryOf,
    async end() {
      handle.close();
    },
  };
};
