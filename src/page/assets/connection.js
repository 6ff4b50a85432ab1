import { signal } from '@preact/signals';
import { get } from './api.js';

/* Whether the server answers. It sends an event every three seconds while a file is open; otherwise it is asked. */

/** A longer silence is checked. */
const SILENCE_MS = 8_000;

/** A server that is stopped accepts connections and never answers. */
const ANSWER_MS = 3_000;

const RETRY_MS = 1_000;

/** Why the server cannot be reached; null while it can. */
export const goneError = signal(null);
export const isLost = signal(false);
/** For screen readers. */
export const connectionWords = signal('');

let heardAt = performance.now();
let onBack = async () => {};

const isAlive = () => get('/api/alive', AbortSignal.timeout(ANSWER_MS));

export function heard() {
  heardAt = performance.now();
}

async function lose(error) {
  if (isLost.value) return;
  isLost.value = true;
  for (let reason = error; reason !== null; ) {
    goneError.value = reason;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    reason = await isAlive()
      .then(() => null)
      .catch((next) => next);
  }
  heard();
  isLost.value = false;
  goneError.value = null;
  connectionWords.value = 'Perilbook responds again.';
  await onBack();
}

/** Asks the server whether it is there. */
export const check = () => isAlive().then(heard, lose);

/** For controls that need the server. They keep the focus while they are off: `disabled` would drop it. */
export const needsServer = () => (isLost.value ? { 'aria-disabled': 'true' } : {});

/** Watches the connection. `whenBack` is called when it is there again. */
export function watchConnection(whenBack) {
  onBack = whenBack;
  for (const kind of ['click', 'submit', 'change']) {
    document.addEventListener(
      kind,
      (event) => {
        const isOff = event.target.closest?.('[aria-disabled="true"], label[for="file"], #path-form, #budget-form');
        if (!isLost.value || !isOff) return;
        event.preventDefault();
        event.stopImmediatePropagation();
      },
      { capture: true },
    );
  }
  setInterval(() => {
    if (!isLost.value && performance.now() - heardAt > SILENCE_MS) void check();
  }, RETRY_MS);
}
