/** A thread that looks up its places when it is told to. */
import { parentPort, workerData } from 'node:worker_threads';
import { answerFields } from '../src/columns/topic-columns.ts';
import type { TopicSlug } from '../src/contract/topics.ts';
import { openPlaceLookup } from '../src/data/lookup/place-lookup.ts';
import type { Location } from '../src/geo/coordinates.ts';

export interface LookupTask {
  readonly file: string;
  readonly topics: readonly TopicSlug[];
  readonly counts: boolean;
  readonly places: readonly Location[];
}

export interface LookupTime {
  /** The number of fields that were found. */
  readonly fields: number;
  /** Bytes of this thread's heap in the end. */
  readonly heap: number;
}

const { file, topics, counts, places } = workerData as LookupTask;

parentPort!.once('message', () => {
  using data = openPlaceLookup(file, { counts });
  const now = Date.now();
  let fields = 0;
  for (const place of places) {
    const found = data.lookUp(topics, place, now);
    if (found.kind !== 'covered') continue;
    for (const [index, result] of found.results.entries()) {
      if ('value' in result) fields += answerFields(topics[index]!, result).length;
    }
  }
  const { heapUsed, external } = process.memoryUsage();
  parentPort!.postMessage({ fields, heap: heapUsed + external } satisfies LookupTime);
});
parentPort!.postMessage('ready');
