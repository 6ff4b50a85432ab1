import { get } from './api.js';
import { byId, make, show } from './dom.js';
import { grouped, localTime } from './format.js';
import { STATES } from './run-end.js';

/** Earlier runs. `onOpen` gets the file of the run that the user opens. */
export function setUpRuns(onOpen) {
  let runs = [];
  byId('runs').addEventListener('click', ({ target }) => {
    const { book } = target.dataset;
    if (book) onOpen(book, target);
  });
  return {
    async load() {
      runs = await get('/api/runs');
      show('runs-none', runs.length === 0);
      show('runs-table', runs.length > 0);
      byId('runs').replaceChildren(...runs.map(rowOf));
      byId('runs-table').classList.toggle(
        'free',
        runs.every(({ is_local }) => is_local),
      );
    },
    latestOf: (book) => runs.find((run) => run.book === book && run.is_latest) ?? null,
  };
}

function rowOf(run) {
  const { job, book, state, started_at, charged, planned, is_local } = run;
  return make(
    'tr',
    {},
    make('td', { class: 'when' }, localTime(started_at)),
    make('th', { scope: 'row' }, job),
    make('td', {}, STATES[state]),
    make('td', { class: 'number wide' }, is_local ? 'free' : grouped(charged)),
    make('td', { class: 'number wide' }, is_local ? '' : grouped(planned)),
    make('td', {}, goTo(run, book)),
  );
}

/** Only the latest run of a file can be resumed; those of the command line are resumed there. */
function goTo({ is_latest, job, state }, book) {
  if (book === null) return make('span', { class: 'soft' }, 'command line');
  if (!is_latest) return '';
  const word = state === 'complete' || state === 'running' ? 'Open' : 'Resume';
  return make(
    'button',
    { type: 'button', class: 'button small', 'data-book': book, 'aria-label': `${word}: ${job}` },
    word,
  );
}
