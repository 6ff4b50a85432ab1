import { batch, computed, effect, signal, untracked } from '@preact/signals';
import { get, post } from './server.js';

/* All that the page knows: the open file, what is chosen for it, and what the server says of that. */

export const about = signal(null);
export const file = signal(null);
/** Its number on the server; undefined while none is open. */
export const fileId = computed(() => file.value?.id);
/** For replies about the open file that may come late. @returns tells whether it is still the open one: if not, the reply is dropped */
export function whileOpen() {
  const id = fileId.value;
  return () => fileId.value === id;
}
/** The columns by their index (`lat` and `lng` may be null; `order` may also be `tiv` or `file`), `topics`, `source`, `optimize`, and for what one
 * answer holds: `areas` is `place`, `tract` or `county`; `losses` is true or false. */
export const chosen = signal({});
export const source = computed(() => chosen.value.source);
export const budgetText = signal('');
/** What the reader chose in the report. */
export const reportState = { current: {} };

/** Changes the settings in `part`; the others stay. */
export function choose(part) {
  chosen.value = { ...chosen.value, ...part };
}

export const folds = {
  columns: signal(true),
  topics: signal(true),
  source: signal(true),
  price: signal(true),
};

/** Whether the step that opens a file is unfolded. */
export const isOpening = signal(true);

/** Folds or unfolds all steps in `folds` at once. The first step has its own state, `isOpening`. */
export function fold(isFolded) {
  for (const isOpen of Object.values(folds)) isOpen.value = !isFolded;
}

/** How often the same question was asked again. */
const turn = signal(0);

/** Long enough to check three boxes before a price is requested. */
const SETTLE_MS = 250;

/** What can be chosen, as the server said of the open file last. */
const NOTHING_OFFERED = { sources: {}, areas: {} };
export const offered = signal(NOTHING_OFFERED);

/** Why one answer for each area cannot be chosen; null: it can. */
export function whyNoArea(level) {
  if (level === 'place') return null;
  if (source.value === 'local') return 'Answers of this source are free: there is nothing to save.';
  return offered.value.areas[level] ?? null;
}

/** One answer is used for each tract or county: that is chosen, and `whyNoArea` knows no reason against it. */
export const isArea = computed(
  () => chosen.value.areas !== 'place' && whyNoArea(chosen.value.areas) === null,
);

/** The choice as the server reads it; null while columns or topics are missing. */
export const choice = computed(() => {
  const { areas, ...rest } = chosen.value;
  if (file.value === null || rest.lat === null || rest.lng === null || rest.topics.length === 0)
    return null;
  return { ...rest, header: file.value.header, ...(isArea.value ? { areas } : {}) };
});

/** As JSON; null while the choice is not complete. A new `turn` makes it another question, so that it is asked again. */
const question = computed(() =>
  choice.value === null
    ? null
    : JSON.stringify({ id: file.value.id, choice: choice.value, turn: turn.value }),
);
/** A function that posts a question to `/api/files/ID/`, followed by `what`. */
const askOf =
  (what) =>
  ({ id, choice: chosen, more }, signal) =>
    post(`/api/files/${id}/${what}`, { ...chosen, ...more }, signal);

const NONE = { value: null, error: null, question: null };

/** The server's answer to a question that a signal holds as JSON. It is asked once the question has settled; a later one cancels an earlier
 * one, and while it is open the old answer stays.
 * @returns `answer`: `{ value, error, question }`, all null without a question; `isStale`: the answer is to another question */
