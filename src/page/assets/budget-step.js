import { effect, signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ErrorBox, html } from './html.js';
import { confirmation, counted, grouped, percent, timeSpan } from './numbers.js';
import { isResumable, isWorking, leftOfStopped, run, starting } from './run.js';
import { RunLive } from './run-step.js';
import { needsServer, post } from './server.js';
import * as state from './state.js';

/** Keys that move the slider, in steps of one per cent. */
const STEPS = {
  ArrowRight: 1,
  ArrowUp: 1,
  ArrowLeft: -1,
  ArrowDown: -1,
  PageUp: 10,
  PageDown: -10,
};

const NOTHING_TO_START = 'No row of this file can be looked up: there is nothing to start.';

const startError = signal(null);
/** What is asked in the dialog: a budget, and the choice that was priced; null: nothing is. */
const confirmed = signal(null);

/** The error of a start is removed when another file is opened, or none; and when a run begins or ends, which may be what it spoke of. */
effect(() => {
  void [state.fileId.value, isWorking.value];
  startError.value = null;
});

/** A question whose price is no longer known is withdrawn. */
effect(() => {
  if (state.priced.value === null) confirmed.value = null;
});

/** Writes a number of credits into the budget field; `state.budget` is read from its text. */
function setBudget(credits) {
  state.budgetText.value = grouped(credits);
}

/** Whether the budget exceeds the limit that `perilbook ui` was started with; false without a limit. */
const isAboveLimit = () =>
  state.about.value.most_budget !== null &&
  (state.budget.value ?? 0) > state.about.value.most_budget;
/** Whether the budget field holds no whole number, or one above the limit. False for an empty field and for local data. */
const isWrong = () =>
  !state.isLocal.value &&
  ((state.budgetText.value.trim() !== '' && state.budget.value === null) || isAboveLimit());
/** Local data costs nothing, and the sample charges nothing where no subscription is named: a run needs no budget and no confirmation. */
const isUncharged = () =>
  state.isLocal.value || state.priced.value?.summary.credits_available === null;
/** The output has every answer that was chosen: a further run buys nothing and writes it again. */
function isDone() {
  const { end } = run.value ?? {};
  return end?.state === 'complete' && end.has_output && state.isAllHere.value;
}
/** Nothing can be spent: neither a budget nor a question is needed. */
const isFree = () => state.isLocal.value || state.isAllHere.value;
/** The service refuses the keys: what is in the store can be written, and nothing can be bought. */
const isRefused = () =>
  state.keyRefusal.value !== null &&
  (state.budget.value ?? 1) > 0 &&
  (state.priced.value?.summary.credits ?? 0) > 0;
/** Needs a price with places, no run in progress, no refused key, and a valid budget where the run can spend credits. */
const canStart = () =>
  !isWorking.value &&
  !isRefused() &&
  (state.priced.value?.summary.cells ?? 0) > 0 &&
  (isFree() || (!isWrong() && (isUncharged() || state.budget.value !== null)));

/** Asks for the confirmation of what is priced; what charges nothing starts at once. */
async function ask() {
  if (!canStart()) return;
  // The choice has changed since it was priced.
  const isStillOpen = state.whileOpen();
  if (state.price.isStale.value) await state.untilPriced();
  if (!isStillOpen() || !canStart()) return;
  const { credits_limit: most, credits: price } = state.priced.value.summary;
  const asked = {
    acceptedPrice: state.priced.value.refused === null ? null : price,
    credits: isFree() ? 0 : (state.budget.value ?? most),
    choice: state.pricedChoice.value,
  };
  if (isUncharged() || isFree()) await begin(asked);
  else confirmed.value = asked;
}

/** Runs what was priced: the choice may have changed since. */
async function begin({ credits, choice, acceptedPrice }) {
  startError.value = null;
  confirmed.value = null;
  const isStillOpen = state.whileOpen();
  try {
    const start = {
      ...{ ...choice, budget: credits, acceptedPrice },
      confirmed: confirmation(credits),
    };
    const before = run.value;
    await post(`/api/files/${state.file.value.id}/start`, start);
    if (!isStillOpen()) return;
    state.budgetText.value = '';
    starting(before);
  } catch (error) {
    if (isStillOpen()) startError.value = error;
  }
}

