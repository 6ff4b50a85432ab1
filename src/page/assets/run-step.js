import { useRef } from 'preact/hooks';
import { day, incompleteWords } from './format.js';
import { ErrorBox, Facts, html } from './html.js';
import { counted, grouped, percent, timeSpan } from './numbers.js';
import { story } from './report-view.js';
import { isResumable, isUnknown, isWorking, run, runError, stop } from './run.js';
import { needsServer } from './server.js';
import { about, file } from './state.js';

const STATES = {
  complete: 'Complete',
  paused: 'Paused',
  interrupted: 'Stopped',
  stopped: 'Failed',
  'cut off': 'Cut off',
};

const TITLES = {
  starting: 'Starting',
  reading: 'Reading the file',
  buying: 'Running',
  stopping: 'Stopping',
  failed: 'Failed',
};

const PAUSES = {
  minute_limit: 'waiting for the minute limit',
  minute_used: 'waiting: other runs have used this minute',
  service_limit: 'waiting: the service allows no more calls now',
  slowed_down: 'waiting: the service asked to slow down',
};

/** Long enough for a screen reader to say the last one. */
const SPEAK_MS = 15_000;

/** Whether progress counts places instead of credits. @param source null until the run is connected */
const isUncharged = (source) => source === 'local' || source === 'sample';

/** The heading: the phase of the run, or how it ended. A lost connection during a run comes first. */
function titleOf({ phase, end, source }) {
  if (isUnknown.value) return 'Connection lost';
  if (end !== null)
    return end.state === 'incomplete' ? incompleteWords(end.status) : STATES[end.state];
  return phase === 'buying' && source === 'local' ? 'Looking up' : TITLES[phase];
}

/** The latest run of the open file; nothing before the first. @param onGoOn called by the button Resume */
export function RunStep({ onGoOn }) {
  if (run.value === null) return null;
  const { end, error = null, notices = [] } = run.value;
  const title = titleOf(run.value);
  const isShown = isWorking.value && !isUnknown.value && run.value.phase !== 'starting';
  return html`<section id="run-step" aria-labelledby="run-title">
    <h2 id="run-title" tabindex="-1">${title}</h2>
    <${Spoken} title=${title} />
    ${isShown && html`<details><summary>Details</summary><${Facts} id="run-facts" pairs=${liveFacts(run.value)} /></details>`}
    ${notices.length > 0 && html`<ul id="run-notices" class="notices" aria-label="Notices">${notices.map((text) => html`<li>${text}</li>`)}</ul>`}
    <${ErrorBox} id="run-error" error=${error ?? runError.value} />
    ${end !== null && html`<${Result} end=${end} onGoOn=${onGoOn} />`}
  </section>`;
}

/** For screen readers: at each change of phase, else from time to time. */
function Spoken({ title }) {
  const spoken = useRef({ text: '', title: '', at: 0 });
  const now = performance.now();
  if (title !== spoken.current.title || now - spoken.current.at >= SPEAK_MS) {
    spoken.current = {
      title,
      text: run.value.phase === 'buying' ? spokenProgress(run.value) : title,
      at: now,
    };
  }
  return html`<p id="run-status" role="status" class="unseen">${spoken.current.text}</p>`;
}

/** Places that are complete, and the credits spent unless the source charges nothing. */
function spokenProgress({ cells, cells_done, credits_spent, source }) {
  const places = `${grouped(cells_done)} of ${counted(cells, 'place')}`;
  return isUncharged(source)
    ? `${places} looked up`
    : `${grouped(credits_spent)} credits spent, ${places} complete`;
}

/** How a run ended. Links only where there is an output; Resume unless the run is complete. */
function Result({ end, onGoOn }) {
  const reason = reasonOf(end);
  const link = (what) => `/api/files/${file.value.id}/${what}`;
  return html`<div id="result">
    ${reason !== null && html`<p id="result-stop" class="note">${reason}</p>`}
    <p id="result-words">${writtenWords(end)}</p>
    <p id="result-story">${story.value}</p>
    <${Facts} id="result-facts" pairs=${resultFacts(end)} />
    <p class="row">
      ${end.has_output && html`<a id="download" class=${isResumable() ? 'button' : 'button primary'} download="" href=${link('result')} ...${needsServer()}>Download the result</a>`}
      ${end.has_output && html`<a id="report" class="button" target="_blank" rel="noopener" href=${link('report')} ...${needsServer()}>Open the report</a>`}
      ${end.state !== 'complete' && html`<button type="button" id="go-on" class=${isResumable() ? 'button primary' : 'button'} onClick=${onGoOn} ...${needsServer()}>Resume…</button>`}
    </p>
    ${end.has_output && html`<p id="result-kept" class="soft">The file is kept in ${about.value.folder} for a day after its last use.</p>`}
  </div>`;
}

/** How many rows were written, by status. @param rows null: no output was written */
function writtenWords({ rows, status }) {
  if (rows === null) return 'The latest run wrote no output.';
  const counts = Object.entries(status ?? {}).filter(([, of]) => of > 0);
  return `${counted(rows, 'row')} written: ${counts.map(([name, of]) => `${grouped(of)} ${name.replace('outside_us', 'outside the US')}`).join(', ')}.`;
}

