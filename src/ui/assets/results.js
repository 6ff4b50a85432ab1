import { get, post } from './api.js';
import { byId, make, say, show, showError } from './dom.js';
import { counted, grouped } from './format.js';
import { STATUS_WORDS } from './run-end.js';

/** Long enough to type a word. */
const SETTLE_MS = 250;

/** As many as the server sends (output-page.ts). */
const ROWS_PER_PAGE = 50;

const FILTERS = ['status', 'peril', 'rating'];

/** The columns that sort the table: the direction of the first press, and the words for both. */
const SORTS = {
  line: { first: 'asc', asc: 'in the order of the file', desc: 'the last of the file first' },
  value: { first: 'desc', asc: 'smallest value first', desc: 'largest value first' },
  status: { first: 'desc', asc: 'complete ones first', desc: 'problems first' },
  rating: { first: 'desc', asc: 'lowest rating first', desc: 'highest rating first' },
};
const FILE_ORDER = { by: 'line', direction: 'asc' };

/** The output of a run: what matters most, and its rows. The server filters; only one page of rows is here. */
export function setUpResults() {
  let book = null;
  let counts = null;
  let from = 0;
  let total = 0;
  let sort = FILE_ORDER;
  let asked = new AbortController();

  function filter() {
    const chosen = FILTERS.map((name) => [name, byId(`filter-${name}`).value]);
    const text = byId('filter-text').value.trim();
    return Object.fromEntries([...chosen, ['text', text]].filter(([, value]) => value !== ''));
  }

  async function load(wait = 0) {
    asked.abort();
    asked = new AbortController();
    const { signal } = asked;
    byId('rows').classList.add('stale');
    await new Promise((resolve) => setTimeout(resolve, wait));
    if (signal.aborted) return;
    try {
      const wanted = filter();
      const page = await post(`/api/books/${book.id}/rows`, { ...wanted, sort, from }, signal);
      showError('rows-error', null);
      draw(page, wanted);
    } catch (error) {
      if (error.name !== 'AbortError') showError('rows-error', error);
    } finally {
      if (!signal.aborted) byId('rows').classList.remove('stale');
    }
  }

  function draw(page, wanted) {
    total = page.total;
    const last = from + page.rows.length;
    const which = total > ROWS_PER_PAGE ? `${grouped(from + 1)} to ${grouped(last)} of ` : '';
    const isAll = Object.keys(wanted).length === 0;
    const ordered = sort.by === 'line' && sort.direction === 'asc' ? '' : `, ${SORTS[sort.by][sort.direction]}`;
    const all = isAll ? '' : `, of ${grouped(counts.rows)} in all`;
    say('rows-count', `${which}${counted(total, 'location')}${all}${ordered}`);
    show('rows-pages', total > ROWS_PER_PAGE);
    mark('rows-back', from === 0);
    mark('rows-next', last >= total);
    markSort(wanted.peril === undefined ? 'Worst peril' : 'Peril');
    byId('rows').tBodies[0].replaceChildren(...page.rows.map((row) => rowOf(row, counts)));
  }

  /** The heading stays: a button that was pressed keeps the focus. */
  function markSort(peril) {
    for (const cell of byId('rows').querySelectorAll('th[data-sort]')) {
      if (cell.dataset.sort !== sort.by) cell.removeAttribute('aria-sort');
      else cell.setAttribute('aria-sort', sort.direction === 'asc' ? 'ascending' : 'descending');
    }
    if (counts.perils.length > 0) say('rows-peril', peril);
  }

  /** Turns a page. `disabled` would drop the focus. */
  function turn(button, by) {
    byId(button).addEventListener('click', () => {
      if (byId(button).getAttribute('aria-disabled') === 'true') return;
      from = Math.max(0, from + by);
      void load();
    });
  }

  turn('rows-back', -ROWS_PER_PAGE);
  turn('rows-next', ROWS_PER_PAGE);
  byId('rows').addEventListener('click', ({ target }) => {
    const by = target.closest('thead button')?.parentElement.dataset.sort;
    if (by === undefined) return;
    const isSame = sort.by === by;
    const direction = isSame ? (sort.direction === 'asc' ? 'desc' : 'asc') : SORTS[by].first;
    sort = { by, direction };
    from = 0;
    void load();
  });
  byId('rows-form').addEventListener('submit', (event) => event.preventDefault());
  byId('rows-form').addEventListener('input', ({ target }) => {
    from = 0;
    void load(target.id === 'filter-text' ? SETTLE_MS : 0);
  });

  return {
    async open(opened) {
      asked.abort();
      book = opened;
      from = 0;
      const found = await get(`/api/books/${book.id}/results`).catch((error) => {
        if (book === opened) showError('rows-error', error);
        return null;
      });
      if (book !== opened || found === null) return;
      counts = found;
      byId('result-findings').replaceChildren(...findingLines(counts).map((text) => make('li', {}, text)));
      fillFilters(counts);
      sort = FILE_ORDER;
      byId('rows').replaceChildren(headOf(counts, book.unit), make('tbody'));
      // Before the box shows: nobody shall see a table that waits for its first rows as one that is ready.
      byId('rows').classList.add('stale');
      show('rows-box', true);
      await load();
    },
    close() {
      asked.abort();
      book = null;
      byId('result-findings').replaceChildren();
      show('rows-box', false);
    },
  };
}

