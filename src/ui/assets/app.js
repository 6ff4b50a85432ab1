import { get, post } from './api.js';
import { setUpBudget } from './budget-step.js';
import { setUpColumns } from './columns-step.js';
import { setUpConnection } from './connection.js';
import { byId, show, showError } from './dom.js';
import { forgetDraft, keepDraft, readDraft } from './draft.js';
import { setUpFile } from './file-step.js';
import { drawMap } from './point-map.js';
import { setUpPrice } from './price-step.js';
import { setUpRun } from './run-step.js';
import { setUpRuns } from './runs-list.js';
import { introduce, setUpSource } from './source-step.js';
import { setUpTopics } from './topics-step.js';

/* All steps are on one page; each depends on the ones above. */
/** Long enough to check three boxes before a price is requested. */
const SETTLE_MS = 250;

/** Steps that fold to a line when a run begins. */
const FOLDS = ['columns-fold', 'topics-fold', 'source-fold', 'price-fold'];

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
      void drawMap(book.id, mapChoice());
      chose({ columns: chosen });
    },
    (header) => void readAgain(header),
  ),
  topics: setUpTopics(about.topics, () => chose({ topics: steps.topics.chosen() })),
  source: setUpSource(() => {
    showSource();
    chose({ source: steps.source.chosen() });
  }),
  price: setUpPrice(about.topics, () => chose({ optimize: steps.price.optimize() })),
  budget: setUpBudget({
    mostBudget: () => about.most_budget,
    reachOf: (budget, chosen, signal) => post(`/api/books/${book.id}/reach`, { ...chosen, budget }, signal),
    onStart: start,
    onChange: (text) => keep({ budget: text }),
  }),
  run: setUpRun({
    onPhase,
    onHeard: () => connection.heard(),
    onCutOff: () => void showLatest(),
    onGone: () => void connection.check(),
    onGoOn,
  }),
  runs: setUpRuns(resume),
  file: setUpFile(() => about, openBook, closeBook),
};
const connection = setUpConnection({ onLost: () => steps.run.lost(), onBack });

const choice = () => ({
  ...location,
  header: book.header,
  topics: steps.topics.chosen(),
  optimize: steps.price.optimize(),
  ...steps.source.chosen(),
});

/** The map needs a valid choice, whatever the topics are. */
const mapChoice = () => (location === null ? null : { ...choice(), topics: [about.topics[0].slug] });

const showSource = () => introduce(about, book === null ? about.source : steps.source.chosen().source);

/** Remembers what is not saved by a run yet, so that loading the page again keeps it. */
function keep(part) {
  if (book !== null) keepDraft(book.id, part);
}

function chose(part) {
  keep(part);
  void reprice();
}

/** @param isOwn whether the user has just opened it: what follows gets the focus, and Back leads to the file before */
async function openBook(opened, isOwn) {
  book = opened;
  const address = `#book=${book.id}`;
  if (isOwn && window.location.hash !== address) history.pushState(null, '', address);
  else history.replaceState(null, '', address);
  document.title = `${book.name} · Perilbook`;
  const draft = readDraft(book.id);
  location = steps.columns.open(book, draft.columns);
  steps.topics.open(draft.topics ?? book.kept?.topics ?? null);
  steps.source.open(book, draft.source ?? { ...book.kept, source: book.kept?.source ?? about.source });
  showSource();
  steps.price.open(draft.optimize ?? book.kept?.optimize);
  steps.budget.open(draft.budget);
  steps.budget.working(book.is_working);
  void drawMap(book.id, mapChoice());
  await steps.runs.load();
  const latest = steps.runs.latestOf(book.id);
  steps.run.open(book, latest, draft.report);
  fold(book.is_working || latest !== null);
  const priced = reprice(0);
  if (isOwn) focusOn(latest === null ? byId('columns-fold').firstElementChild : byId('run-title'));
  await priced;
}

/** With the heading of its step in view. */
function focusOn(target) {
  target.focus({ preventScroll: true });
  target.closest('section').scrollIntoView();
}

/** Hides everything of the file that was open. */
function closeBook() {
  if (book === null) return;
  pricing.abort();
  book = null;
  location = null;
  history.replaceState(null, '', '#');
  document.title = 'Perilbook';
  steps.run.close();
  for (const id of ['columns-step', 'topics-step', 'source-step', 'map-box', 'price-step', 'budget-step'])
    show(id, false);
  delete document.documentElement.dataset.dock;
  showSource();
}

