import { byId, make, say, show, showError } from './dom.js';
import { confirmation, counted, grouped, inWords, percent, timeSpan } from './format.js';

/** Few enough requests while the slider moves. */
const SETTLE_MS = 200;

/** Keys that move the slider, in steps of one per cent. */
const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

/** The budget, what it buys, and its confirmation. `reachOf` asks what a budget buys; `onStart` gets the budget, the confirmed
 * sentence and the choice that was priced; `onChange` the text of the field. */
export function setUpBudget({ mostBudget, reachOf, onStart, onChange }) {
  const slider = byId('budget-slider');
  const field = byId('budget');
  const dialog = byId('confirm');
  let priced = null;
  let isWorking = false;
  let asked = { budget: 0, choice: null };
  /** The choice has changed since it was priced. */
  let isStale = false;
  /** Start was pressed before the price was there. */
  let asksWhenPriced = false;
  let meaning = new AbortController();

  /** Digits, with or without commas; null for anything else. */
  function budget() {
    const text = field.value.replace(/[,\s]/g, '');
    return /^\d{1,15}$/.test(text) ? Number(text) : null;
  }

  const isLocal = () => priced?.summary.source.kind === 'local';

  /** The most that a budget can buy now. */
  const most = () =>
    Math.min(
      priced?.summary.credits ?? 0,
      priced?.summary.credits_available ?? 0,
      mostBudget() ?? Number.MAX_SAFE_INTEGER,
    );

  /** Says what the budget buys, once it has not changed for a moment. */
  async function explain() {
    meaning.abort();
    meaning = new AbortController();
    const { signal } = meaning;
    const wanted = budget();
    if (priced === null || isStale || wanted === null || wanted === 0 || most() === 0) {
      say('budget-meaning', '');
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    if (signal.aborted) return;
    try {
      const reached = await reachOf(wanted, priced.choice, signal);
      const words = `${counted(wanted, 'credit')}: ${[...reachWords(reached), timeSpan(reached.minutes)].join(', ')}.`;
      say('budget-meaning', words);
      slider.setAttribute('aria-valuetext', words);
    } catch (error) {
      if (error.name !== 'AbortError') say('budget-meaning', '');
    }
  }

  function draw() {
    const limit = mostBudget();
    const wanted = budget();
    const isWrong = (field.value.trim() !== '' && wanted === null) || (limit !== null && (wanted ?? 0) > limit);
    if (isWrong) field.setAttribute('aria-invalid', 'true');
    else field.removeAttribute('aria-invalid');
    slider.max = String(most());
    slider.disabled = most() === 0;
    slider.value = String(Math.min(wanted ?? 0, most()));
    // What it buys is added when it is known.
    slider.setAttribute('aria-valuetext', wanted === null ? 'No budget' : counted(wanted, 'credit'));
    drawCurve(priced?.curve ?? null, most());
    say('dock-price', priced === null ? '' : `All: ${counted(priced.summary.credits, 'credit')}`);
    byId('start').disabled = isWorking || priced === null || (!isLocal() && (wanted === null || isWrong));
    byId('start').textContent = isLocal() ? 'Start' : 'Start…';
    byId('budget-step').classList.toggle('free', isLocal());
    say('budget-title', isLocal() ? 'Start' : 'Budget');
    say('dock-free', isLocal() ? freeWords(priced.summary) : '');
    const planned = priced?.summary.credits ?? 0;
    const isSuggested = !isWorking && priced !== null && wanted !== planned;
    show('budget-plan', isSuggested);
    show('dock-price', priced !== null && !isSuggested);
    say('budget-plan', `Use the price: ${grouped(planned)}`);
    say('budget-words', wordsOf(wanted, planned, limit));
    void explain();
  }

  function wordsOf(wanted, planned, limit) {
    if (limit !== null && (wanted ?? 0) > limit)
      return `At most ${grouped(limit)}, the limit with which perilbook ui was started.`;
    if (field.value.trim() !== '' && wanted === null) return 'Enter a whole number of credits.';
    const start = 'Nothing is bought until you press Start and confirm.';
    if (wanted === null || wanted >= planned) return start;
    return `The rest of the price (${grouped(planned)}) is deferred and can be bought later. ${start}`;
  }

  /** Asks for the confirmation of what was priced; a look-up in local data costs nothing and starts at once. */
  function ask() {
    const wanted = isLocal() ? 0 : budget();
    if (wanted === null || priced === null || byId('start').disabled) return;
    asksWhenPriced = isStale;
    if (isStale) return;
    asked = { budget: wanted, choice: priced.choice };
    if (isLocal()) {
      void begin();
      return;
    }
    const { credits_available: left, credits: cost, source } = priced.summary;
    say('confirm-title', `${confirmation(wanted)}?`);
    say(
      'confirm-words',
      wanted === 0
        ? 'The output is written from the answers in the store.'
        : `That is ${inWords(wanted)} ${wanted === 1 ? 'credit' : 'credits'} of ${accountWords(source, priced.accounts)}, which has ${grouped(left)} left in this period.${priceWords(wanted, cost)}`,
    );
    say(
      'confirm-more',
      source.kind === 'sample'
        ? 'The embedded service answers with sample data. Its credits are not billed.'
        : 'The provider charges them. They cannot be refunded.',
    );
    say('confirm-yes', `Yes, ${confirmation(wanted).toLowerCase()}`);
    dialog.showModal();
  }

  field.addEventListener('input', () => {
    onChange(field.value);
    draw();
  });
  slider.addEventListener('input', () => {
    field.value = grouped(Number(slider.value));
    onChange(field.value);
    draw();
  });
  slider.addEventListener('keydown', (event) => {
    const steps = STEPS[event.key];
    if (steps === undefined) return;
    event.preventDefault();
    const step = Math.max(1, Math.round(most() / 100));
    field.value = grouped(Math.min(most(), Math.max(0, Math.min(budget() ?? 0, most()) + steps * step)));
    onChange(field.value);
    draw();
  });
  byId('budget-plan').addEventListener('click', () => {
    field.value = grouped(priced.summary.credits);
    draw();
    field.focus();
  });
  byId('budget-form').addEventListener('submit', (event) => {
    event.preventDefault();
    ask();
  });
  byId('confirm-no').addEventListener('click', () => dialog.close());
  byId('confirm-yes').addEventListener('click', () => {
    dialog.close();
    void begin();
  });

  async function begin() {
    showError('budget-error', null);
    try {
      await onStart(asked.budget, confirmation(asked.budget), asked.choice);
      field.value = '';
      onChange('');
      draw();
    } catch (error) {
      showError('budget-error', error);
    }
  }

  return {
    open(text = '') {
      field.value = text;
      showError('budget-error', null);
      show('budget-step', true);
      document.documentElement.dataset.dock = 'yes';
      draw();
    },
    /** The choice has changed: the price on the page is that of another one. */
    waiting() {
      isStale = true;
      for (const id of ['dock-free', 'budget-meaning']) byId(id).classList.add('stale');
    },
    /** @param choice what was priced, and what a start will run */
    price(next, choice = null) {
      priced = next && { ...next, choice };
      isStale = false;
      for (const id of ['dock-free', 'budget-meaning']) byId(id).classList.remove('stale');
      draw();
      const asks = asksWhenPriced;
      asksWhenPriced = false;
      if (asks) ask();
    },
    working(now) {
      isWorking = now;
      show('budget-form', !now);
      show('run-live', now);
      draw();
    },
    /** Asks to resume with this budget, or with what the rest costs, as far as this billing period has it. */
    goOn(credits) {
      const { credits: price = 0, credits_available: available = 0 } = priced?.summary ?? {};
      field.value = grouped(Math.min(credits ?? Number.MAX_SAFE_INTEGER, price, available > 0 ? available : price));
      draw();
      if (!isLocal()) field.focus();
      ask();
    },
  };
}

/** A budget may be larger than the price, for example one that was typed for other topics. */
function priceWords(budget, cost) {
  if (budget === cost) return '';
  return ` The price is ${grouped(cost)}${budget < cost ? '; the rest is deferred' : ''}.`;
}

/** The share of value, or of places, that each budget up to the end of the slider buys, behind the slider. */
function drawCurve(curve, most) {
  const { points, marks } = curve ?? { points: [], marks: [] };
  const inside = ([credits]) => credits <= most;
  const path = points.filter(inside).map(([credits, share]) => `L${(100 * credits) / most} ${100 - 100 * share}`);
  const isShown = most > 0 && path.length > 2;
  byId('budget-curve').firstElementChild.setAttribute('d', isShown ? `M0 100${path.join('')}V100z` : '');
  byId('budget-marks').replaceChildren(
    ...marks
      .filter(({ credits }) => isShown && credits <= most)
      .map(({ share, credits }) => {
        const mark = make('span', {}, percent(share));
        mark.style.left = `${(100 * credits) / most}%`;
        return mark;
      }),
  );
}

/** What a budget buys. */
function reachWords({ cells, share_of_value: value }) {
  return [counted(cells, 'place'), ...(value === null ? [] : [`${percent(value)} of value`])];
}

/** The accounts that pay. */
function accountWords({ kind }, accounts) {
  const names = accounts.map(({ account }) => account).join(', ');
  return kind === 'sample' ? 'the sample account' : `the ${accounts.length === 1 ? 'account' : 'accounts'} ${names}`;
}

function freeWords({ cells, cells_cached }) {
  const left = cells - cells_cached;
  return left === 0
    ? 'All answers are here already. Start writes the output.'
    : `${counted(left, 'place')} to look up, free of charge.`;
}
