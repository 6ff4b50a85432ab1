import { NO_TOPICS, type TopicSet } from '../../contract/topic-set.ts';
import { purchaseBySet } from '../../plan/prices.ts';
import { buyCell, type CellEnd } from './buy-cell.ts';
import type { Buying } from './buying.ts';
import type { CellQueue } from './cell-queue.ts';
import { CreditReservations } from './credit-reservations.ts';
import { record } from './progress.ts';
import { stopFor } from './stop.ts';

/**
 * Cells in work at once, by socket: while one call waits for its answer the next is being claimed. Four, because calls of
 * different prices fill the minute better when a cheap one is among those that wait: with two, a bundle and two singles a cell
 * used 95 % of 300 credits a minute, with four 98 % (bench/throttle.ts).
 */
const CELLS_PER_SOCKET = 4;

/** How long to wait before looking again at cells that another run is buying. */
const CLAIMED_AGAIN_MS = 1_000;

export interface CellPurchase {
  /** The numbers of the cells to buy, in order. */
  readonly order: Iterable<number>;
  /** What is to be bought at a cell now: what it lacks of the tier that it is given. */
  readonly topicsOf: (cell: number) => TopicSet;
  /** What the cells may cost together; those that cost more than what is left are skipped. */
  readonly credits: number;
}

/**
 * Buys what cells lack until all is bought or the buying is stopped. Only a bounded number of cells is in work at a time: the
 * throttle keeps everything that waits in memory.
 */
export async function buyCells(
  buying: Buying,
  queue: CellQueue,
  { order, topicsOf, credits }: CellPurchase,
): Promise<void> {
  const { job, plan, effects, progress } = buying.context;
  const reservations = new CreditReservations(credits);
  const purchaseOf = purchaseBySet(() => buying.priceList);
  const buyOne = async (number: number): Promise<CellEnd | null> => {
    const topics = topicsOf(number);
    const { calls, credits: price } = purchaseOf(topics);
    // One of several accounts that pay for a cell may be empty already: half a cell is not worth the other's credits.
    if (topics === NO_TOPICS || calls.some((call) => buying.payerOf(call) === null)) return null;
    if (!(await reservations.take(price))) return null;
    const work = queue.begin(number, topics, buying.priceList.singles);
    let bought: Awaited<ReturnType<typeof buyCell>> | null = null;
    try {
      bought = await buyCell(buying, work);
    } finally {
      reservations.end(price, bought?.credits ?? 0);
    }
    queue.end(work, topics, bought.end === 'done');
    if (bought.end === 'done') record(progress, 'cellDone', plan.scan.cells.value(number));
    return bought.end;
  };
  for (let round = order; ; ) {
    const claimed: number[] = [];
    const numbers = round[Symbol.iterator]();
    const worker = async () => {
      for (let next = numbers.next(); !next.done && !buying.stopped; next = numbers.next()) {
        if ((await buyOne(next.value)) === 'claimed_elsewhere') claimed.push(next.value);
      }
    };
    await all(Array.from({ length: job.concurrency * CELLS_PER_SOCKET }, worker), buying);
    if (claimed.length === 0 || buying.stopped) return;
    await effects.clock.sleep(CLAIMED_AGAIN_MS, buying.signal);
    round = claimed;
  }
}

/** Waits for all workers even if one fails, so that no call is left in flight when the error is thrown. */
async function all(workers: readonly Promise<void>[], buying: Buying): Promise<void> {
  const stopOthers = (error: unknown) => {
    buying.stop(stopFor('interrupted', 'Stopped by an error.'));
    throw error;
  };
  const ends = await Promise.allSettled(workers.map((worker) => worker.catch(stopOthers)));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
