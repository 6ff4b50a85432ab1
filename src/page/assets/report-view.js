import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ErrorBox, html } from './html.js';
import { setUpReport } from './report.js';
import { getText } from './server.js';
import { file, reportState, source } from './state.js';

/* The report of the open file's run, as the server renders it, in a shadow root: neither style reaches the other. */

/** The report is drawn again after ten times what its last drawing took: so a run does not wait for it. */
const REST = 10;

const isShown = signal(false);
const error = signal(null);
export const story = signal('');

let root = null;
let report = null;
let asking = new AbortController();
let timer = null;
let mayDrawAt = 0;

/** Hidden until a report is drawn. Makes the shadow root that `drawReport` fills; links within the report scroll to their target. */
export function Report() {
  const host = useRef(null);
  useLayoutEffect(() => {
    root = host.current.attachShadow({ mode: 'open' });
    root.innerHTML = '<link rel="stylesheet" href="/assets/report.css"><div class="report"></div>';
    report = root.querySelector('.report');
    // A fragment of the address would not reach into the shadow root, and would forget which file is open.
    root.addEventListener('click', (event) => {
      const id = event.target.closest('a[href^="#"]')?.getAttribute('href').slice(1);
      if (!id) return;
      event.preventDefault();
      const target = root.getElementById(id);
      target.scrollIntoView();
      (target.querySelector('summary') ?? target).focus({ preventScroll: true });
    });
  }, []);
  return html`<section id="report-step" aria-labelledby="report-title" hidden=${!isShown.value}>
    <h2 id="report-title" class="unseen">Report</h2>
    <${ErrorBox} id="report-error" error=${error.value} />
    <div id="report-root" class=${source.value === 'sample' ? 'told' : ''} ref=${host}></div>
  </section>`;
}

/** Requests the report of the open file's run and shows it, or an error. Cancels an earlier request. Sets `story`. */
export async function drawReport() {
  clearTimeout(timer);
  timer = null;
  asking.abort();
  asking = new AbortController();
  const began = performance.now();
  report.ariaBusy = 'true';
  try {
    const text = await getText(`/api/files/${file.value.id}/sections`, asking.signal);
    isShown.value = true;
    replace(text);
    error.value = null;
    story.value = root.querySelector('.story').textContent;
  } catch (failure) {
    if (failure.name === 'AbortError') return;
    isShown.value = true;
    error.value = failure;
  }
  report.ariaBusy = null;
  const now = performance.now();
  mayDrawAt = now + REST * (now - began);
}

/** What was chosen, the focus and the place on the page stay. */
function replace(text) {
  const controls = () => [
    ...root.querySelectorAll('a, button, select, input, summary, [tabindex]'),
  ];
  const focused = controls().indexOf(root.activeElement);
  const top = window.scrollY;
  report.innerHTML = text;
  setUpReport(root, reportState.current);
  controls()[focused]?.focus({ preventScroll: true });
  window.scrollTo({ top, behavior: 'instant' });
}

/** More answers are there. A drawing under way is waited for: the server goes on with one that is cancelled. */
export function renewReport() {
  if (report.ariaBusy === 'true') return;
  timer ??= setTimeout(drawReport, Math.max(0, mayDrawAt - performance.now()));
}

/** Empties and hides the report; cancels a request and a planned drawing. */
export function closeReport() {
  asking.abort();
  clearTimeout(timer);
  timer = null;
  report.replaceChildren();
  report.ariaBusy = null;
  isShown.value = false;
  error.value = null;
  story.value = '';
}
