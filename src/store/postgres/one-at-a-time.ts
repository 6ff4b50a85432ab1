/** Does one piece of work at a time, in the order asked. */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine.catch(() => {});
    return mine;
  };
}

interface AskedItem<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects what is asked while a batch is under way, for the next one. A transaction on another machine takes milliseconds, and
 * each account has one at a time: so the number of claims a second does not depend on how far the server is.
 */
export function collecting<Item, Result>(
  most: number,
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: AskedItem<Item, Result>[] = [];
  let isBusy = false;

  async function workOff(): Promise<void> {
    isBusy = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, most);
      waiting = waiting.slice(most);
      try {
        const results = await work(batch.map(({ item }) => item));
        if (results.length !== batch.length) throw new Error(`${results.length} results for ${batch.length} items`);
        for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isBusy = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isBusy) void workOff();
    });
}
