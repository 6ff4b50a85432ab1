import { makeClock, systemClock } from '../../base/clock.ts';
import { memo } from '../../base/memo.ts';
import { type OpenPlaceLookup, openPlaceLookup } from '../../data/lookup/place-lookup.ts';
import { readingData, requireVersion } from '../../data/tables/data-database.ts';
import { type Cell, locationOf } from '../../geo/coordinates.ts';
import { type CountyShapes, useCounties } from '../../geo/us-counties.ts';
import { type KnownCoverage, useCoverage } from '../../geo/us-coverage.ts';
import type { CellAnswers, PlaceReading, WrittenPlaces } from '../../store/answers/port.ts';
import { type TopicSet, topicsIn } from '../../store/answers/topic-set.ts';
import { memoryOf } from '../../store/read-places.ts';
import { inTurn, type SharedTurn } from '../../threads/shared-turn.ts';
import type { InThread } from '../../threads/thread-messages.ts';
import { openStoreAt } from '../frame/open-store-at.ts';
import { type LookupTerms, placeAnswers } from './place-answers.ts';

/** Cells to look up with the sets of their missing topics, in memory that all workers share. */
export interface SharedCells {
  readonly lat7: Int32Array<SharedArrayBuffer>;
  readonly lng7: Int32Array<SharedArrayBuffer>;
  readonly missing: Float64Array<SharedArrayBuffer>;
}

export interface LookupSetup extends LookupTerms {
  readonly dataFile: string;
  /** The version of the data that the plan was made for. */
  readonly version: number;
  readonly counts: boolean;
  readonly store: string;
  readonly source: number;
  readonly cells: SharedCells;
  /** Where the places go once they are in the store; null: they are read later. */
  readonly fields: PlaceReading | null;
  /** The threads write into the store one after the other. */
  readonly turn: SharedTurn;
  /** What is known of the US, which each thread would read again; null in the thread that knows it. */
  readonly known: {
    readonly coverage: KnownCoverage;
    readonly counties: CountyShapes;
  } | null;
}

/** Looks up the cells from one up to, not including, another, and writes their answers into the store. */
export interface LookupTask {
  readonly from: number;
  readonly to: number;
}

/** Looks up batches of cells. A thread has connections of its own to data and store: answers are never copied between threads.
 * @throws LOCAL_DATA if the data is not the plan's
 * @public: threads import it */
export const inThread: LookupThread = (setup) => {
  // A file has few sets of missing topics and a million cells.
  const topicsOf = memo(topicsIn);
  const answersOf = placeAnswers(setup);
  return openLookup(setup, ({ lookUp }, cell, missing) => {
    const topics = topicsOf(missing);
    return answersOf(cell, topics, lookUp(topics, locationOf(cell), setup.now));
  });
};

export type LookupThread = InThread<LookupSetup, LookupTask, WrittenPlaces | null>;

/** Opens data and store for a thread, or for this one. @param answer gives the answers of a cell
 * @throws LOCAL_DATA if the data is not the plan's */
export async function openLookup(
  setup: LookupSetup,
  answer: (data: OpenPlaceLookup, cell: Cell, missing: TopicSet) => CellAnswers,
): Promise<Awaited<ReturnType<LookupThread>>> {
  const { cells, dataFile, known, now, source, turn } = setup;
  if (known !== null) {
    useCoverage(known.coverage);
    useCounties(known.counties);
  }
  using opened = new DisposableStack();
  const data = opened.use(
    readingData(dataFile, () => openPlaceLookup(dataFile, { counts: setup.counts })),
  );
  requireVersion(dataFile, data.version, setup.version);
  // It claims no calls, so it cannot mistake the calls of a living run for those of a dead one.
  const owner = { name: 'look-up', isAlive: () => true };
  const clock = makeClock(() => now, systemClock.steady!);
  const store = await openStoreAt(setup.store, clock, owner, { isFree: true });
  const takePlaces = setup.fields && store.placeTaker(setup.fields);
  const owned = opened.move();
  /** One by one: the answers of a batch would outlive two collections of young objects, and fill the memory of old ones. */
  function* answersOf(from: number, to: number): Generator<CellAnswers> {
    for (let at = from; at < to; at++) {
      const cell = { lat7: cells.lat7[at]!, lng7: cells.lng7[at]! };
      const missing = cells.missing[at] as TopicSet;
      yield readingData(dataFile, () => answer(data, cell, missing));
    }
  }

  return {
    async run(task) {
      const write = store.packAnswers(source, answersOf(task.from, task.to));
      const written = await inTurn(turn, write);
      return takePlaces && (await takePlaces(written));
    },
    memoryOf: (written) => (written === null ? [] : memoryOf(written)),
    async end() {
      owned.dispose();
      await store.close();
    },
  };
}
