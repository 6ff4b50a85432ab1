import { computed, effect, signal, untracked } from '@preact/signals';

const NONE = { value: null, error: null, question: null };

/** The server's answer to a question that a signal holds as JSON. It is asked once the question has settled; a later one cancels an earlier
 * one, and while it is open the old answer stays.
 * @returns `answer`: `{ value, error, question }`, all null without a question; `isStale`: the answer is to another question */
export function asked(question, ask, settleMs) {
  const answer = signal(NONE);
  let asking = new AbortController();
  effect(() => {
    const wanted = question.value;
    asking.abort();
    asking = new AbortController();
    untracked(() => void answerTo(wanted, asking.signal));
  });

  async function answerTo(wanted, signal) {
    // An answer about another file is none.
    if (JSON.parse(wanted)?.id !== JSON.parse(answer.value.question)?.id) answer.value = NONE;
    if (wanted === null) return;
    // The first question of a file does not change at once.
    const wait = answer.value === NONE ? 0 : settleMs;
    await new Promise((resolve) => setTimeout(resolve, wait));
    if (signal.aborted) return;
    try {
      const value = await ask(JSON.parse(wanted), signal);
      if (!signal.aborted) answer.value = { value, error: null, question: wanted };
    } catch (error) {
      if (!signal.aborted) answer.value = { value: null, error, question: wanted };
    }
  }

  return { answer, isStale: computed(() => answer.value.question !== question.value) };
}
