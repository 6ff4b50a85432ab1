/** A call that waits for its answer. */
interface Waiting<Asked, Answer> {
  readonly asked: Asked;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Most calls of a batch: a larger one would keep the others waiting, and more bodies in memory. */
const MOST_CALLS = 64;

/**
 * Collects the calls that arrive in one turn of the event loop and answers them together at its end: none waits for a call
 * that has not arrived.
 *
 * @param answerAll gives the answers in the order of the calls; when it throws, each call fails with its error
 * @param isLarge whether a call is answered by itself because its answer is large
 */
export function createCallBatches<Asked, Answer>(
  answerAll: (asked: readonly Asked[]) => readonly Answer[],
  isLarge: (asked: Asked) => boolean,
): (asked: Asked) => Promise<Answer> {
  const waiting: Waiting<Asked, Answer>[] = [];

  function answerBatch(): void {
    const large = waiting.findIndex(({ asked }) => isLarge(asked));
    const batch = waiting.splice(0, large < 0 ? MOST_CALLS : Math.max(1, Math.min(large, MOST_CALLS)));
    if (waiting.length > 0) setImmediate(answerBatch);
    try {
      const answers = answerAll(batch.map(({ asked }) => asked));
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index]!);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (asked) =>
    new Promise((resolve, reject) => {
      waiting.push({ asked, resolve, reject });
      if (waiting.length === 1) setImmediate(answerBatch);
    });
}
