import { batch, computed, effect, signal, untracked } from '@preact/signals';
import { get, post } from './api.js';
import { asked } from './asked.js';

/* All that the page knows: the open file, what is chosen for it, what the server says of that, and its run. */

export const about = signal(null);
export const book = signal(null);
const runs = signal([]);

/** The columns by their index: `lat` and `lng` may be null; `order` may also be `tiv` or `file`. */
export const columns = signal(null);
export const topics = signal([]);
export const source = signal('sample');
/** What one answer holds for: `place`, `tract` or `county`. */
export const area = signal('place');
export const optimize = signal('credits');
/** The text of the field. */
export const budgetText = signal('');
/** What the reader chose in the report. */
export const reportState = { current: {} };

export const folds = { columns: signal(true), topics: signal(true), source: signal(true), price: signal(true) };

export function fold(isFolded) {
  for (const isOpen of Object.values(folds)) isOpen.value = !isFolded;
}

/** How often the same question was asked again. */
const turn = signal(0);

/** Long enough to check three boxes before a price is requested. */
const SETTLE_MS = 250;

const FREE = 'Answers of this source are free: there is nothing to save.';

/** Why one answer for each area cannot be chosen; null: it can. */
export function whyNoArea(level) {
  if (level === 'place') return null;
  if (source.value === 'local') return FREE;
  return offered.value.areas[level] ?? offered.value.boundaries[level] ?? null;
}

/** What can be chosen, as the server said of the open file last. */
const NOTHING_OFFERED = { sources: {}, boundaries: {}, areas: {} };
export const offered = signal(NOTHING_OFFERED);

/** The choice as the server reads it; null while columns or topics are missing. */
export const choice = computed(() => {
  if (book.value === null || columns.value?.lat == null || columns.value.lng === null) return null;
  if (topics.value.length === 0) return null;
  const level = area.value;
  const isArea = level !== 'place' && whyNoArea(level) === null;
  return {
    ...columns.value,
    header: book.value.header,
    topics: topics.value,
    optimize: optimize.value,
    source: source.value,
    ...(isArea ? { areas: level } : {}),
  };
});

const question = computed(() =>
  choice.value === null ? null : JSON.stringify({ id: book.value.id, choice: choice.value, turn: turn.value }),
);
const askOf =
  (what) =>
  ({ id, choice: chosen, more }, signal) =>
    post(`/api/books/${id}/${what}`, { ...chosen, ...more }, signal);

/** The price of the choice. */
export const price = asked(question, askOf('price'), SETTLE_MS);
/** The choice that was priced. */
export const pricedChoice = computed(() => {
  const { value, question: priced } = price.answer.value;
  return value === null ? null : JSON.parse(priced).choice;
});

const choices = asked(question, askOf('choices'), SETTLE_MS);
export const choicesError = computed(() => choices.answer.value.error);
effect(() => {
  const { value } = choices.answer.value;
  if (value !== null) offered.value = value;
});

export const priced = computed(() => price.answer.value.value);
export const isLocal = computed(() => priced.value?.summary.source.kind === 'local');

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
    if (priced.value === null || price.isStale.value || !budget.value || mostUseful.value === 0) return null;
    const { id, choice: chosen, turn: asking } = JSON.parse(price.answer.value.question);
    return JSON.stringify({ id, choice: chosen, turn: asking, more: { budget: budget.value } });
  }),
  askOf('reach'),
  200,
);

/** Whether the paid service refuses the key. */
const key = asked(
  computed(() => (book.value !== null && source.value === 'service' ? JSON.stringify({ id: 'key' }) : null)),
  () => post('/api/key'),
  0,
);
export const keyRefusal = computed(() => key.answer.value.value?.refusal ?? null);
// A refusal may have changed what the ledger has left.
effect(() => {
  if (keyRefusal.value !== null) untracked(priceAgain);
});

/** Prices again: answers were bought since. */
export function priceAgain() {
  turn.value++;
}

export const untilPriced = () =>
  new Promise((resolve) => {
    const stop = effect(() => {
      if (price.isStale.value) return;
      queueMicrotask(() => stop());
      resolve();
    });
  });

export async function loadRuns() {
  runs.value = await get('/api/runs');
}

export const latestOf = (id) => runs.value.find((run) => run.book === id && run.is_latest) ?? null;

/** A job file names a column by its name or its number. */
function indexOf(names, word) {
  const named = names.indexOf(word);
  const index = named >= 0 ? named : Number(word) - 1;
  return names[index] === undefined ? null : index;
}

function orderKept(names, order) {
  if (order === null || order === undefined || typeof order === 'string') return order ?? 'file';
  const index = names.indexOf(order.column);
  return index < 0 ? 'file' : index;
}

/** The columns of a file's last run, or those that are recognised. */
function firstColumns({ location, kept, columns: names, header, order }) {
  // Saved columns are names with a header line, and numbers without one.
  if (kept === null || (kept.header ?? true) !== header)
    return { lat: null, lng: null, ...location, order: order ?? 'file' };
  return { lat: indexOf(names, kept.lat), lng: indexOf(names, kept.lng), order: orderKept(names, kept.order) };
}

/** Shows a file with what was chosen for it before: in this tab, or for its last run. */
export function takeBook(opened) {
  const draft = readDraft(opened.id);
  const { kept } = opened;
  batch(() => {
    book.value = opened;
    offered.value = NOTHING_OFFERED;
    columns.value = draft.columns ?? firstColumns(opened);
    const natural = about.value.topics.filter(({ category }) => category === 'natural').map(({ slug }) => slug);
    topics.value = draft.topics ?? kept?.topics ?? natural;
    source.value = draft.source ?? kept?.source ?? about.value.source;
    area.value = draft.area ?? kept?.areas ?? 'place';
    optimize.value = draft.optimize ?? kept?.optimize ?? 'credits';
    budgetText.value = draft.budgetText ?? '';
    reportState.current = draft.report ?? {};
    turn.value++;
  });
}

/** Reads the open file again with or without a header line. Settings other than columns stay. */
export async function readAgain(header) {
  const read = await get(`/api/books/${book.value.id}?header=${header ? 'yes' : 'no'}`);
  batch(() => {
    book.value = read;
    columns.value = firstColumns(read);
  });
}

/* What the user has chosen for a file lasts as long as the tab. A browser may refuse storage: then a reload forgets it. */

const keyOf = (id) => `perilbook ${id}`;

export function readDraft(id) {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(id)) ?? '{}');
  } catch {
    return {};
  }
}

export function keepDraft() {
  if (book.value === null) return;
  const { id, header } = book.value;
  const chosen = { columns: columns.value, topics: topics.value, source: source.value, area: area.value };
  const draft = {
    header,
    ...chosen,
    optimize: optimize.value,
    budgetText: budgetText.value,
    report: reportState.current,
  };
  try {
    sessionStorage.setItem(keyOf(id), JSON.stringify(draft));
  } catch {
    // Without storage a reload forgets it.
  }
}

effect(keepDraft);
