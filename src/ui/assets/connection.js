import { get } from './api.js';
import { say, show, showError } from './dom.js';

/* Whether the server answers. It sends an event every three seconds while a file is open; otherwise it is asked. */

/** A longer silence is checked. */
const SILENCE_MS = 8_000;

/** A server that is stopped accepts connections and never answers. */
const ANSWER_MS = 3_000;

const RETRY_MS = 1_000;

/** Controls that need the server. They keep the focus while they are off: `disabled` would drop it. */
const NEEDS_SERVER = '#start, #stop, #go-on, #download, #report, #file, #sample-file, #path-form button, #runs button';

/** Watches the connection. `onLost` and `onBack` are called when it ends and when it is there again. */
export function setUpConnection({ onLost, onBack }) {
  let isLost = false;
  let heardAt = performance.now();

  const isAlive = () => get('/api/alive', AbortSignal.timeout(ANSWER_MS));

  function heard() {
    heardAt = performance.now();
  }

  function mark() {
    for (const control of document.querySelectorAll(NEEDS_SERVER)) {
      if (isLost) control.setAttribute('aria-disabled', 'true');
      else if (control.id !== 'stop') control.removeAttribute('aria-disabled');
    }
  }

  async function lose(error) {
    if (isLost) return;
    isLost = true;
    document.documentElement.dataset.offline = 'yes';
    mark();
    onLost();
    for (let reason = error; reason !== null; ) {
      showError('gone', reason);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      reason = await isAlive().then(
        () => null,
        (next) => next,
      );
    }
    heard();
    isLost = false;
    delete document.documentElement.dataset.offline;
    mark();
    show('gone', false);
    say('connection-words', 'Perilbook responds again.');
    await onBack();
  }

  /** Asks the server whether it is there. */
  async function check() {
    await isAlive().then(heard, lose);
  }

  for (const kind of ['click', 'submit', 'change']) {
    document.addEventListener(
      kind,
      (event) => {
        if (!isLost || !event.target.closest?.(`${NEEDS_SERVER}, #path-form, #budget-form`)) return;
        event.preventDefault();
        event.stopImmediatePropagation();
      },
      { capture: true },
    );
  }
  setInterval(() => {
    if (!isLost && performance.now() - heardAt > SILENCE_MS) void check();
  }, RETRY_MS);
  return { heard, check, isLost: () => isLost };
}
