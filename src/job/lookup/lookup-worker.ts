/** The worker's side of `look-up.ts`: looks up batches of cells and writes them into the store. */
import { parentPort, workerData } from 'node:worker_threads';
import { clockOf, systemClock } from '../../clock.ts';
import { type TopicSet, topicsIn } from '../../contract/topic-set.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { openPlaceLookup } from '../../data/lookup/open-place-lookup.ts';
import { PerilbookError } from '../../errors.ts';
import { locationOf } from '../../geo/coordinates.ts';
import type { CellAnswers } from '../../store/port.ts';
import { openStoreAt } from '../open-store-at.ts';
import {
  beginWriting,
  CELLS_PER_BATCH,
  endWriting,
  type LookupMessage,
  type LookupTask,
  NEXT,
  STOPPED,
} from './lookup-task.ts';
import { answersOfPlace } from './place-answers.ts';

const task = workerData as LookupTask;
const tell = (message: LookupMessage) => parentPort!.postMessage(message);

try {
  await work();
  tell({ kind: 'ended' });
} catch (error) {
  // A class does not survive the way to another thread; a bug goes there as an `error` event.
  if (!(error instanceof PerilbookError)) throw error;
  const { code, message, hint, context } = error;
  tell({ kind: 'failed', code, message, hint, context: { ...context } });
}

async function work(): Promise<void> {
  const { cells, control, now } = task;
  using data = openPlaceLookup(task.dataFile, { counts: task.counts });
  if (data.version !== task.version) {
    throw new PerilbookError(
      'LOCAL_DATA',
      `The data in ${task.dataFile} was replaced while the run began`,
      'Run again: it begins with the new data.',
      { file: task.dataFile },
    );
  }
  const topicsOf = topicsBySet();
  const clock = clockOf(() => now, systemClock.steady!);
  // It claims no calls, so it takes nobody's for a dead one.
  await using store = await openStoreAt(task.store, clock, { name: 'look-up', isAlive: () => true });
  while (Atomics.load(control, STOPPED) === 0) {
    const from = Atomics.add(control, NEXT, CELLS_PER_BATCH);
    if (from >= cells.lat7.length) return;
    const to = Math.min(cells.lat7.length, from + CELLS_PER_BATCH);
    const found: CellAnswers[] = [];
    for (let index = from; index < to; index++) {
      const cell = { lat7: cells.lat7[index]!, lng7: cells.lng7[index]! };
      const topics = topicsOf(cells.missing[index] as TopicSet);
      found.push(answersOfPlace(cell, topics, data.lookUp(topics, locationOf(cell), now), task));
    }
    beginWriting(task);
    try {
      await store.putAnswers(task.source, found);
    } finally {
      endWriting(task);
    }
    tell({ kind: 'done', cells: to - from });
  }
}

/** A file has few sets of missing topics and a million cells. */
function topicsBySet(): (set: TopicSet) => readonly TopicSlug[] {
  const known = new Map<TopicSet, readonly TopicSlug[]>();
  return (set) => {
    let topics = known.get(set);
    if (topics === undefined) {
      topics = topicsIn(set);
      known.set(set, topics);
    }
    return topics;
  };
}