function asked(question, ask, settleMs) {
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

export const price = asked(question, askOf('price'), SETTLE_MS);
/** The choice that `priced` is for; null without a price. The present choice may be another one. */
export const pricedChoice = computed(() => {
  const { value, question: priced } = price.answer.value;
  return value === null ? null : JSON.parse(priced).choice;
});

const choices = asked(question, askOf('choices'), SETTLE_MS);
/** Why the server could not tell what can be chosen; null where it could. */
export const choicesError = computed(() => choices.answer.value.error);
/** The last answer stays offered while a new one is awaited, or after one that failed. */
effect(() => {
  const { value } = choices.answer.value;
  if (value !== null) offered.value = value;
});

/** The latest price, also while a newer one is awaited; null where there is none or it failed. */
export const priced = computed(() => price.answer.value.value);
/** Whether the latest price is for public data on this machine; false without a price. */
export const isLocal = computed(() => priced.value?.summary.source.kind === 'local');

/** All answers that were chosen are in the store, or rejected for good: a run asks for none, and writes the file. */
export const isAllHere = computed(() => {
  const { cells, cells_cached, cells_rejected, credits } = priced.value?.summary ?? {};
  return cells > 0 && cells === cells_cached + cells_rejected && !(credits > 0);
});

/** Digits, with or without commas; null for anything else. */
export const budget = computed(() => {
  const text = budgetText.value.replace(/[,\s]/g, '');
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
});

/** The most that a budget can buy now. */
export const mostUseful = computed(() =>
  Math.min(
    priced.value?.summary.credits ?? 0,
    priced.value === null ? 0 : (priced.value.summary.credits_available ?? Number.MAX_SAFE_INTEGER),
    about.value?.most_budget ?? Number.MAX_SAFE_INTEGER,
  ),
);

/** What the budget buys. Asked when it has not changed for a moment. */
export const reach = asked(
  computed(() => {
    if (priced.value === null || price.isStale.value || !budget.value || mostUseful.value === 0)
      return null;
    const { id, choice: chosen, turn: asking } = JSON.parse(price.answer.value.question);
    return JSON.stringify({ id, choice: chosen, turn: asking, more: { budget: budget.value } });
  }),
  askOf('reach'),
  200,
);

/** How often the service was asked for the keys again. */
const keyTurn = signal(0);
const key = asked(
  computed(() =>
    file.value !== null && source.value === 'service'
      ? JSON.stringify({ id: 'key', turn: keyTurn.value })
      : null,
  ),
  ({ turn: asking }) => post('/api/key', { again: asking > 0 }),
  0,
);
/** Whether a reply about the service's key is awaited. */
export const isKeyAsked = computed(() => key.isStale.value);
/** Why the paid service refuses the key, as an error to show; null otherwise, and for other sources. */
export const keyRefusal = computed(() => key.answer.value.value?.refusal ?? null);
/** After a refusal, of the key check or in a run: the provider may have renewed the key, or the user its file. */
export function askKeyAgain() {
  keyTurn.value++;
}
// A refusal may have changed what the ledger has left.
effect(() => {
  if (keyRefusal.value !== null) untracked(priceAgain);
});

/** Prices again: answers were bought since. */
export function priceAgain() {
  turn.value++;
}

/** Resolves once the price of the present choice is known, or has failed; at once where there is nothing to price. */
export const untilPriced = () =>
  new Promise((resolve) => {
    const stop = effect(() => {
      if (price.isStale.value) return;
      queueMicrotask(() => stop());
      resolve();
    });
  });

/** Shows a file with what was chosen for it before: on this page, or for its last run. */
export function takeFile(opened) {
  keepReport();
  batch(() => {
    file.value = opened;
    offered.value = NOTHING_OFFERED;
    take(opened, readDraft(opened.id));
    turn.value++;
    isOpening.value = false;
  });
  reportState.current = read('sessionStorage', opened.id);
}

/** A draft of other columns is of a file that has changed. */
function take(opened, { header: _, budget: text = '', ...draft }) {
  const indexes = [draft.lat, draft.lng, draft.order].filter((index) => typeof index === 'number');
  const fits = indexes.every((index) => index < opened.columns.length);
  // A layer may be described no longer.
  const known = about.value.topics.map(({ slug }) => slug);
  const topics = (draft.topics ?? opened.chosen.topics).filter((slug) => known.includes(slug));
  chosen.value = { ...opened.chosen, ...(fits ? { ...draft, topics } : {}) };
  budgetText.value = text;
}

/** Closes the file: only the first step remains, unfolded, and the choice is the usual source alone. */
export function leaveFile() {
  file.value = null;
  isOpening.value = true;
  chosen.value = { source: about.value.source };
}

/** Requests a file's preview. @param header whether the first line has column names; undefined: as in its last run */
const getFile = (id, header, signal) =>
  get(`/api/files/${id}${header === undefined ? '' : `?header=${header ? 'yes' : 'no'}`}`, signal);

/** A known file, with or without a header line as it was chosen. */
export const getAgain = (id) => getFile(id, readDraft(id).header);

let reading = new AbortController();

/** Reads the open file again with or without a header line, and cancels an earlier reading: the last choice counts. Settings other than
 * columns stay. @throws AbortError for one that was cancelled */
export async function readAgain(header) {
  reading.abort();
  reading = new AbortController();
  const isStillOpen = whileOpen();
  const opened = await getFile(file.value.id, header, reading.signal);
  if (!isStillOpen()) return;
  const { lat, lng, order } = opened.chosen;
  batch(() => {
    file.value = opened;
    choose({ lat, lng, order });
  });
}

/* What is chosen for a file is the same in all tabs; what is chosen in a report stays in its tab. */

/** The key of a file in the browser's storage. */
const keyOf = (id) => `perilbook ${id}`;

/** What was stored for a file; an empty object where there is nothing. @param storage `localStorage` or `sessionStorage` */
function read(storage, id) {
  try {
    return JSON.parse(window[storage].getItem(keyOf(id)) ?? '{}');
  } catch {
    return {};
  }
}

/** Stores a value for a file as JSON; `storage` is as in `read`. */
function keep(storage, id, value) {
  try {
    window[storage].setItem(keyOf(id), JSON.stringify(value));
  } catch {
    // A browser may refuse storage: then a reload forgets it.
  }
}

/** What was last chosen for a file in any tab: the fields of `chosen`, `header`, and the text of the budget. */
const readDraft = (id) => read('localStorage', id);

/** Stores for this tab what the reader chose in the report of the open file; nothing without one. */
export function keepReport() {
  if (file.value !== null) keep('sessionStorage', file.value.id, reportState.current);
}

/** A tab that follows another one does not write: the other may have gone on. */
let isFollowing = false;

/** Stores each change of the choice for the open file. */
effect(() => {
  const [opened, draft, budget] = [file.value, chosen.value, budgetText.value];
  if (opened !== null && !isFollowing)
    keep('localStorage', opened.id, { header: opened.header, budget, ...draft });
});

/** Another tab changed the choice for the open file: this tab takes it over. */
addEventListener('storage', async ({ storageArea, key, newValue }) => {
  const id = file.value?.id;
  if (storageArea !== localStorage || key !== keyOf(id) || newValue === null) return;
  const { header } = JSON.parse(newValue);
  const isStillOpen = whileOpen();
  // Where the file cannot be read, this tab stays as it is, and its price says why.
  const opened =
    header === file.value.header ? file.value : await getFile(id, header).catch(() => null);
  if (opened === null || !isStillOpen()) return;
  // The other tab may have gone on meanwhile; of another header, a later event tells.
  const draft = readDraft(id);
  if (draft.header !== opened.header) return;
  isFollowing = true;
  batch(() => {
    file.value = opened;
    take(opened, draft);
  });
  isFollowing = false;
});
