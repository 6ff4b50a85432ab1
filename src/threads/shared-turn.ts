/** 1 while a thread has its turn, in memory that the threads share. */
export type SharedTurn = Int32Array<SharedArrayBuffer>;

/** So long a thread waits for its turn. One that has died while it had its own gives it to nobody. */
const LONGEST_WAIT_MS = 2_000;

/** Makes a turn for threads that write to one file. SQLite's writers poll for each other's transactions in steps of up to 100 ms; here the
 * next thread is notified at once. */
export function makeTurn(): SharedTurn {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** Does some work while no other thread does its own: one after the other. After the longest wait it is done all the same: the file has a lock
 * of its own. */
export async function inTurn<Result>(
  turn: SharedTurn,
  work: () => Promise<Result>,
  longestWaitMs = LONGEST_WAIT_MS,
): Promise<Result> {
  while (Atomics.compareExchange(turn, 0, 0, 1) !== 0) {
    // Waiting for shared memory keeps no thread alive: one that had nothing else to do ended.
    const alive = setInterval(() => {}, longestWaitMs);
    const ended = await Atomics.waitAsync(turn, 0, 1, longestWaitMs).value;
    clearInterval(alive);
    if (ended === 'timed-out') break;
  }
  try {
    return await work();
  } finally {
    Atomics.store(turn, 0, 0);
    Atomics.notify(turn, 0, 1);
  }
}
