import { get, post } from './api.js';
import { setUpBudget } from './budget-step.js';
import { setUpColumns } from './columns-step.js';
import { byId, say, show, showError } from './dom.js';
import { setUpFile } from './file-step.js';
import { setUpPrice } from './price-step.js';
import { setUpRun } from './run-step.js';
import { setUpRuns } from './runs-list.js';
import { setUpTopics } from './topics-step.js';

/* All steps are on one page, one below the other; each depends on the ones above. */

/** Long enough to check three boxes before a price is requested. */
const SETTLE_MS = 250;

let about = await get('/api/about').catch((error) => {
  showError('gone', error);
  throw error;
});
let book = null;
let location = null;
let pricing = new AbortController();

const steps = {
  columns: setUpColumns(
    (chosen) => {
      location = chosen;
      void reprice();
    },
    (header) => void readAgain(header),
  ),
  topics: setUpTopics(about.topics, () => reprice()),
  price: setUpPrice(() => reprice()),
  budget: setUpBudget(() => about, start),
  run: setUpRun(() => about, { onPhase, onGone, onGoOn }),
  runs: setUpRuns((id) => steps.file.openAgain(id)),
  file: setUpFile(() => about, openBook),
};

const choice = () => ({
  ...location,
  header: book.header,
  topics: steps.topics.chosen(),
  optimize: steps.price.optimize(),
});

async function openBook(opened) {
  book = opened;
  history.replaceState(null, '', `#book=${book.id}`);
  document.title = `${book.name} · Perilbook`;
  location = steps.columns.open(book);
  steps.topics.open(book.kept?.topics ?? null);
  steps.price.open(book.kept?.optimize);
  steps.budget.open();
  steps.budget.working(book.is_working);
  await steps.runs.load();
  steps.run.open(book, steps.runs.latestOf(book.id));
  await reprice(0);
  byId('file-title').scrollIntoView();
}

/** Reads the open file again with or without a header line. Settings other than columns stay. */
async function readAgain(header) {
  try {
    book = await get(`/api/books/${book.id}?header=${header ? 'yes' : 'no'}`);
    location = steps.columns.open(book);
    await reprice(0);
  } catch (error) {
    showError('columns-error', error);
  }
}

/** Requests the price; a later request cancels an earlier one. */
async function reprice(wait = SETTLE_MS) {
  pricing.abort();
  pricing = new AbortController();
  const { signal } = pricing;
  if (location === null || steps.topics.chosen().length === 0) {
    steps.budget.price(null);
    steps.price.draw(null, null);
    return;
  }
  steps.price.waiting();
  await new Promise((resolve) => setTimeout(resolve, wait));
  if (signal.aborted) return;
  try {
    const priced = await post(`/api/books/${book.id}/price`, choice(), signal);
    steps.columns.found(priced.summary, null);
    steps.price.draw(priced, null);
    steps.budget.price(priced);
  } catch (error) {
    if (error.name === 'AbortError') return;
    steps.budget.price(null);
    steps.columns.found(null, error.code === 'INPUT_COLUMNS' ? error : null);
    steps.price.draw(null, error.code === 'INPUT_COLUMNS' ? null : error);
  }
}

async function start(budget, confirmed) {
  await post(`/api/books/${book.id}/start`, { ...choice(), budget, confirmed });
  steps.budget.working(true);
}

/** The phase of a run has changed, or the page was opened during it (`wasHere` is false). */
async function onPhase(isWorking, isNew, wasHere) {
  show('gone', false);
  steps.budget.working(isWorking);
  if (isWorking && isNew) byId('run-step').scrollIntoView();
  if (wasHere && (isNew || !isWorking)) byId('run-title').focus({ preventScroll: true });
  if (isWorking) return;
  await steps.runs.load();
  await reprice(0);
}

function onGone() {
  get('/api/about').then(
    (now) => {
      about = now;
      show('gone', false);
    },
    (error) => showError('gone', error),
  );
}

/** Suggests the rest of the budget after a stop, otherwise the price of the rest. */
async function onGoOn(last) {
  await reprice(0);
  const wasStopped = last?.end?.stop?.reason === 'interrupted';
  steps.budget.goOn(wasStopped ? Math.max(0, last.budget - last.credits_spent) : null);
}

function introduce() {
  show('sample', about.sample);
  if (about.local) {
    say(
      'about',
      'Adds hazard columns to a file of US locations. Answers come from public data on this machine, free of charge, for topics whose data is here.',
    );
    return;
  }
  const who = about.sample ? 'with made-up sample data' : `, account ${about.account} (${about.subscription})`;
  say(
    'about',
    `Adds hazard columns to a file of US locations. Answers come from ${about.service}${about.sample ? ' ' : ''}${who}.`,
  );
}

introduce();
await steps.runs.load().catch((error) => showError('gone', error));
const wanted = /^#book=([0-9a-f]+)$/.exec(window.location.hash)?.[1] ?? about.first;
if (wanted) await steps.file.openAgain(wanted);
document.documentElement.dataset.ready = 'yes';
