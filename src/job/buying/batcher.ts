/**
 * Gathers what is asked within one turn of the event loop and does it in one go: a durable transaction costs a disk's
 * flush, and calls that end or begin together can share one.
 */
export function inBatches<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }[] = [];
  const flush = () => {
    const batch = waiting;
    waiting = [];
    work(batch.map(({ item }) => item)).then(
      (results) => {
        for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
      },
      (error) => {
        for (const { reject } of batch) reject(error);
      },
    );
  };
  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ item, resolve, reject });
    });
}
