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

export function drawEnd({ end: { state, stop, summary }, credits_spent, budget, source }) {
  const { status, complete } = summary;
  const counts = Object.entries(status).filter(([, rows]) => rows > 0);
  say(
    'result-words',
    `${counted(summary.rows, 'row')} written: ${counts.map(([name, rows]) => `${grouped(rows)} ${STATUS_WORDS[name] ?? name}`).join(', ')}.`,
  );
  show('result-stop', stop !== null);
  say('result-stop', stop === null ? '' : stopWords(stop, source === 'local'));
  show('go-on', state !== 'complete');
  const money = [
    ['Credits spent', grouped(credits_spent)],
    [
      'Credits without an answer',
      summary.credits_unknown > 0 ? `${grouped(summary.credits_unknown)}; the provider may have charged them` : null,
    ],
    ['Budget', grouped(budget)],
  ];
  showFacts('result-facts', [
    ...(source === 'local' ? [['Answers', 'public data on this machine']] : money),
    ['Locations complete', percent(complete.rows)],
    ['Resume after', summary.resume_after === null ? null : day(summary.resume_after)],
  ]);
}

/** A run of an earlier process, from the store. */
export function drawEarlier({ state, charged, budget, complete, rows, resume_after, is_local }) {
  show('run-step', true);
  show('run-facts', false);
  show('result', true);
  show('result-stop', false);
  showError('run-error', null);
  byId('run-notices').replaceChildren();
  say('run-title', STATES[state]);
  say(
    'result-words',
    rows === null ? 'The latest run wrote no output.' : `The latest run wrote ${counted(rows, 'row')}.`,
  );
  show('go-on', state !== 'complete' && state !== 'running');
  showFacts('result-facts', [
    ['Credits spent', is_local ? null : grouped(charged)],
    ['Budget', is_local ? null : grouped(budget)],
    ['Locations complete', complete === null ? null : percent(complete)],
    ['Resume after', resume_after === null ? null : day(resume_after)],
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