function fold(isFolded) {
  for (const id of FOLDS) byId(id).open = !isFolded;
}

const bookOfAddress = () => /^#book=([0-9a-f]+)$/.exec(window.location.hash)?.[1];

/** Opens a known file, with or without a header line as it was chosen. */
function openAgain(id, isOwn = false) {
  const { header } = readDraft(id);
  return steps.file.openAgain(id, isOwn, header === undefined ? '' : `?header=${header ? 'yes' : 'no'}`);
}

/** Opens the file of an earlier run, with the button that resumes it in view and focused. */
async function resume(id) {
  await openAgain(id, true);
  if (book?.id !== id) return;
  const target = byId('go-on').checkVisibility() ? byId('go-on') : byId('run-title');
  target.scrollIntoView({ block: 'center' });
  target.focus({ preventScroll: true });
}

/** Reads the open file again with or without a header line. Settings other than columns stay. */
async function readAgain(header) {
  keep({ header });
  try {
    book = await get(`/api/books/${book.id}?header=${header ? 'yes' : 'no'}`);
    location = steps.columns.open(book);
    void drawMap(book.id, mapChoice());
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
  steps.budget.waiting();
  await new Promise((resolve) => setTimeout(resolve, wait));
  if (signal.aborted) return;
  void offer(signal);
  const chosen = choice();
  try {
    const priced = await post(`/api/books/${book.id}/price`, chosen, signal);
    steps.columns.found(priced.summary, null);
    steps.price.draw(priced, null);
    steps.budget.price(priced, chosen);
  } catch (error) {
    if (error.name === 'AbortError') return;
    steps.budget.price(null);
    steps.columns.found(null, error.code === 'INPUT_COLUMNS' ? error : null);
    steps.price.draw(null, error.code === 'INPUT_COLUMNS' ? null : error);
  }
}

/** Shows what can be chosen for these topics. */
async function offer(signal) {
  try {
    const offered = await post(`/api/books/${book.id}/choices`, choice(), signal);
    showError('source-error', null);
    steps.source.offer(offered);
  } catch (error) {
    if (error.name !== 'AbortError') showError('source-error', error);
  }
}

/** Runs what was priced: the choice may have changed since. */
async function start(budget, confirmed, chosen) {
  await post(`/api/books/${book.id}/start`, { ...chosen, budget, confirmed });
  forgetDraft(book.id);
  steps.run.starting();
  steps.budget.working(true);
  fold(true);
}

/** The phase of a run has changed, or the page was opened during it (`wasHere` is false). */
async function onPhase(isWorking, isNew, wasHere) {
  const hadFocus = byId('run-live').contains(document.activeElement);
  steps.budget.working(isWorking);
  if (isNew) fold(true);
  if ((wasHere && (isNew || !isWorking)) || hadFocus) focusOn(byId('run-title'));
  if (isWorking) return;
  await steps.runs.load();
  await reprice(0);
}

/** Shows what the store knows of the open file's latest run: this server has not run it. */
async function showLatest() {
  await steps.runs.load();
  steps.budget.working(false);
  steps.run.open(book, steps.runs.latestOf(book.id));
}

/** The server is there again, or another one. */
async function onBack() {
  about = await get('/api/about');
  showSource();
  await steps.runs.load();
  steps.run.back();
  if (book !== null) await reprice(0);
}

/** Suggests the rest of the budget after a stop, otherwise what the rest costs. */
async function onGoOn(last) {
  await reprice(0);
  const wasStopped = last?.end?.stop?.reason === 'interrupted';
  const left = wasStopped ? last.budget - last.credits_spent : 0;
  steps.budget.goOn(left > 0 ? left : null);
}

addEventListener('pagehide', () => keep({ report: steps.run.reportState() }));
addEventListener('popstate', () => {
  const id = bookOfAddress();
  keep({ report: steps.run.reportState() });
  if (id === undefined) window.location.reload();
  else if (id !== book?.id) void openAgain(id);
});

showSource();
await steps.runs.load().catch((error) => showError('gone', error));
const wanted = bookOfAddress() ?? about.first;
if (wanted) await openAgain(wanted);
document.documentElement.dataset.ready = 'yes';