function mark(id, isOff) {
  if (isOff) byId(id).setAttribute('aria-disabled', 'true');
  else byId(id).removeAttribute('aria-disabled');
}

function findingLines({ findings, highest }) {
  if (findings.length > 0) return findings.map(findingWords);
  return highest.slice(0, 1).map(({ rating, rows }) => `Highest rating: ${rating}, ${counted(rows, 'location')}`);
}

/** `Hurricane: 1,050 of 1,189 answered locations Very High, $38.7 bn of value` */
function findingWords({ title, rating, rows, answered, worth }) {
  const value = worth === '' ? '' : `, ${worth} of value`;
  return `${title}: ${grouped(rows)} of ${counted(answered, 'answered location')} ${rating}${value}`;
}

const statusWords = (status) => STATUS_WORDS[status] ?? status;

/** `invalid: Latitude or longitude is not a number`. The lines above name the source of the answers; the topics that a place lacks, and all of
 * the note, are the cell's title. */
function statusAndReason(status, note) {
  const reason = note.replace(/^(?:sample data|local data: [^;]*)(?:; |$)/, '');
  if (status === 'ok' || status === 'outside_us' || reason === '') return statusWords(status);
  return `${statusWords(status)}: ${status === 'deferred' ? reason.replace(/: .*/, '') : reason}`;
}

function fillFilters({ status, perils, highest }) {
  const options = {
    status: Object.entries(status).map(([name, rows]) => [name, `${statusWords(name)} (${grouped(rows)})`]),
    peril: perils.map(({ slug, title }) => [slug, title]),
    rating: highest.map(({ rating }) => [rating, rating]),
  };
  const all = { status: 'All', peril: 'Worst peril', rating: 'All' };
  for (const name of FILTERS) {
    byId(`filter-${name}`).replaceChildren(
      ...[['', all[name]], ...options[name]].map(([value, text]) => make('option', { value }, text)),
    );
  }
  byId('filter-text').value = '';
  for (const box of document.querySelectorAll('#rows-form .of-perils')) box.hidden = perils.length === 0;
}

function headOf({ hasId, hasValue, currency, perils }, unit) {
  const column = (text, attributes = {}) => make('th', { scope: 'col', ...attributes }, text);
  const sorted = (by, text, kind) =>
    column(make('button', { type: 'button' }, text), { 'data-sort': by, ...(kind ? { class: kind } : {}) });
  return make(
    'thead',
    {},
    make(
      'tr',
      {},
      sorted('line', unit[0].toUpperCase() + unit.slice(1), 'number'),
      hasId ? column('Id') : null,
      column('Location'),
      hasValue ? sorted('value', currency === null ? 'Value' : `Value (${currency})`, 'number') : null,
      perils.length > 0 ? column('Worst peril', { id: 'rows-peril' }) : null,
      perils.length > 0 ? sorted('rating', 'Rating') : null,
      sorted('status', 'Status'),
    ),
  );
}

function rowOf(row, { hasId, hasValue, currency, perils }) {
  const { line, id, place, value, status, note, peril, rating } = row;
  // Where the heading names a currency, all values have it.
  const amount =
    value === null ? '' : [currency === null ? row.currency : '', grouped(value)].filter(Boolean).join(' ');
  return make(
    'tr',
    {},
    make('th', { scope: 'row', class: 'number' }, line === null ? '–' : grouped(line)),
    hasId ? make('td', {}, id) : null,
    make('td', { title: place }, place),
    hasValue ? make('td', { class: 'number' }, amount) : null,
    perils.length > 0 ? make('td', {}, peril) : null,
    perils.length > 0
      ? make('td', {}, rating === '' ? '' : make('span', { class: 'rating', 'data-rating': rating }, rating))
      : null,
    make('td', note === '' ? {} : { title: note }, statusAndReason(status, note)),
  );
}
