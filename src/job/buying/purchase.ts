import { topicsIn } from '../../contract/topic-set.ts';
import { purchaseBySet } from '../../plan/prices.ts';
import type { CellTable } from '../scan/cell-table.ts';
import { buyCell, type CellEnd } from './buy-cell.ts';
import type { Buying } from './buying.ts';
import { CreditReservations } from './credit-reservations.ts';

/**
 * Cells in work at once, by socket: while one call waits for its answer the next is being claimed. Four, because calls of
 * different prices fill the minute better when there is something small among those that wait: with two, a bundle and two
 * singles a cell used 95 % of 300 credits a minute, with four 98 % (bench/throttle.ts).
 */
const CELLS_PER_SOCKET = 4;

/** How long to wait before looking again at cells that another run is buying. */
const CLAIMED_AGAIN_MS = 1_000;

/**
 * Buys what the cells lack, in the given order, until all is bought or the buying is stopped. Only a bounded number of
 * cells is in work at a time: the throttle keeps everything that waits in memory.
 *
 * @param goals the topics to buy for each cell, by the cell's number; 0 for none. What was tried is taken out
 * @param order the numbers of the cells to buy
 * @param credits what the cells may cost together; dearer ones than what is left are passed over
 */
export async function purchase(
  buying: Buying,
  cells: CellTable,
  goals: Float64Array,
  order: Uint32Array,
  credits: number,
): Promise<void> {
  const { job, clock, progress } = buying.parts;
  const reservations = new CreditReservations(credits);
  const priceOf = purchaseBySet(() => buying.priceList);
  let round: Iterable<number> = order;
  for (;;) {
    const claimed: number[] = [];
    const numbers = round[Symbol.iterator]();
    const worker = async () => {
      for (let next = numbers.next(); !next.done && !buying.stopped; next = numbers.next()) {
        const number = next.value;
        const { calls, credits: price } = priceOf(goals[number]!);
        // Where several accounts pay for a cell, one may be empty already: half a cell is not worth the other's credits.
        if (goals[number] === 0 || !calls.every((call) => buying.canPay(call))) continue;
        if (!(await reservations.take(price))) continue;
        const cell = { end: 'stopped' as CellEnd, spent: 0 };
        try {
          Object.assign(cell, await buyCell(buying, cells.cell(number), topicsIn(goals[number]!)));
        } finally {
          reservations.end(price, cell.spent);
        }
        if (cell.end === 'claimed') claimed.push(number);
        if (cell.end !== 'done') continue;
        goals[number] = 0;
        progress.cellsDone++;
      }
    };
    await all(Array.from({ length: job.concurrency * CELLS_PER_SOCKET }, worker), buying);
    if (claimed.length === 0 || buying.stopped) return;
    await clock.sleep(CLAIMED_AGAIN_MS, buying.signal);
    round = claimed;
  }
}

/** Waits for all workers even if one fails, so that no call is left in flight when the error goes on. */
async function all(workers: readonly Promise<void>[], buying: Buying): Promise<void> {
  const stopOthers = (error: unknown) => {
    buying.stop({ reason: 'interrupted', message: 'Stopped by an error.', resumeAfter: null });
    throw error;
  };
  const ends = await Promise.allSettled(workers.map((worker) => worker.catch(stopOthers)));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
