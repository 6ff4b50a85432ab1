/** Limits concurrent work; waiting work starts in order. */
export function createGate(atOnce: number) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    async pass<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
      else running += 1;
      try {
        signal.throwIfAborted();
        return await work();
      } finally {
        // The slot goes to the next in line, so that new work cannot overtake it.
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}
