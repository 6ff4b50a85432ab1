import { computed, effect, signal } from '@preact/signals';
import { closeReport, drawReport, renewReport } from './report-view.js';
import { check, heard, isLost, post } from './server.js';
import { askKeyAgain, file, fold, priceAgain, whileOpen } from './state.js';

const STARTING = { phase: 'starting', notices: [], error: null, end: null };

/** The run as the server sends it, or as it ended in an earlier process; null before the first. */
export const run = signal(null);
export const runError = signal(null);

/** The run has ended or failed; false before the first one. */
const isOver = computed(() => run.value?.phase === 'ended' || run.value?.phase === 'failed');
/** Also true while the start of a run awaits its first update. */
export const isWorking = computed(() => run.value !== null && !isOver.value);

/** The run ended early: to resume it is what comes next. */
export const isResumable = () =>
  run.value?.end != null && !['complete', 'incomplete'].includes(run.value.end.state);

/** The server does not answer: what is shown of a run may be over. */
export const isUnknown = computed(
  () => isLost.value && isWorking.value && run.value.phase !== 'starting',
);

/** What is left of the budget of a run that was stopped; null where it ended otherwise. */
export function leftOfStopped() {
  const end = run.value?.end;
  return end?.state === 'interrupted' || end?.state === 'cut off' ? end.budget_left : null;
}

/** With the heading of its step in view. What is shown was not there before the next drawing; by then another file may be open, without it.
 * @param ofUser whether the user has just asked for it: an update of the server does not take the focus from a text that is typed */
export function focusOn(selector, ofUser = true) {
  setTimeout(() => {
    const target = document.querySelector(selector);
    if (target === null || (!ofUser && isTyping())) return;
    target.focus({ preventScroll: true });
    target.closest('section').scrollIntoView({ block: 'start', behavior: 'instant' });
  });
}

/** A field for text has the focus, on the page or in the report. */
function isTyping() {
  const focused = document.activeElement;
  return (focused?.shadowRoot?.activeElement ?? focused)?.matches('input:read-write') ?? false;
}

let events = null;

/** Shows an update of the run. A new run folds the steps. After its end or failure the price is requested again. */
function take(update) {
  const last = run.value;
  const isNew = last?.began_at !== update.began_at;
  const hadFocus = document.getElementById('run-live')?.contains(document.activeElement) ?? false;
  run.value = update;
  if (update.phase === 'buying') renewReport();
  if (!isNew && last.phase === update.phase) return;
  if (isNew) fold(true);
  if (isNew || isOver.value || hadFocus) focusOn('#run-title', false);
  if (!isOver.value) return;
  runError.value = null;
  if (update.phase === 'ended') void drawReport();
  // The service may have refused the key on the way.
  if (update.phase === 'failed' || update.end?.state === 'stopped') askKeyAgain();
  priceAgain();
}

/** Watches the run of the open file, and no other. */
export function watch() {
  events?.close();
  events = new EventSource(`/api/files/${file.value.id}/events`);
  events.onmessage = ({ data }) => {
    heard();
    const update = JSON.parse(data);
    if (update !== null) take(update);
  };
  events.addEventListener('here', heard);
  events.onerror = () => void check();
}

/** Shows the run of a file that was opened. */
export function openRun(opened) {
  closeReport();
  runError.value = null;
  run.value = opened.run;
  fold(run.value !== null);
  if (opened.has_output && !isWorking.value) void drawReport();
  watch();
}

/** Hides the run and its report, and watches it no longer. The run itself goes on. */
export function closeRun() {
  events?.close();
  run.value = null;
  closeReport();
}

/** A run was started. Its updates may come before the reply to the start: a short run sends no further one.
 * @param before what was shown when the start was sent */
export function starting(before) {
  if (run.value !== before) return;
  run.value = STARTING;
  runError.value = null;
  closeReport();
  fold(true);
  focusOn('#run-title');
}

/** Shows the run as stopping and asks the server to stop it; a refusal is shown as `runError`, unless the run has ended meanwhile. */
export async function stop() {
  run.value = { ...run.value, phase: 'stopping' };
  const isStillOpen = whileOpen();
  await post(`/api/files/${file.value.id}/stop`).catch((error) => {
    if (isStillOpen() && !isOver.value) runError.value = error;
  });
}

/** While the connection is lost no run is watched; when it is back, `watch` is called again. */
effect(() => {
  if (isLost.value) events?.close();
});
