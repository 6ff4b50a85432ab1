import { type SharedCoverage, sharedCoverage } from '../../geo/us-coverage.ts';
import type { ReadSegment, RowSegments, Segment } from '../../rows/port.ts';
import { inOrder, ThreadPool } from '../../rows/threads/thread-pool.ts';
import { threadModule } from '../../start-thread.ts';
import type { Job } from '../settings/settings.ts';
import { type ScannedSegment, type SegmentScan, scanSegment } from './scanned-rows.ts';

/** What each thread that scans is started with. */
export interface ScanThreadSetup extends SegmentScan {
  readonly input: string;
  readonly reading: Job['reading'];
  readonly coverage: SharedCoverage;
}

const MODULE = threadModule('scan-worker', import.meta.url);

/** Scans a file in threads and this one; gives the segments in the order of the file. */
export async function* scanInThreads(
  file: RowSegments,
  setup: Omit<ScanThreadSetup, 'coverage'>,
  threads: number,
): AsyncGenerator<Chained<ScannedSegment>> {
  await file.assertSame();
  const here = (segment: Segment) => scanSegment(file, segment, setup);
  await using pool = new ThreadPool(MODULE, { ...setup, coverage: sharedCoverage() }, threads, here);
  yield* chained(file.segments, 3 * (threads + 1), (segment) => pool.run(segment));
  // The threads have opened the file themselves: it was the same one before and is now.
  await file.assertSame();
}

/** What was read of a segment, and what its rows' lines lack. */
export interface Chained<Read> {
  readonly read: Read;
  readonly linesBefore: number;
}

/**
 * The segments of a file one behind the other. A guess that turns out wrong is read again from where the segment before ended: so the
 * rows are those of a reading from the first to the last, whatever the guesses were.
 */
export async function* chained<Read extends ReadSegment>(
  segments: readonly Segment[],
  atOnce: number,
  read: (segment: Segment) => Promise<Read>,
): AsyncGenerator<Chained<Read>> {
  const [first] = segments;
  let from = first?.from ?? 0;
  let line = first?.line ?? 0;
  // A wrong guess may also fail: in the middle of a quoted field the rest of the file can look like one record.
  const orNull = (segment: Segment) => (segment.isGuess ? read(segment).catch(() => null) : read(segment));
  for await (const [segment, guessed] of inOrder(segments, atOnce, orNull)) {
    const isRight = guessed !== null && guessed.from === from;
    const found = isRight ? guessed : await read({ from, to: segment.to, isGuess: false, line });
    yield { read: found, linesBefore: isRight ? line - segment.line : 0 };
    from = found.next;
    line += found.lines;
  }
}
