export interface BatchLimits<Item> {
  /** Most items of a batch. Default: any number. */
  readonly most?: number;
  /** Whether an item is a batch of its own. Default: none is. */
  readonly isAlone?: (item: Item) => boolean;
  /** Most batches in progress; items that arrive meanwhile are one batch afterwards. Default: any number. */
  readonly atOnce?: number;
}

/** Collects the items of one turn of the event loop and processes them together at its end, in order: no item waits for one
 * that has not arrived, and no batch for the end of the one before, unless `atOnce` says so.
 * @param work gives the results in the order of the items; when it fails or lacks a result, each item of the batch fails */
export function inBatches<Item, Result>(
  work: (items: readonly Item[]) => readonly Result[] | Promise<readonly Result[]>,
  {
    most = Number.POSITIVE_INFINITY,
    isAlone = () => false,
    atOnce = Number.POSITIVE_INFINITY,
  }: BatchLimits<Item> = {},
): (item: Item) => Promise<Result> {
  const waiting: (PromiseWithResolvers<Result> & { readonly item: Item })[] = [];
  let inProgress = 0;

  async function workOnBatch(): Promise<void> {
    // The end of a batch in progress begins the next one.
    if (inProgress >= atOnce || waiting.length === 0) return;
    inProgress += 1;
    const alone = waiting.findIndex(({ item }) => isAlone(item));
    const batch = waiting.splice(
      0,
      Math.max(1, Math.min(alone < 0 ? waiting.length : alone, most)),
    );
    if (waiting.length > 0) setImmediate(workOnBatch);
    try {
      const results = await work(batch.map(({ item }) => item));
      if (results.length !== batch.length)
        throw new Error(`${results.length} results for ${batch.length} items`);
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    inProgress -= 1;
    if (waiting.length > 0 && inProgress + 1 >= atOnce) setImmediate(workOnBatch);
  }

  return (item) => {
    const result = Promise.withResolvers<Result>();
    waiting.push({ item, ...result });
    if (waiting.length === 1) setImmediate(workOnBatch);
    return result.promise;
  };
}
