import { post } from './api.js';
import { byId, make, say, show, showError, showFacts } from './dom.js';
import { compact, counted, day, grouped, percent, timeSpan } from './format.js';

const TITLES = {
  starting: 'Starting',
  reading: 'Reading the file',
  buying: 'Running',
  stopping: 'Stopping',
  failed: 'Failed',
};

export const STATES = {
  complete: 'Complete',
  incomplete: 'Complete, except some rows',
  paused: 'Paused',
  interrupted: 'Stopped',
  stopped: 'Failed',
  running: 'Running',
  'cut off': 'Cut off',
};

/** Watches the run of the open file. `onGoOn` is called when the user wants to buy the rest. */
export function setUpRun(about, { onPhase, onHeard, onCutOff, onGone, onGoOn }) {
  let source = null;
  let book = null;
  let last = null;
  /** Whether the first update has arrived: the user has seen what happens after it. */
  let heard = false;
  let told = { text: '', at: 0 };

  byId('stop').addEventListener('click', async () => {
    if (byId('stop').getAttribute('aria-disabled') === 'true') return;
    byId('stop').setAttribute('aria-disabled', 'true');
    await post(`/api/books/${book}/stop`).catch((error) => showError('run-error', error));
  });
  byId('go-on').addEventListener('click', () => onGoOn(last));

  function draw(live) {
    const isNew = last?.began_at !== live.began_at;
    const isNews = isNew || last.phase !== live.phase;
    const wasHere = heard;
    last = live;
    heard = true;
    const isOver = live.phase === 'ended' || live.phase === 'failed';
    show('run-step', true);
    show('run-facts', !isOver);
    show('result', live.phase === 'ended');
    showError('run-error', live.error);
    say('run-title', live.phase === 'ended' ? STATES[live.end.state] : TITLES[live.phase]);
    byId('run-notices').replaceChildren(...live.notices.map((text) => make('li', {}, text)));
    if (isOver) {
      if (live.end) drawEnd(live);
    } else drawLive(live);
    tell(live);
    if (isNews) onPhase(!isOver, isNew, wasHere);
  }

  /** For screen readers: at each change of phase, else every 15 seconds. */
  function tell(live) {
    const text =
      live.phase === 'buying'
        ? `${grouped(live.cells_done)} of ${counted(live.cells, 'place')}, ${grouped(live.credits_spent)} credits spent`
        : byId('run-title').textContent;
    const now = performance.now();
    if (live.phase === 'buying' && now - told.at < 15_000) return;
    told = { text, at: now };
    say('run-status', told.text);
  }

  function drawEnd({ end: { state, stop, summary }, credits_spent, budget }) {
    const { status, complete } = summary;
    const counts = Object.entries(status).filter(([, rows]) => rows > 0);
    say(
      'result-words',
      `${counted(summary.rows, 'row')} written: ${counts.map(([name, rows]) => `${grouped(rows)} ${STATUS_WORDS[name] ?? name}`).join(', ')}.`,
    );
    const isLess = state !== 'complete';
    show('result-stop', stop !== null);
    say('result-stop', stop === null ? '' : stopWords(stop));
    show('go-on', isLess);
    links(true);
    showFacts('result-facts', [
      ['Credits spent', grouped(credits_spent)],
      [
        'Credits without an answer',
        summary.credits_unknown > 0 ? `${grouped(summary.credits_unknown)}; the provider may have charged them` : null,
      ],
      ['Budget', grouped(budget)],
      ['Locations complete', percent(complete.rows)],
      ['Resume after', summary.resume_after === null ? null : day(summary.resume_after)],
    ]);
  }

  function links(hasOutput) {
    show('download', hasOutput);
    show('report', hasOutput && about().has_report);
    byId('download').href = `/api/books/${book}/result`;
    byId('report').href = `/api/books/${book}/report`;
  }

  function watch() {
    source?.close();
    source = new EventSource(`/api/books/${book}/events`);
    source.onmessage = ({ data }) => {
      onHeard();
      const live = JSON.parse(data);
      if (live !== null) draw(live);
      else {
        heard = true;
        // The server that ran it has ended: the store knows how far it came.
        if (last !== null && last.phase !== 'ended' && last.phase !== 'failed') onCutOff();
      }
    };
    source.addEventListener('here', onHeard);
    source.onerror = () => onGone();
  }

  return {
    open({ id, has_output }, latest) {
      book = id;
      last = null;
      heard = false;
      for (const part of ['run-step', 'result']) show(part, false);
      if (latest) drawEarlier(latest, has_output, links);
      if (latest) last = earlierEnd(latest);
      watch();
    },
    /** A run was started, and the server has not said anything of it yet. */
    starting() {
      show('run-step', true);
      show('result', false);
      show('run-facts', false);
      say('run-title', TITLES.starting);
      byId('run-title').focus({ preventScroll: true });
    },
    close() {
      source?.close();
      book = null;
      last = null;
      for (const part of ['run-step', 'result']) show(part, false);
    },
    /** The server does not answer: what is shown of a run may be over. */
    lost() {
      source?.close();
      if (last === null || last.phase === 'ended' || last.phase === 'failed') return;
      show('run-facts', false);
      say('run-title', 'Connection lost');
      say('stop-words', 'Unknown whether the run goes on. Bought answers are kept.');
      byId('run-live').classList.add('stale');
    },
    back() {
      byId('run-live').classList.remove('stale');
      if (book !== null) watch();
    },
    last: () => last,
  };
}

