import { getText } from './api.js';
import { byId, show, showError } from './dom.js';
import { setUpReport } from './report.js';

/** The report is drawn again after ten times what its last drawing took: a run shall not wait for it. */
const REST = 10;

/** The report of the open file's run, as the server renders it, in a shadow root: neither style reaches the other. `onDrawn` gets its first
 * sentence. */
export function setUpReportView(onDrawn) {
  const root = byId('report-root').attachShadow({ mode: 'open' });
  root.innerHTML = '<link rel="stylesheet" href="/assets/report.css"><div class="report"></div>';
  const report = root.querySelector('.report');
  let book = null;
  /** What the reader chose in the report. */
  let state = {};
  let asked = new AbortController();
  let timer = null;
  let mayDrawAt = 0;

  // A fragment of the address would not reach into the shadow root, and would forget which file is open.
  root.addEventListener('click', (event) => {
    const id = event.target
      .closest('a')
      ?.getAttribute('href')
      ?.match(/^#(.+)/)?.[1];
    if (id === undefined) return;
    event.preventDefault();
    const target = root.getElementById(id);
    target.scrollIntoView();
    (target.querySelector('summary') ?? target).focus({ preventScroll: true });
  });

  async function draw() {
    clearTimeout(timer);
    timer = null;
    asked.abort();
    asked = new AbortController();
    const began = performance.now();
    report.ariaBusy = 'true';
    try {
      replace(await getText(`/api/books/${book.id}/sections`, asked.signal));
      showError('report-error', null);
      show('report-step', true);
      onDrawn(root.querySelector('.story').textContent);
    } catch (error) {
      if (error.name === 'AbortError') return;
      showError('report-error', error);
    }
    report.ariaBusy = null;
    const now = performance.now();
    mayDrawAt = now + REST * (now - began);
  }

  /** What was chosen, the focus and the place on the page stay. */
  function replace(text) {
    const controls = () => [...root.querySelectorAll('a, button, select, input, summary, [tabindex]')];
    const focused = controls().indexOf(root.activeElement);
    const top = window.scrollY;
    report.innerHTML = text;
    setUpReport(root, state);
    controls()[focused]?.focus({ preventScroll: true });
    window.scrollTo({ top, behavior: 'instant' });
  }

  return {
    /** Takes what was chosen in the report of a file before. */
    remember(opened, before) {
      book = opened;
      state = before ?? {};
    },
    draw: () => void draw(),
    /** More answers are there. */
    renew() {
      timer ??= setTimeout(draw, Math.max(0, mayDrawAt - performance.now()));
    },
    close() {
      asked.abort();
      clearTimeout(timer);
      timer = null;
      report.replaceChildren();
      show('report-step', false);
    },
    state: () => state,
  };
}
