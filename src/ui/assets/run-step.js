import { post } from './api.js';
import { byId, make, say, show, showError, showFacts } from './dom.js';
import { counted, day, grouped, percent, timeSpan } from './format.js';

const TITLES = { reading: 'Reading the file', buying: 'Running', stopping: 'Stopping', failed: 'Failed' };

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
export function setUpRun(about, { onPhase, onGone, onGoOn }) {
  let source = null;
  let book = null;
  let last = null;
  /** Whether the first update has arrived: the user has seen what happens after it. */
  let heard = false;
  let told = { text: '', at: 0 };

  byId('stop').addEventListener('click', async () => {
    byId('stop').disabled = true;
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
    show('run-live', !isOver);
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

  return {
    open({ id, has_output }, latest) {
      source?.close();
      book = id;
      last = null;
      heard = false;
      for (const part of ['run-step', 'result']) show(part, false);
      if (latest) drawEarlier(latest, has_output, links);
      source = new EventSource(`/api/books/${id}/events`);
      source.onmessage = ({ data }) => {
        const live = JSON.parse(data);
        if (live === null) heard = true;
        else draw(live);
      };
      source.onerror = () => onGone();
    },
    last: () => last,
  };
}

const STATUS_WORDS = { outside_us: 'outside the US' };

function drawLive(live) {
  const { cells, cells_done, credits_spent, credits_planned, budget, period_left, phase } = live;
  const reach = Math.min(credits_planned, budget);
  byId('run-cells').value = cells === 0 ? 0 : cells_done / cells;
  byId('run-credits').value = reach === 0 ? 0 : Math.min(1, credits_spent / reach);
  say('run-cells-words', `${grouped(cells_done)} of ${grouped(cells)} done`);
  say('run-credits-words', `${grouped(credits_spent)} spent of ${grouped(credits_planned)} planned`);
  byId('stop').disabled = phase === 'stopping';
  say(
    'stop-words',
    phase === 'stopping'
      ? 'Finishing calls in flight, then writing the output.'
      : 'You can close this page; the run goes on.',
  );
  const { per_minute, per_minute_limit, minutes_left, in_flight, failures, slowed_down, credits_unknown } = live;
  const isBought = cells > 0 && cells_done === cells;
  showFacts('run-facts', [
    ['Time left', isBought ? 'writing the output' : minutes_left === null ? '…' : timeSpan(minutes_left)],
    ['Budget', `${grouped(credits_spent)} of ${grouped(budget)}`],
    ['This period', `${grouped(Math.max(0, period_left - credits_spent))} credits left`],
    [
      'Rate',
      `${per_minute === null ? '…' : grouped(per_minute)} credits a minute, at most ${grouped(per_minute_limit)}`,
    ],
    ['Calls in flight', grouped(in_flight)],
    ['Failures', grouped(failures)],
    ['Asked to slow down', slowed_down > 0 ? counted(slowed_down, 'time') : null],
    ['Credits without an answer', credits_unknown > 0 ? grouped(credits_unknown) : null],
  ]);
}

/** A run of an earlier process, from the store. */
function drawEarlier({ state, charged, budget, complete, rows, resume_after }, hasOutput, links) {
  show('run-step', true);
  show('run-live', false);
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