/** The end of an earlier run, as far as resuming needs it. */
function earlierEnd({ state, budget, charged }) {
  const stop = state === 'interrupted' || state === 'cut off' ? { reason: 'interrupted' } : null;
  return { phase: 'ended', budget, credits_spent: charged, end: { stop } };
}

/** `Hurricane: 1,050 of 1,189 answered locations Very High, 38.7 bn of value` */
function findingWords({ title, rating, rows, answered, value }) {
  const worth = value > 0 ? `, ${compact(value)} of value` : '';
  return `${title}: ${grouped(rows)} of ${counted(answered, 'answered location')} ${rating}${worth}`;
}

const STATUS_WORDS = { outside_us: 'outside the US' };

const PAUSES = {
  minute_limit: 'waiting for the minute limit',
  minute_used: 'waiting: other runs have used this minute',
  service_limit: 'waiting: the service allows no more calls now',
  slowed_down: 'waiting: the service asked to slow down',
};

function drawLive(live) {
  const { cells, cells_all, cells_done, credits_spent, credits_planned, credits_all, budget, period_left, phase } =
    live;
  byId('run-cells').value = cells === 0 ? 0 : cells_done / cells;
  byId('run-credits').value = credits_planned === 0 ? 0 : Math.min(1, credits_spent / credits_planned);
  say('run-cells-words', `${grouped(cells_done)} of ${grouped(cells)} done`);
  say('run-credits-words', `${grouped(credits_spent)} of ${grouped(credits_planned)} spent`);
  if (phase === 'stopping') byId('stop').setAttribute('aria-disabled', 'true');
  else byId('stop').removeAttribute('aria-disabled');
  const { last_minute, per_minute_limit, minutes_left, in_flight, failures, slowed_down, credits_unknown } = live;
  const isBought = cells > 0 && cells_done === cells;
  const left = isBought ? 'writing the output' : minutes_left === null ? '…' : timeSpan(minutes_left);
  say(
    'stop-words',
    phase === 'stopping'
      ? 'Finishing calls in flight, then writing the output.'
      : `Time left: ${left}. You can close this page; the run goes on.`,
  );
  showFacts('run-facts', [
    ['Time left', left],
    ['Budget', `${grouped(credits_spent)} of ${grouped(budget)}`],
    ['Value', live.value_done === null ? null : `${percent(live.value_done)} done`],
    ['This period', `${grouped(Math.max(0, period_left - credits_spent))} credits left`],
    ['Last minute', `${grouped(last_minute)} of ${grouped(per_minute_limit)} credits`],
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
  ]);
}

/** A run of an earlier process, from the store. */
function drawEarlier({ state, charged, budget, complete, rows, resume_after }, hasOutput, links) {
  show('run-step', true);
  show('run-facts', false);
  show('result', true);
  show('result-stop', false);
  showError('run-error', null);
  byId('run-notices').replaceChildren();
  byId('result-findings').replaceChildren();
  say('run-title', STATES[state]);
  say(
    'result-words',
    rows === null ? 'The latest run wrote no output.' : `The latest run wrote ${counted(rows, 'row')}.`,
  );
  show('go-on', state !== 'complete' && state !== 'running');
  links(hasOutput);
  showFacts('result-facts', [
    ['Credits spent', grouped(charged)],
    ['Budget', grouped(budget)],
    ['Locations complete', complete === null ? null : percent(complete)],
    ['Resume after', resume_after === null ? null : day(resume_after)],
  ]);
}

function stopWords({ reason, message, resumeAfter }) {
  if (reason === 'interrupted') return 'You stopped the run. Bought answers are kept; the other rows are deferred.';
  const when = resumeAfter === null ? '' : ` Resume after ${day(resumeAfter)}.`;
  return `${message} The other rows are deferred.${when}`;
}