/** Why a run ended early; null where it did not. */
function reasonOf({ state, stopped, is_local: isLocal, resume_after: resumeAfter }) {
  if (state === 'cut off') return 'Perilbook ended during the run. Bought answers are kept.';
  if (state === 'interrupted') {
    const kept = isLocal ? 'What was looked up is kept' : 'Bought answers are kept';
    return `You stopped the run. ${kept}; the other rows are deferred.`;
  }
  if (stopped === null) return null;
  return `${stopped} The other rows are deferred.${resumeAfter === null ? '' : ` Resume after ${day(resumeAfter)}.`}`;
}

/** What an ended run answered and spent, as names and values; a value is null where it does not apply. */
function resultFacts(end) {
  const {
    charged,
    unknown,
    budget,
    is_local: isLocal,
    is_sample: isSample,
    resume_after: resumeAfter,
  } = end;
  // The report below says that all is answered.
  const share = (part) => (part === null || end.state === 'complete' ? null : percent(part));
  const lost = !isLocal && unknown > 0;
  return [
    ['Locations complete', share(end.complete)],
    ['Value complete', share(end.complete_value)],
    // What a paid service would charge for the sample's answers is in the report below.
    ['Credits spent', isLocal || isSample ? null : grouped(charged)],
    [
      'Credits without an answer',
      lost ? `${grouped(unknown)}; the provider may have charged them` : null,
    ],
    ['Budget', isLocal || isSample ? null : grouped(budget)],
    ['Answers', isLocal ? 'public data on this machine' : null],
    ['Resume after', resumeAfter === null ? null : day(resumeAfter)],
  ];
}

/** The time left in words; while the output is written, the rows so far. */
function leftOf({ activity, rows, rows_all, minutes_left = null }) {
  if (activity === 'writing')
    return `writing the output${rows_all === null ? '' : `, ${counted(rows, 'row')}`}`;
  return minutes_left === null ? 'not known yet' : timeSpan(minutes_left);
}

/** The details of a run in progress, as names and values; a value is null where it does not apply. */
function liveFacts(live) {
  return [
    ['Time left', leftOf(live)],
    ...(isUncharged(live.source) ? lookupFacts(live) : purchaseFacts(live)),
  ];
}

/** For local data and the sample: places and rows so far. */
function lookupFacts({ cells, cells_done, activity, rows, rows_all, source }) {
  return [
    ['Looked up', cells === 0 ? null : `${grouped(cells_done)} of ${counted(cells, 'place')}`],
    [
      'Read',
      activity === 'reading'
        ? counted(rows, 'row')
        : rows_all === null
          ? null
          : counted(rows_all, 'row'),
    ],
    ['Answers', source === 'local' ? 'public data on this machine' : null],
  ];
}

/** For a paid service: credits of the run, the period and the last minute, calls, and what this run cannot buy. */
function purchaseFacts(live) {
  const { cells, cells_all, credits_spent, credits_planned, credits_all, budget, period_left } =
    live;
  const { last_minute, per_minute_limit, in_flight, failures, slowed_down, credits_unknown } = live;
  const limit = per_minute_limit === null ? '' : ` of ${grouped(per_minute_limit)}`;
  const beyond = `${counted(cells_all - cells, 'place')}, ${counted(Math.max(0, credits_all - credits_planned), 'credit')}`;
  return [
    ['Budget', `${grouped(credits_spent)} of ${grouped(budget)}`],
    ['Value', live.value_done === null ? null : `${percent(live.value_done)} done`],
    ['This period', `${grouped(Math.max(0, period_left - credits_spent))} credits left`],
    ['Last minute', `${grouped(last_minute)}${limit} credits`],
    ['Calls', live.pause === null ? `${grouped(in_flight)} in flight` : PAUSES[live.pause]],
    ['Failures', grouped(failures)],
    ['Asked to slow down', slowed_down > 0 ? counted(slowed_down, 'time') : null],
    ['Credits without an answer', credits_unknown > 0 ? grouped(credits_unknown) : null],
    ['Beyond this run', cells < cells_all ? beyond : null],
  ];
}

/** Progress in credits for a paid service, else in places; and Stop, off while the run starts or stops, or the connection is lost. */
export function RunLive() {
  const {
    cells = 0,
    cells_done = 0,
    credits_spent = 0,
    credits_planned = 0,
    phase,
    source,
  } = run.value;
  const isPaid = !isUncharged(source);
  const isOff = phase === 'starting' || phase === 'stopping';
  const finishing = isPaid ? 'Finishing calls in flight' : 'Finishing the places in work';
  const words = isUnknown.value
    ? 'Unknown whether the run goes on. Bought answers are kept.'
    : phase === 'stopping'
      ? `${finishing}, then writing the output.`
      : `Time left: ${leftOf(run.value)}. You can close this page; the run goes on.`;
  const places = `${grouped(cells_done)} of ${counted(cells, 'place')}`;
  const spent = `${grouped(credits_spent)} of ${grouped(credits_planned)} spent; ${places} complete`;
  const [part, whole] = isPaid ? [credits_spent, credits_planned] : [cells_done, cells];
  return html`<div id="run-live" class=${isUnknown.value ? 'stale' : ''}>
    <p class="bar"><label for="run-bar">${isPaid ? 'Credits' : 'Places'}</label> <span id="run-bar-words">${isPaid ? spent : `${places} looked up`}</span><progress id="run-bar" max="1" value=${whole === 0 ? 0 : Math.min(1, part / whole)}></progress></p>
    <p class="row"><button type="button" id="stop" class="button" aria-disabled=${isOff || isUnknown.value ? 'true' : undefined} onClick=${() => isOff || void stop()}>Stop</button> <span id="stop-words" class="soft small">${words}</span></p>
  </div>`;
}
