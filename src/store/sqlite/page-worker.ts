/** A thread that reads pages of cells (`page-threads.ts`). It imports little: its start is a good part of its time. */
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { answerFinder } from '../answer-finder.ts';
import { type CellPage, cellPages } from './cell-pages.ts';
import { inodeOf } from './file-watch.ts';
import type { PageThreadSetup, ReadPage } from './page-threads.ts';

/** Pages that wait for the main thread; each is about a megabyte. */
const MOST_WAITING = 8;

const { file, inode, source, pages, sought, counters } = workerData as PageThreadSetup;
const { next, sent, visited } = counters;

// Without a timeout: in WAL mode a reader waits for nobody.
const database = new Database(file, { readonly: true });
if (inodeOf(file) === inode) readPages();
database.close();

function readPages(): void {
  const { read } = cellPages(database);
  const { hasAll } = answerFinder(sought);
  for (;;) {
    waitForVisits();
    const number = Atomics.add(next, 0, 1);
    if (number >= pages) return;
    const page = read(number, source);
    const complete = page === null ? new Uint8Array(0) : completeCells(page, hasAll);
    // A damaged page is left to the main thread, which reports it if the job asks for the damaged cell.
    if (complete === null) continue;
    const found: ReadPage = { number, page, complete };
    const memory = page === null ? [] : [page.answers, page.lengths, page.lats, page.lngs, complete];
    Atomics.add(sent, 0, 1);
    parentPort!.postMessage(
      found,
      memory.map(({ buffer }) => buffer as ArrayBuffer),
    );
  }
}

/** Which cells have all that is wanted; null where one of them is damaged. */
function completeCells({ answers, lengths }: CellPage, hasAll: ReturnType<typeof answerFinder>['hasAll']) {
  const complete = new Uint8Array(lengths.length);
  let from = 0;
  try {
    for (let row = 0; row < lengths.length; row++) {
      const to = from + lengths[row]!;
      complete[row] = hasAll(answers, from, to) ? 1 : 0;
      from = to;
    }
  } catch {
    return null;
  }
  return complete;
}

function waitForVisits(): void {
  for (;;) {
    const so = Atomics.load(visited, 0);
    if (Atomics.load(sent, 0) - so < MOST_WAITING) return;
    Atomics.wait(visited, 0, so);
  }
}
