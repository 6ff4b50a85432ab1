import { startThread, threadModule } from '../../start-thread.ts';
import type { SoughtAnswer } from '../answer-finder.ts';
import type { CellPage } from './cell-pages.ts';

/** What a thread that reads pages is started with. */
export interface PageThreadSetup {
  readonly file: string;
  /** The file that the store has open (`inodeOf`): another one may be in its place. */
  readonly inode: string;
  readonly source: number;
  readonly pages: number;
  readonly sought: readonly SoughtAnswer[];
  readonly counters: PageCounters;
}

/** Numbers of pages in shared memory. */
interface PageCounters {
  /** The next page that nobody has taken. */
  readonly next: Int32Array;
  /** How many pages the threads have sent, and how many of them were visited. */
  readonly sent: Int32Array;
  readonly visited: Int32Array;
}

/** A page that a thread has read. */
export interface ReadPage {
  readonly number: number;
  /** Null where the source has no cells in it. */
  readonly page: CellPage | null;
  /** 1 for a cell that has all that is wanted. */
  readonly complete: Uint8Array;
}

export function pageCounters(): PageCounters {
  const [next, sent, visited] = [0, 0, 0].map(() => new Int32Array(new SharedArrayBuffer(4)));
  return { next: next!, sent: sent!, visited: visited! };
}

const MODULE = threadModule('page-worker', import.meta.url);

/** Starts threads that take pages until none are left. A thread that fails only leaves pages unread. Disposing of them ends them. */
export function readInThreads(count: number, setup: PageThreadSetup, visit: (read: ReadPage) => void) {
  const { visited } = setup.counters;
  const workers = Array.from({ length: count }, () => startThread(MODULE, setup));
  const ends = workers.map((worker) => {
    return new Promise<void>((resolve, reject) => {
      worker.on('message', (read: ReadPage) => {
        try {
          visit(read);
        } catch (error) {
          reject(error);
        }
        Atomics.add(visited, 0, 1);
        Atomics.notify(visited, 0);
      });
      // The event `exit` follows.
      worker.on('error', () => {});
      worker.on('exit', () => resolve());
    });
  });
  const ended = Promise.all(ends);
  // An error is reported where this is awaited; until then it must not count as unhandled.
  ended.catch(() => {});
  return {
    /** Resolves when all threads have ended. @throws the first error of `visit` */
    ended,
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}
