import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import type { cellCodec } from '../cell-answers.ts';
import { damagedCell } from '../packed-answers.ts';
import type { CellVisitor, WantedAnswer } from '../port.ts';
import { CELLS_PER_PAGE, type CellPage, type cellPages } from './cell-pages.ts';
import { inodeOf } from './file-watch.ts';
import { pageCounters, readInThreads } from './page-threads.ts';

/** A visited row costs a third of a row that is found by its key, or less. */
const LEAST_SHARE = 1 / 3;

/** A thread starts in the time in which 50,000 cells are read. */
const PAGES_PER_THREAD = 50;

/** More threads than this gain nothing: one thread takes what they read. */
const MOST_THREADS = 3;

/** Visits all cells of a source, by this thread and others, each with a connection of its own. */
export function cellVisits(file: string, pages: ReturnType<typeof cellPages>, codec: ReturnType<typeof cellCodec>) {
  const inode = inodeOf(file);

  /** Whether visiting all cells is faster than looking up so many. */
  function isWorthwhile(asked: number): boolean {
    return asked >= CELLS_PER_PAGE && asked >= pages.lastId() * LEAST_SHARE;
  }

  /** @param threads how many threads read beside this one; left out: the other cores for many cells, else none */
  async function visit(
    source: number,
    wanted: readonly WantedAnswer[],
    visitor: CellVisitor,
    threads?: number,
  ): Promise<void> {
    const count = Math.ceil(pages.lastId() / CELLS_PER_PAGE);
    const isVisited = new Uint8Array(count);
    const visitPage = pageVisitor(codec, wanted, visitor);
    const visitHere = (number: number) => {
      isVisited[number] = 1;
      visitPage(pages.read(number, source));
    };
    const counters = pageCounters();
    const setup = { file, inode, source, pages: count, sought: codec.sought(wanted), counters };
    const besides = threads ?? threadsFor(count);
    await using readers = readInThreads(besides, setup, ({ number, page, complete }) => {
      isVisited[number] = 1;
      visitPage(page, complete);
    });
    for (;;) {
      const number = Atomics.add(counters.next, 0, 1);
      if (number >= count) break;
      visitHere(number);
      // The pages of the threads arrive meanwhile.
      if (besides > 0) await setImmediate();
    }
    await readers.ended;
    // A thread leaves a page that it cannot read. Where the store is at fault, this thread gets the error too.
    for (let number = 0; number < count; number++) if (isVisited[number] === 0) visitHere(number);
  }

  return { isWorthwhile, visit };
}

/** Makes a function that visits the cells of a page. Its argument `known` is 1 for each complete cell, where a thread has found it out. */
export function pageVisitor(
  codec: ReturnType<typeof cellCodec>,
  wanted: readonly WantedAnswer[],
  { numberOf, complete, incomplete }: CellVisitor,
): (page: CellPage | null, known?: Uint8Array) => void {
  const pick = codec.picker(wanted);
  // One object and one function for all cells: those of each cell took a tenth of a visit for garbage collection.
  const cell = { lat7: 0, lng7: 0 };
  let answers: Buffer = Buffer.alloc(0);
  let isSearched = false;
  let [from, to] = [0, 0];
  const take = () => {
    if (!isSearched) pick.has(answers, from, to);
    return pick.taken(answers);
  };
  return (page, known) => {
    if (page === null) return;
    const { lengths, lats, lngs } = page;
    // What comes from a thread is no longer a Buffer.
    answers = Buffer.from(page.answers.buffer, page.answers.byteOffset, page.answers.length);
    isSearched = known === undefined;
    to = 0;
    let failures: readonly (string | null)[] | null = null;
    for (let row = 0; row < lengths.length; row++) {
      from = to;
      to += lengths[row]!;
      cell.lat7 = lats[row]!;
      cell.lng7 = lngs[row]!;
      const number = numberOf(cell);
      if (number < 0) continue;
      if (known === undefined ? pick.has(answers, from, to) : known[row] === 1) complete(number, take);
      else {
        failures ??= JSON.parse(page.failures) as (string | null)[];
        incomplete(number, codec.unpack({ answers: answers.subarray(from, to), failures: failures[row]! }));
      }
    }
    if (to !== answers.length) throw damagedCell();
  };
}

function threadsFor(pages: number): number {
  return Math.min(availableParallelism() - 1, MOST_THREADS, Math.floor(pages / PAGES_PER_THREAD));
}
