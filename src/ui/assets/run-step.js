import { post } from './api.js';
import { byId, say, show, showError } from './dom.js';
import { setUpReportView } from './report-view.js';
import { drawEarlier, drawEnd, drawNotices, earlierEnd, STATES } from './run-end.js';
import { drawLive, spokenProgress, titleOf } from './run-live.js';

/** Long enough for a screen reader to say the last one. */
const SPEAK_MS = 15_000;

/** Watches the run of the open file. `onGoOn` is called when the user wants to buy the rest. */
export function setUpRun({ onPhase, onHeard, onCutOff, onGone, onGoOn }) {
  const report = setUpReportView((story) => say('result-story', story));
  let source = null;
  let book = null;
  let last = null;
  /** Whether the first update has arrived: the user has seen what happens after it. */
  let heard = false;
  let told = { text: '', at: 0 };

  byId('stop').addEventListener('click', async () => {
    if (byId('stop').getAttribute('aria-disabled') === 'true') return;
    byId('stop').setAttribute('aria-disabled', 'true');
    await post(`/api/books/${book.id}/stop`).catch((error) => showError('run-error', error));
  });
  byId('go-on').addEventListener('click', () => onGoOn(last));

  const isOver = (live) => live.phase === 'ended' || live.phase === 'failed';

  function draw(live) {
    const isNew = last?.began_at !== live.began_at;
    const isNews = isNew || last.phase !== live.phase;
    const wasHere = heard;
    last = live;
    heard = true;
    showRun(true);
    show('run-facts', !isOver(live));
    show('result', live.phase === 'ended');
    showError('run-error', live.error);
    say('run-title', live.phase === 'ended' ? STATES[live.end.state] : titleOf(live.phase, live.source));
    drawNotices(live.notices);
    if (!isOver(live)) drawLive(live);
    else if (live.end) drawEnd(live);
    if (isNews) {
      if (live.phase === 'ended') showOutput(true);
    }
    if (live.phase === 'buying') report.renew();
    tell(live);
    if (isNews) onPhase(!isOver(live), isNew, wasHere);
  }

  /** For screen readers: at each change of phase, else from time to time. */
  function tell(live) {
    const text = live.phase === 'buying' ? spokenProgress(live) : byId('run-title').textContent;
    const now = performance.now();
    if (live.phase === 'buying' && now - told.at < SPEAK_MS) return;
    told = { text, at: now };
    say('run-status', told.text);
  }

  function showOutput(hasOutput) {
    show('download', hasOutput);
    byId('download').href = `/api/books/${book.id}/result`;
    byId('report').href = `/api/books/${book.id}/report`;
    report.draw();
  }

  function watch() {
    source?.close();
    source = new EventSource(`/api/books/${book.id}/events`);
    source.onmessage = ({ data }) => {
      onHeard();
      const live = JSON.parse(data);
      if (live !== null) draw(live);
      else {
        heard = true;
        // The server that ran it has ended: the store knows how far it came.
        if (last !== null && !isOver(last)) onCutOff();
      }
    };
    source.addEventListener('here', onHeard);
    source.onerror = () => onGone();
  }

  function showRun(isShown) {
    show('run-step', isShown);
    document.documentElement.toggleAttribute('data-run', isShown);
  }

  function hide() {
    showRun(false);
    show('result', false);
    report.close();
  }

  return {
    open(opened, latest, reportBefore) {
      book = opened;
      last = null;
      heard = false;
      hide();
      report.remember(book, reportBefore);
      if (latest) {
        showRun(true);
        drawEarlier(latest);
        showOutput(opened.has_output);
        last = earlierEnd(latest);
      }
      watch();
    },
    /** A run was started, and the server has not said anything of it yet. */
    starting() {
      showRun(true);
      show('result', false);
      show('run-facts', false);
      say('run-title', titleOf('starting'));
      byId('run-title').focus({ preventScroll: true });
    },
    close() {
      source?.close();
      book = null;
      last = null;
      hide();
    },
    /** The server does not answer: what is shown of a run may be over. */
    lost() {
      source?.close();
      if (last === null || isOver(last)) return;
      show('run-facts', false);
      say('run-title', 'Connection lost');
      say('stop-words', 'Unknown whether the run goes on. Bought answers are kept.');
      byId('run-live').classList.add('stale');
    },
    back() {
      byId('run-live').classList.remove('stale');
      if (book !== null) watch();
    },
    reportState: () => report.state(),
  };
}
