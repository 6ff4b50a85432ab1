import { byId, say, show, showError } from './dom.js';
import { confirmation, grouped, inWords } from './format.js';

/** The budget and its confirmation. `onStart` gets the budget and the confirmed sentence. */
export function setUpBudget(about, onStart) {
  const field = byId('budget');
  const dialog = byId('confirm');
  let priced = null;
  let isWorking = false;
  let asked = 0;

  /** Digits, with or without commas; null for anything else. */
  function budget() {
    const text = field.value.replace(/[,\s]/g, '');
    return /^\d{1,15}$/.test(text) ? Number(text) : null;
  }

  function draw() {
    const most = about().most_budget;
    const wanted = budget();
    byId('start').disabled = isWorking || priced === null || wanted === null;
    const planned = priced?.summary.credits ?? 0;
    show('budget-plan', !isWorking && priced !== null && wanted !== planned);
    say('budget-plan', `Use the price: ${grouped(planned)}`);
    say('budget-words', wordsOf(wanted, planned, most));
  }

  function wordsOf(wanted, planned, most) {
    if (isWorking) return 'A run of this file is in progress.';
    if (most !== null && (wanted ?? 0) > most)
      return `At most ${grouped(most)}, the limit with which perilbook ui was started.`;
    if (field.value.trim() !== '' && wanted === null) return 'Enter a whole number of credits.';
    const start = 'Nothing is bought until you press Start and confirm.';
    if (wanted === null || wanted >= planned) return start;
    return `Less than the price (${grouped(planned)}): the rest is deferred and can be bought later. ${start}`;
  }

  function ask() {
    const wanted = budget();
    if (wanted === null || priced === null || isWorking) return;
    asked = wanted;
    const { credits_available: left, credits: cost, source } = priced.summary;
    const isLocal = source.kind === 'local';
    const { account, sample } = about();
    say('confirm-title', `${confirmation(wanted)}?`);
    say(
      'confirm-words',
      wanted === 0
        ? isLocal
          ? 'Answers are looked up in the data on this machine, and the output is written.'
          : 'The output is written from the answers in the store.'
        : `That is ${inWords(wanted)} ${wanted === 1 ? 'credit' : 'credits'} of the account ${account}, which has ${grouped(left)} left in this period.${wanted < cost ? ` The price is ${grouped(cost)}; the rest is deferred.` : ''}`,
    );
    say(
      'confirm-more',
      isLocal
        ? 'Nothing is bought.'
        : sample
          ? 'The embedded service answers with sample data. Its credits are not billed.'
          : 'The provider charges them. They cannot be refunded.',
    );
    say('confirm-yes', `Yes, ${confirmation(wanted).toLowerCase()}`);
    dialog.showModal();
  }

  field.addEventListener('input', draw);
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
  byId('confirm-yes').addEventListener('click', async () => {
    dialog.close();
    showError('budget-error', null);
    try {
      await onStart(asked, confirmation(asked));
      field.value = '';
      draw();
    } catch (error) {
      showError('budget-error', error);
    }
  });

  return {
    open() {
      field.value = '';
      showError('budget-error', null);
      show('budget-step', true);
      draw();
    },
    price(next) {
      priced = next;
      draw();
    },
    working(now) {
      isWorking = now;
      draw();
    },
    /** Asks to resume with this budget, or with the price of the rest. */
    goOn(credits) {
      field.value = grouped(Math.min(credits ?? Number.MAX_SAFE_INTEGER, priced?.summary.credits ?? 0));
      draw();
      field.focus();
      ask();
    },
  };
}
