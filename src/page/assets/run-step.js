import { useRef } from 'preact/hooks';
import { needsServer } from './connection.js';
import { counted, day, grouped, incompleteWords, percent, timeSpan } from './format.js';
import { ErrorBox, Facts, html } from './html.js';
import { story } from './report-view.js';
import { isOver, isUnknown, run, runError, stop } from './run.js';
import { book } from './state.js';

/* A run: its result, or its progress. */

const STATES = {
  complete: 'Complete',
  paused: 'Paused',
  interrupted: 'Stopped',
  stopped: 'Failed',
  running: 'Running',
  'cut off': 'Cut off',
};

/** @param status the rows of each status, or null */
const stateWords = (state, status) => (state === 'incomplete' ? incompleteWords(status) : STATES[state]);

const STATUS_WORDS = { outside_us: 'outside the US' };

const TITLES = { reading: 'Reading the file', buying: 'Running', stopping: 'Stopping', failed: 'Failed' };

const PAUSES = {
  minute_limit: 'waiting for the minute limit',
  minute_used: 'waiting: other runs have used this minute',
  service_limit: 'waiting: the service allows no more calls now',
  slowed_down: 'waiting: the service asked to slow down',
};

/** Long enough for a screen reader to say the last one. */
const SPEAK_MS = 15_000;

function titleOf({ live, earlier }) {
  if (earlier) return stateWords(earlier.state, earlier.status);
  if (!live) return 'Starting';
  if (isUnknown.value) return 'Connection lost';
  if (live.phase === 'ended') return stateWords(live.end.state, live.end.summary.status);
  return live.phase === 'buying' && live.source === 'local' ? 'Looking up' : TITLES[live.phase];
}

export function RunStep({ onGoOn }) {
  if (run.value === null) return null;
  const { live, earlier } = run.value;
  const title = titleOf(run.value);
  const end = earlier ? earlierEnd(earlier) : live?.end ? endOf(live) : null;
  return html`<section id="run-step" aria-labelledby="run-title">
    <h2 id="run-title" tabindex="-1">${title}</h2>
    <${Spoken} title=${title} live=${live} />
    ${live && !isOver(live) && !isUnknown.value && html`<details><summary>Details</summary><${Facts} id="run-facts" pairs=${liveFacts(live)} /></details>`}
    <ul id="run-notices" class="notices" aria-label="Notices">${(live?.notices ?? []).map((text) => html`<li>${text}</li>`)}</ul>
    <${ErrorBox} id="run-error" error=${live?.error ?? runError.value} />
    ${end && html`<${Result} ...${end} onGoOn=${onGoOn} />`}
  </section>`;
}

/** For screen readers: at each change of phase, else from time to time. */
function Spoken({ title, live }) {
  const spoken = useRef({ text: '', title: '', at: 0 });
  const now = performance.now();
  if (title !== spoken.current.title || now - spoken.current.at >= SPEAK_MS) {
    spoken.current = { title, text: live?.phase === 'buying' ? spokenProgress(live) : title, at: now };
  }
  return html`<p id="run-status" role="status" class="unseen">${spoken.current.text}</p>`;
}

function spokenProgress({ cells, cells_done, credits_spent, source }) {
  const places = `${grouped(cells_done)} of ${counted(cells, 'place')}`;
  return source === 'local' ? `${places} looked up` : `${grouped(credits_spent)} credits spent, ${places} complete`;
}

function Result({ words, reason, state, facts, hasOutput, onGoOn }) {
  const { id } = book.value;
  return html`<div id="result">
    ${reason !== null && html`<p id="result-stop" class="note">${reason}</p>`}
    <p id="result-words">${words}</p>
    <p id="result-story">${story.value}</p>
    <${Facts} id="result-facts" pairs=${facts} />
    <p class="row">
      ${hasOutput && html`<a id="download" class="button primary" download="" href=${`/api/books/${id}/result`} ...${needsServer()}>Download the result</a>`}
      ${hasOutput && html`<a id="report" class="button" target="_blank" rel="noopener" href=${`/api/books/${id}/report`} ...${needsServer()}>Open the report</a>`}
      ${state !== 'complete' && state !== 'running' && html`<button type="button" id="go-on" class="button" onClick=${onGoOn} ...${needsServer()}>Resume…</button>`}
    </p>
  </div>`;
}

/** A run of this server that has ended. */
function endOf({ end: { state, stop: stopped, summary }, credits_spent, budget, source }) {
  const counts = Object.entries(summary.status).filter(([, rows]) => rows > 0);
  const isLocal = source === 'local';
  return {
    words: `${counted(summary.rows, 'row')} written: ${counts.map(([name, rows]) => `${grouped(rows)} ${STATUS_WORDS[name] ?? name}`).join(', ')}.`,
    reason: stopped && stopWords(stopped, isLocal),
    state,
    hasOutput: true,
    facts: resultFacts({
      spent: credits_spent,
      unknown: summary.credits_unknown,
      budget,
      isLocal,
      complete: summary.complete.rows,
      value: summary.complete.value,
      resumeAfter: summary.resume_after,
    }),
  };
}

