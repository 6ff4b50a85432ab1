import { computed, effect, signal } from '@preact/signals';
import { post } from './api.js';
import { check, heard, isLost } from './connection.js';
import { closeReport, drawReport, renewReport } from './report-view.js';
import { book, fold, latestOf, loadRuns, priceAgain } from './state.js';

/* The run of the open file: as the server sends it, or as the store has it from an earlier one. */

/** Null, or one of `{ live }`, `{ earlier }`, and `{}` for one that was started and of which the server has not said anything yet. */
export const run = signal(null);
export const runError = signal(null);

export const isOver = (live) => live.phase === 'ended' || live.phase === 'failed';

export const isWorking = computed(() => {
  if (run.value === null || run.value.earlier !== undefined) return false;
  return run.value.live === undefined || !isOver(run.value.live);
});

/** The server does not answer: what is shown of a run may be over. */
export const isUnknown = computed(() => isLost.value && isWorking.value && run.value.live !== undefined);

/** What is left of the budget of a run that was stopped; null where it ended otherwise. */
export function leftOfStopped() {
  const { live, earlier } = run.value ?? {};
  if (live) return live.end?.stop?.reason === 'interrupted' ? live.budget_left : null;
  const wasStopped = earlier?.state === 'interrupted' || earlier?.state === 'cut off';
  return wasStopped ? earlier.budget_left : null;
}

/** With the heading of its step in view. What is shown was not there before the next drawing. */
export function focusOn(selector) {
  setTimeout(() => {
    const target = document.querySelector(selector);
    target.focus({ preventScroll: true });
    target.closest('section').scrollIntoView({ block: 'start', behavior: 'instant' });
  });
}

let events = null;
/** Whether the first update has arrived: the user has seen what happens after it. */
let wasHere = false;

function take(live) {
  const last = run.value?.live;
  const isNew = last?.began_at !== live.began_at;
  const isNews = isNew || last.phase !== live.phase;
  const hadFocus = document.getElementById('run-live')?.contains(document.activeElement) ?? false;
  const mayFocus = wasHere;
  wasHere = true;
  run.value = { live };
  if (live.phase === 'buying') renewReport();
  if (!isNews) return;
  if (isNew) fold(true);
  if ((mayFocus && (isNew || isOver(live))) || hadFocus) focusOn('#run-title');
  if (!isOver(live)) return;
  if (live.phase === 'ended') void drawReport();
  void loadRuns().then(priceAgain);
}

/** Shows what the store knows of the latest run: this server has not run it. */
function showLatest() {
  const earlier = latestOf(book.value.id);
  run.value = earlier && { earlier };
  if (book.value.has_output) void drawReport();
}

function watch() {
  events?.close();
  events = new EventSource(`/api/books/${book.value.id}/events`);
  events.onmessage = ({ data }) => {
    heard();
    const live = JSON.parse(data);
    if (live !== null) take(live);
    // The server that ran it has ended: the store knows how far it came.
    else if (isWorking.value) void loadRuns().then(showLatest);
    wasHere = true;
  };
  events.addEventListener('here', heard);
  events.onerror = () => void check();
}

/** Shows the run of a file that was opened. */
export function openRun(opened) {
  closeReport();
  wasHere = false;
  runError.value = null;
  run.value = opened.is_working ? {} : null;
  if (!opened.is_working) showLatest();
  fold(run.value !== null);
  watch();
}

export function closeRun() {
  events?.close();
  run.value = null;
  closeReport();
}

/**
 * A run was started. Its updates may come before the reply to the start: a short run sends no further one.
 *
 * @param before what was shown when the start was sent
 */
export function starting(before) {
  if (run.value !== before) return;
  run.value = {};
  closeReport();
  fold(true);
  focusOn('#run-title');
}

export async function stop() {
  run.value = { live: { ...run.value.live, phase: 'stopping' } };
  await post(`/api/books/${book.value.id}/stop`).catch((error) => {
    runError.value = error;
  });
}

effect(() => {
  if (isLost.value) events?.close();
});

/** The server is there again, or another one. */
export function watchAgain() {
  if (book.value !== null) watch();
}