/** Suggests the rest of the budget after a stop, otherwise what the rest costs, as far as this billing period has it; and asks. */
export async function goOn() {
  const left = leftOfStopped() ?? 0;
  const isStillOpen = state.whileOpen();
  state.priceAgain();
  await state.untilPriced();
  // Without a price its error is shown, and the budget stays: a budget of 0 would only write the file.
  if (!isStillOpen() || state.priced.value === null) return;
  const { credits, credits_available: available } = state.priced.value.summary;
  setBudget(
    Math.min(
      left > 0 ? left : Number.MAX_SAFE_INTEGER,
      credits,
      available > 0 ? available : credits,
    ),
  );
  // Where nothing is left to buy, there is no budget.
  document.getElementById('budget')?.focus();
  await ask();
}

/** At the lower edge: the progress of a run, or the form that starts one; then the error of the last start. */
export function BudgetStep() {
  return html`<section id="budget-step" class="dock" aria-labelledby="budget-title">
    <h2 id="budget-title" class="unseen">${isFree() ? 'Start' : 'Budget'}</h2>
    ${isWorking.value ? html`<${RunLive} />` : html`<${KeyError} /><${Form} />`}
    <${ErrorBox} id="budget-error" error=${startError.value} />
  </section>`;
}

/** Why nothing can be bought, and the way to go on once that is mended. */
function KeyError() {
  const isAsked = state.isKeyAsked.value;
  return html`<${ErrorBox} id="key-error" error=${state.keyRefusal.value}>
    <p><button type="button" id="key-again" class="button small" disabled=${isAsked} onClick=${state.askKeyAgain} ...${needsServer()}>${isAsked ? 'Asking…' : 'Try the key again'}</button></p>
  <//>`;
}

/** The budget, what it buys, and Start; only Start and its words where nothing can be spent. */
function Form() {
  const stale = state.price.isStale.value ? 'stale' : '';
  const planned = state.priced.value?.summary.credits ?? 0;
  const isSuggested = state.priced.value !== null && state.budget.value !== planned;
  const submit = (event) => {
    event.preventDefault();
    void ask();
  };
  const type = ({ currentTarget }) => {
    state.budgetText.value = currentTarget.value;
  };
  const takePrice = () => {
    setBudget(planned);
    document.getElementById('budget').focus();
  };
  const isMain = !isDone() && !isResumable();
  const start = html`<button type="submit" id="start" class=${isMain ? 'button primary' : 'button'} aria-describedby="budget-words" disabled=${!canStart()} ...${needsServer()}>${startWords()}</button>`;
  if (isFree()) {
    return html`<form id="budget-form" class="free" onSubmit=${submit}><span id="budget-words" class=${stale} role="status">${freeWords(state.priced.value.summary)}</span>${start}</form>`;
  }
  return html`<form id="budget-form" novalidate onSubmit=${submit}>
    <div class="dock-row"><label for="budget">Budget in credits</label>
      <input id="budget" type="text" inputmode="numeric" autocomplete="off" aria-describedby="budget-words" aria-invalid=${isWrong() ? 'true' : undefined} value=${state.budgetText.value} onInput=${type} />
      <${Slider} />
      ${isSuggested && html`<button type="button" id="budget-plan" class="button small" onClick=${takePrice}>Use the price</button>`}
      ${start}</div>
    <p class="small"><strong id="budget-meaning" class=${stale} role="status">${meaningOf()}</strong> <span id="budget-words" class="soft" role="status">${budgetWords(planned)}</span></p>
  </form>`;
}

/** The label of Start. It ends in `…` where a dialog asks for confirmation first. */
function startWords() {
  if (isDone()) return 'Run again';
  if (state.isAllHere.value) return 'Write the file';
  return isUncharged() ? 'Start' : 'Start…';
}

/** What the budget buys; empty while that is not known. */
function meaningOf() {
  const { value, question } = state.reach.answer.value;
  if (
    value === null ||
    (state.reach.isStale.value && JSON.parse(question).more.budget !== state.budget.value)
  )
    return '';
  const { cells, share_of_value: share, minutes } = value;
  const parts = [
    counted(cells, 'place'),
    ...(share === null ? [] : [`${percent(share)} of value`]),
    timeSpan(minutes),
  ];
  return `${counted(state.budget.value, 'credit')}: ${parts.join(', ')}.`;
}

