import { type TopicSet, topicsIn } from '../contract/topic-set.ts';
import { purchaseBySet } from '../plan/prices.ts';
import { buyCell, type CellEnd } from './buy-cell.ts';
import type { Buying } from './buying.ts';
import type { CellTable } from './cell-table.ts';
import { Wallet } from './wallet.ts';

/** Cells in work at once, by socket: while one call waits for its answer the next is being claimed. */
const CELLS_PER_SOCKET = 2;

/** How long to wait before looking again at cells that another run is buying. */
const CLAIMED_AGAIN_MS = 1_000;

/**
 * Buys what the cells lack, in the given order, until all is bought or the buying is stopped. Only a bounded number of
 * cells is in work at a time: the throttle keeps everything that waits in memory.
 *
 * @param missing the topics that each cell lacks, by the cell's number
 * @param order the numbers of the cells to buy
 * @param spendable what the cells may cost; dearer ones than what is left are passed over
 */
export async function purchase(
  buying: Buying,
  cells: CellTable,
  missing: { readonly [cell: number]: TopicSet },
  order: Iterable<number>,
  spendable: Spendable,
): Promise<void> {
  const { job, clock, progress } = buying.parts;
  const wallet = new Wallet(Math.min(spendable.budget, spendable.quota));
  const priceOf = purchaseBySet(() => buying.market);
  let round = order;
  for (;;) {
    const claimed: number[] = [];
    const numbers = round[Symbol.iterator]();
    const worker = async () => {
      for (let next = numbers.next(); !next.done && !buying.stopped; next = numbers.next()) {
        const number = next.value;
        const { credits } = priceOf(missing[number]!);
        if (!(await wallet.take(credits))) {
          buying.passOver(spendable.quota < spendable.budget ? 'quota' : 'budget');
          continue;
        }
        const cell = { end: 'stopped' as CellEnd, spent: 0 };
        try {
          Object.assign(cell, await buyCell(buying, cells.cell(number), topicsIn(missing[number]!)));
        } finally {
          wallet.end(credits, cell.spent);
        }
        if (cell.end === 'claimed') claimed.push(number);
        else if (cell.end === 'done') progress.cellsDone++;
      }
    };
    await all(Array.from({ length: job.sockets * CELLS_PER_SOCKET }, worker), buying);
    if (claimed.length === 0 || buying.stopped) return;
    await clock.sleep(CLAIMED_AGAIN_MS, buying.signal);
    round = claimed;
  }
}

/** Credits that may be spent at most: of the run's budget, and of the period's quota. */
export interface Spendable {
  readonly budget: number;
  readonly quota: number;
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
