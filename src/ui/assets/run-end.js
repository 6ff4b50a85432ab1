import { byId, make, say, show, showError, showFacts } from './dom.js';
import { counted, day, grouped, percent } from './format.js';

/* How a run ended: one of this server, or an earlier one from the store. */

export const STATES = {
  complete: 'Complete',
  incomplete: 'Complete, except some rows',
  paused: 'Paused',
  interrupted: 'Stopped',
  stopped: 'Failed',
  running: 'Running',
  'cut off': 'Cut off',
};

const STATUS_WORDS = { outside_us: 'outside the US' };

/** A run of this server that has ended. */
export function drawEnd({ end: { state, stop, summary }, credits_spent, budget, source }) {
  const counts = Object.entries(summary.status).filter(([, rows]) => rows > 0);
  draw({
    words: `${counted(summary.rows, 'row')} written: ${counts.map(([name, rows]) => `${grouped(rows)} ${STATUS_WORDS[name] ?? name}`).join(', ')}.`,
    reason: stop && stopWords(stop, source === 'local'),
    ...{ state, spent: credits_spent, unknown: summary.credits_unknown, budget, isLocal: source === 'local' },
    ...{ complete: summary.complete.rows, value: summary.complete.value, resumeAfter: summary.resume_after },
  });
}

/** A run of an earlier process, from the store. */
export function drawEarlier(run) {
  const { state, charged, unknown, budget, complete, complete_value, rows, resume_after, is_local, stopped } = run;
  show('run-facts', false);
  show('result', true);
  showError('run-error', null);
  byId('run-notices').replaceChildren();
  say('run-title', STATES[state]);
  draw({
    words: rows === null ? 'The latest run wrote no output.' : `The latest run wrote ${counted(rows, 'row')}.`,
    reason: state === 'cut off' ? 'Perilbook ended during the run. Bought answers are kept.' : stopped,
    ...{ state, spent: charged, unknown, budget, isLocal: is_local },
    ...{ complete, value: complete_value, resumeAfter: resume_after },
  });
}

function draw({ words, reason, state, spent, unknown, budget, isLocal, complete, value, resumeAfter }) {
  say('result-words', words);
  show('result-stop', reason !== null);
  say('result-stop', reason ?? '');
  show('go-on', state !== 'complete' && state !== 'running');
  const share = (part) => (part === null ? null : percent(part));
  showFacts('result-facts', [
    ['Locations complete', share(complete)],
    ['Value complete', share(value)],
    ['Credits spent', isLocal ? null : grouped(spent)],
    [
      'Credits without an answer',
      !isLocal && unknown > 0 ? `${grouped(unknown)}; the provider may have charged them` : null,
    ],
    ['Budget', isLocal ? null : grouped(budget)],
    ['Answers', isLocal ? 'public data on this machine' : null],
    ['Resume after', resumeAfter === null ? null : day(resumeAfter)],
  ]);
}

/** The end of an earlier run, as far as resuming needs it. */
export function earlierEnd({ state, budget, charged }) {
  const stop = state === 'interrupted' || state === 'cut off' ? { reason: 'interrupted' } : null;
  return { phase: 'ended', budget, credits_spent: charged, end: { stop } };
}

function stopWords({ reason, message, resumeAfter }, isLocal) {
  if (reason === 'interrupted') {
    const kept = isLocal ? 'What was looked up is kept' : 'Bought answers are kept';
    return `You stopped the run. ${kept}; the other rows are deferred.`;
  }
  const when = resumeAfter === null ? '' : ` Resume after ${day(resumeAfter)}.`;
  return `${message} The other rows are deferred.${when}`;
}

export function drawNotices(notices) {
  byId('run-notices').replaceChildren(...notices.map((text) => make('li', {}, text)));
}