/** What is wrong with the budget, why Start is grey, or what the budget leaves. */
function budgetWords(planned) {
  if (isAboveLimit()) {
    return `At most ${grouped(state.about.value.most_budget)}, the limit with which perilbook ui was started.`;
  }
  if (isWrong()) return 'Enter a whole number of credits.';
  const summary = state.priced.value?.summary;
  if (summary === undefined) return 'Start is possible once the price is known.';
  if (summary.cells === 0) return NOTHING_TO_START;
  if (isRefused()) return 'Start is off: the service refuses the key (above).';
  const start = 'Nothing is bought until you press Start and confirm.';
  const left = summary.credits_available;
  if (left === null)
    return 'The sample charges nothing: Start looks up all places, or as many as a budget would buy.';
  if (state.budget.value === null) return `Enter a budget to start. ${start}`;
  if (state.budget.value === 0 && planned > 0)
    return 'A budget of 0 buys nothing: the output is written from the answers in the store.';
  if (planned > left && state.budget.value > left)
    return `This period has ${counted(left, 'credit')} left: no more is spent before it resets. ${start}`;
  if (state.budget.value >= planned) return start;
  return `The rest of the price (${grouped(planned)}) is deferred and can be bought later. ${start}`;
}

/** From 0 to `mostUseful` credits; disabled where that is 0. An arrow key moves it by 1 % of that, Page Up by 10 %. */
function Slider() {
  const most = state.mostUseful.value;
  const says =
    state.budget.value === null
      ? 'No budget'
      : meaningOf() || counted(state.budget.value, 'credit');
  const move = (event) => {
    const steps = STEPS[event.key];
    if (steps === undefined) return;
    event.preventDefault();
    const to =
      Math.min(state.budget.value ?? 0, most) + steps * Math.max(1, Math.round(most / 100));
    setBudget(Math.min(most, Math.max(0, to)));
  };
  return html`<input id="budget-slider" type="range" min="0" max=${most} value=${Math.min(state.budget.value ?? 0, most)} aria-label="Budget" aria-valuetext=${says} disabled=${most === 0} onKeyDown=${move} onInput=${({ currentTarget }) => setBudget(Number(currentTarget.value))} />`;
}

/** The question before anything is spent. */
export function Confirmation() {
  const dialog = useRef(null);
  const asked = confirmed.value;
  useLayoutEffect(() => {
    if (asked !== null && !dialog.current.open) dialog.current.showModal();
  }, [asked]);
  if (asked === null) return null;
  // The browser tells of a close later: by then the next question may have been asked.
  const whenClosed = () => {
    if (!dialog.current?.open) confirmed.value = null;
  };
  const close = () => dialog.current.close();
  const yes = () => {
    close();
    void begin(asked);
  };
  return html`<dialog id="confirm" ref=${dialog} aria-labelledby="confirm-title" aria-describedby="confirm-refused confirm-words" onClose=${whenClosed}>
    <h2 id="confirm-title">${confirmation(asked.credits)}?</h2>
    ${asked.credits > 0 && state.priced.value.refused !== null && html`<p id="confirm-refused"><strong>${state.priced.value.refused}</strong></p>`}
    <p id="confirm-words">${askWords(asked.credits)}</p>
    <p id="confirm-more" class="soft">${moreWords()}</p>
    <p class="row"><button type="button" id="confirm-no" class="button" autofocus onClick=${close}>Cancel</button>
      <button type="button" id="confirm-yes" class="button primary" onClick=${yes}>Yes, ${confirmation(asked.credits).toLowerCase()}</button></p>
  </dialog>`;
}

/** In the dialog: what the account has left, and the price where the budget differs. Without credits, only that the output is written. */
function askWords(credits) {
  if (credits === 0) return 'The output is written from the answers in the store.';
  const { summary, account } = state.priced.value;
  const { credits_available: left, credits: cost, source } = summary;
  // A budget may be larger than the price, for example one that was typed for other topics.
  const rest =
    credits === cost
      ? ''
      : ` The price is ${grouped(cost)}${credits < cost ? '; the rest is deferred' : ''}.`;
  const payer = source.kind === 'sample' ? 'The sample account' : `The account ${account.name}`;
  return `${payer} has ${grouped(left ?? 0)} left in this period.${rest}`;
}

/** In the dialog: whether the credits are billed. Only those of the sample are not. */
function moreWords() {
  return state.priced.value.summary.source.kind === 'sample'
    ? 'The embedded service answers with sample data. Its credits are not billed.'
    : 'The provider charges them. They cannot be refunded.';
}

/** Beside Start where nothing can be spent: how many places it looks up, that it only writes the file, or why not to start. */
function freeWords({ cells, cells_cached, cells_rejected }) {
  if (cells === 0) return NOTHING_TO_START;
  if (isDone()) return 'Complete. To run again with changes, change a step above.';
  const left = cells - cells_cached - cells_rejected;
  return left === 0
    ? 'All answers are here: write the file.'
    : `${counted(left, 'place')} to look up, free of charge.`;
}