/** A run of an earlier process, from the store. */
function earlierEnd(earlier) {
  const { state, charged, unknown, budget, complete, complete_value, rows, resume_after, is_local, stopped } = earlier;
  return {
    words: rows === null ? 'The latest run wrote no output.' : `The latest run wrote ${counted(rows, 'row')}.`,
    reason: earlierReason(state, stopped, is_local),
    state,
    hasOutput: earlier.has_output,
    facts: resultFacts({
      spent: charged,
      unknown,
      budget,
      isLocal: is_local,
      complete,
      value: complete_value,
      resumeAfter: resume_after,
    }),
  };
}

function earlierReason(state, stopped, isLocal) {
  if (state === 'cut off') return 'Perilbook ended during the run. Bought answers are kept.';
  return state === 'interrupted' ? interruptedWords(isLocal) : stopped;
}

function interruptedWords(isLocal) {
  const kept = isLocal ? 'What was looked up is kept' : 'Bought answers are kept';
  return `You stopped the run. ${kept}; the other rows are deferred.`;
}

function resultFacts({ spent, unknown, budget, isLocal, complete, value, resumeAfter }) {
  const share = (part) => (part === null ? null : percent(part));
  const lost = !isLocal && unknown > 0;
  return [
    ['Locations complete', share(complete)],
    ['Value complete', share(value)],
    ['Credits spent', isLocal ? null : grouped(spent)],
    ['Credits without an answer', lost ? `${grouped(unknown)}; the provider may have charged them` : null],
    ['Budget', isLocal ? null : grouped(budget)],
    ['Answers', isLocal ? 'public data on this machine' : null],
    ['Resume after', resumeAfter === null ? null : day(resumeAfter)],
  ];
}

function stopWords({ reason, message, resumeAfter }, isLocal) {
  if (reason === 'interrupted') return interruptedWords(isLocal);
  const when = resumeAfter === null ? '' : ` Resume after ${day(resumeAfter)}.`;
  return `${message} The other rows are deferred.${when}`;
}

function leftOf({ activity, rows, rows_all, minutes_left }) {
  if (activity === 'writing') return `writing the output${rows_all === null ? '' : `, ${counted(rows, 'row')}`}`;
  return minutes_left === null ? 'not known yet' : timeSpan(minutes_left);
}

function liveFacts(live) {
  return [['Time left', leftOf(live)], ...(live.source === 'local' ? lookupFacts(live) : purchaseFacts(live))];
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
  const beyond = `${counted(cells_all - cells, 'place')}, ${counted(Math.max(0, credits_all - credits_planned), 'credit')}`;
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
    ['Beyond this run', cells < cells_all ? beyond : null],
  ];
}

/** The bar of a run, and what the stop button would do. */
export function RunLive() {
  const { live } = run.value;
  const { cells = 0, cells_done = 0, credits_spent = 0, credits_planned = 0, phase = 'starting', source } = live ?? {};
  const isLocal = source === 'local';
  const isOff = phase === 'starting' || phase === 'stopping';
  const finishing = isLocal ? 'Finishing the places in work' : 'Finishing calls in flight';
  const words = isUnknown.value
    ? 'Unknown whether the run goes on. Bought answers are kept.'
    : phase === 'stopping'
      ? `${finishing}, then writing the output.`
      : `Time left: ${live ? leftOf(live) : 'not known yet'}. You can close this page; the run goes on.`;
  const places = `${grouped(cells_done)} of ${counted(cells, 'place')}`;
  const bar = isLocal
    ? { words: `${places} looked up`, done: cells === 0 ? 0 : cells_done / cells }
    : {
        words: `${grouped(credits_spent)} of ${grouped(credits_planned)} spent; ${places} complete`,
        done: credits_planned === 0 ? 0 : Math.min(1, credits_spent / credits_planned),
      };
  return html`<div id="run-live" class=${isUnknown.value ? 'stale' : ''}>
    <p class="bar"><label for="run-bar">${isLocal ? 'Places' : 'Credits'}</label> <span id="run-bar-words">${bar.words}</span><progress id="run-bar" max="1" value=${bar.done}></progress></p>
    <p class="row"><button type="button" id="stop" class="button" aria-disabled=${isOff || isUnknown.value ? 'true' : undefined} onClick=${() => isOff || void stop()}>Stop</button> <span id="stop-words" class="soft small">${words}</span></p>
  </div>`;
}
