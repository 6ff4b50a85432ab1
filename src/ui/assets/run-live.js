import { byId, say, show, showFacts } from './dom.js';
import { counted, grouped, percent, timeSpan } from './format.js';

/* A run that goes on: bars, facts, and what the stop button would do. */

const TITLES = {
  starting: 'Starting',
  reading: 'Reading the file',
  buying: 'Running',
  stopping: 'Stopping',
  failed: 'Failed',
};

export const titleOf = (phase, source) => (phase === 'buying' && source === 'local' ? 'Looking up' : TITLES[phase]);

const PAUSES = {
  minute_limit: 'waiting for the minute limit',
  minute_used: 'waiting: other runs have used this minute',
  service_limit: 'waiting: the service allows no more calls now',
  slowed_down: 'waiting: the service asked to slow down',
};

export function drawLive(live) {
  const { cells, cells_done, credits_spent, credits_planned, phase, source } = live;
  const isLocal = source === 'local';
  byId('run-cells').value = cells === 0 ? 0 : cells_done / cells;
  byId('run-credits').value = credits_planned === 0 ? 0 : Math.min(1, credits_spent / credits_planned);
  say('run-cells-words', `${grouped(cells_done)} of ${grouped(cells)} ${isLocal ? 'looked up' : 'done'}`);
  say('run-credits-words', `${grouped(credits_spent)} of ${grouped(credits_planned)} spent`);
  show('run-credits-bar', !isLocal);
  byId('run-live').classList.toggle('free', isLocal);
  if (phase === 'stopping') byId('stop').setAttribute('aria-disabled', 'true');
  else byId('stop').removeAttribute('aria-disabled');
  const left = leftOf(live);
  const finishing = isLocal ? 'Finishing the places in work' : 'Finishing calls in flight';
  say(
    'stop-words',
    phase === 'stopping'
      ? `${finishing}, then writing the output.`
      : `Time left: ${left}. You can close this page; the run goes on.`,
  );
  showFacts('run-facts', [['Time left', left], ...(isLocal ? lookupFacts(live) : purchaseFacts(live))]);
}

function leftOf({ activity, rows, rows_all, minutes_left }) {
  if (activity === 'writing') return `writing the output${rows_all === null ? '' : `, ${counted(rows, 'row')}`}`;
  return minutes_left === null ? 'not known yet' : timeSpan(minutes_left);
}

function lookupFacts({ cells, cells_done, activity, rows, rows_all }) {
  return [
    ['Looked up', cells === 0 ? null : `${grouped(cells_done)} of ${counted(cells, 'place')}`],
    ['Read', activity === 'reading' ? counted(rows, 'row') : rows_all === null ? null : counted(rows_all, 'row')],
    ['Answers', 'public data on this machine'],
  ];
}

function purchaseFacts(live) {
  const { cells, cells_all, credits_spent, credits_planned, credits_all, budget, period_left } = live;
  const { last_minute, per_minute_limit, in_flight, failures, slowed_down, credits_unknown } = live;
  return [
    ['Budget', `${grouped(credits_spent)} of ${grouped(budget)}`],
    ['Value', live.value_done === null ? null : `${percent(live.value_done)} done`],
    ['This period', `${grouped(Math.max(0, period_left - credits_spent))} credits left`],
    [
      'Last minute',
      `${grouped(last_minute)}${per_minute_limit === null ? '' : ` of ${grouped(per_minute_limit)}`} credits`,
    ],
    ['Calls', live.pause === null ? `${grouped(in_flight)} in flight` : PAUSES[live.pause]],
    ['Failures', grouped(failures)],
    ['Asked to slow down', slowed_down > 0 ? counted(slowed_down, 'time') : null],
    ['Credits without an answer', credits_unknown > 0 ? grouped(credits_unknown) : null],
    [
      'Beyond this run',
      cells < cells_all
        ? `${counted(cells_all - cells, 'place')}, ${counted(Math.max(0, credits_all - credits_planned), 'credit')}`
        : null,
    ],
  ];
}

/** What a screen reader says of a run from time to time. */
export function spokenProgress({ cells, cells_done, credits_spent, source }) {
  const places = `${grouped(cells_done)} of ${counted(cells, 'place')}`;
  return source === 'local' ? `${places} looked up` : `${places}, ${grouped(credits_spent)} credits spent`;
}
