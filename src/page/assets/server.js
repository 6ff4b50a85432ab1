import { signal } from '@preact/signals';

/** An error to show: the server's own, or that it does not respond. `code` is undefined for the latter. */
class Refusal extends Error {
  constructor({ code, message, hint }) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

const GONE = {
  message: 'Perilbook does not respond',
  hint: 'Start perilbook ui again in the terminal, and open the address that it prints. Bought answers are kept.',
};

/** Sends a request; resolves to what `read` makes of the response. @throws Refusal, or AbortError where `options.signal` cancelled it */
async function ask(path, options, read = (response) => response.json()) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refusal(GONE);
  }
  if (response.ok) return await read(response);
  const body = await response.json().catch(() => null);
  throw new Refusal(body?.error ?? GONE);
}

/** The JSON of the server's reply. @param signal cancels the request; may be left out @throws Refusal */
export const get = (path, signal) => ask(path, { signal });

export const getText = (path, signal) => ask(path, { signal }, (response) => response.text());

/** Sends `body` as JSON, or an empty object without one; resolves to the JSON of the reply. @throws Refusal */
export function post(path, body, signal) {
  const headers = { 'content-type': 'application/json' };
  return ask(path, { method: 'POST', headers, body: JSON.stringify(body ?? {}), signal });
}

/** Uploads a file. `fetch` reports no upload progress. */
export function upload(picked, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `/api/files?name=${encodeURIComponent(picked.name)}`);
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
    request.onload = () =>
      request.status < 300
        ? resolve(request.response)
        : reject(new Refusal(request.response?.error ?? GONE));
    request.onerror = () => reject(new Refusal(GONE));
    request.send(picked);
  });
}

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

/** Rejects unless the server replies without an error within `ANSWER_MS`. */
const isAlive = () => get('/api/alive', AbortSignal.timeout(ANSWER_MS));

/** The server has replied or sent an event: its silence is measured from now. */
export function heard() {
  heardAt = performance.now();
}

/** Shows the connection as lost, and tries again each second until the server replies and `onBack` succeeds. Nothing if lost already. */
async function lose(error) {
  if (isLost.value) return;
  isLost.value = true;
  for (let reason = error; reason !== null; ) {
    goneError.value = reason;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    const back = isAlive().then(() => onBack());
    reason = await back.then(
      () => null,
      (next) => next,
    );
  }
  heard();
  isLost.value = false;
  goneError.value = null;
  connectionWords.value = 'Perilbook responds again.';
}

/** Asks the server whether it is there. Without a reply the connection is shown as lost. */
export const check = () => isAlive().then(heard, lose);

/** For controls that need the server. They keep the focus while they are off: `disabled` would drop it. @param isBusy off for another reason */
export const needsServer = (isBusy = false) =>
  isLost.value || isBusy ? { 'aria-disabled': 'true' } : {};

/** Watches the connection. `whenBack` is called when it is there again. */
export function watchConnection(whenBack) {
  onBack = whenBack;
  const refuse = (event) => {
    const isOff = event.target.closest?.(
      '[aria-disabled="true"], label[for="file"], #path-form, #budget-form',
    );
    if (!isLost.value || !isOff) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const kind of ['click', 'submit', 'change'])
    document.addEventListener(kind, refuse, { capture: true });
  setInterval(() => {
    if (!isLost.value && performance.now() - heardAt > SILENCE_MS) void check();
  }, RETRY_MS);
}
