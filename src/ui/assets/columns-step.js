import { byId, make, say, show, showError } from './dom.js';
import { counted, grouped } from './format.js';

/** The location columns and the first rows. */
export function setUpColumns(onChange, onHeader) {
  let book = null;
  for (const id of ['lat', 'lng', 'order']) byId(id).addEventListener('change', () => onChange(chosen()));

  byId('no-header').addEventListener('change', ({ target }) => onHeader(!target.checked));

  function chosen() {
    const [lat, lng] = ['lat', 'lng'].map((id) => byId(id).value);
    drawRows(book, Number(lat || -1), Number(lng || -1));
    const names = [lat, lng].map((index) => (index === '' ? '?' : book.columns[Number(index)]));
    const order = byId('order').value;
    if (order !== 'file') names.push(`value: ${byId('order').selectedOptions[0].textContent}`);
    say('columns-line', names.join(', '));
    if (lat === '' || lng === '') return null;
    return { lat: Number(lat), lng: Number(lng), order: /^\d+$/.test(order) ? Number(order) : order };
  }

  return {
    /** Shows a file; returns the chosen columns, or null. */
    open(opened, before = null) {
      book = opened;
      const { location, note, kept, columns } = book;
      // Saved columns are names with a header line, and numbers without one.
      const isKept = kept !== null && (kept.header ?? true) === book.header;
      const last = !isKept ? null : { lat: indexOf(columns, kept.lat), lng: indexOf(columns, kept.lng) };
      const start = before ?? last ?? location;
      for (const id of ['lat', 'lng']) fill(byId(id), columns, start?.[id] ?? null);
      fillOrder(book, before?.order ?? (isKept ? orderKept(columns, kept.order) : book.order));
      show('columns-note', note !== null);
      say('columns-note', note ?? '');
      show('header-choice', book.format === 'csv');
      byId('no-header').checked = !book.header;
      show('columns-step', true);
      say('rows-words', '');
      show('findings', false);
      return chosen();
    },
    /** Shows the result of the scan; null: not known yet. */
    found(summary, error) {
      showError('columns-error', error);
      if (summary === null) return;
      const { rows, located, invalid, outside_us, cells, findings, unit } = summary;
      say('findings-unit', `First ${unit}`);
      const parts = [
        `${grouped(located)} located`,
        invalid > 0 ? `${grouped(invalid)} invalid` : '',
        outside_us > 0 ? `${grouped(outside_us)} outside the US` : '',
      ];
      say(
        'rows-words',
        `${counted(rows, 'row')}: ${parts.filter(Boolean).join(', ')}; ${counted(cells, 'distinct place')}.`,
      );
      show('findings', findings.length > 0);
      byId('findings-rows').replaceChildren(
        ...findings.map(({ first_line, rows: count, note }) =>
          make(
            'tr',
            {},
            make('td', { class: 'number' }, grouped(first_line)),
            make('td', { class: 'number' }, grouped(count)),
            make('td', {}, note),
          ),
        ),
      );
    },
  };
}

/** A job file names a column by its name or its number. */
function indexOf(columns, word) {
  const named = columns.indexOf(word);
  return named >= 0 ? named : Number(word) - 1;
}

/** The value of `order` for a saved `order_by`. */
function orderKept(columns, said) {
  if (said === null || said === undefined || typeof said === 'string') return said ?? 'file';
  const index = columns.indexOf(said.column);
  return index < 0 ? 'file' : index;
}

/** What is bought first: the most valuable rows where a column looks like a value. */
function fillOrder({ columns, order }, chosen) {
  const start = String(chosen ?? 'file');
  const named = [...columns.entries()].filter(([, name]) => name !== '');
  byId('order').replaceChildren(
    make('option', { value: 'file', selected: start === 'file' }, 'None: in the order of the file'),
    ...(order === 'tiv' ? [make('option', { value: 'tiv', selected: start === 'tiv' }, 'Sum of the TIV columns')] : []),
    ...named.map(([index, name]) => make('option', { value: index, selected: start === String(index) }, name)),
  );
}

function fill(select, columns, chosen) {
  select.replaceChildren(
    ...(chosen === null ? [make('option', { value: '' }, 'Choose a column')] : []),
    ...columns.map((name, index) =>
      make('option', { value: index, selected: index === chosen }, name || `column ${index + 1}`),
    ),
  );
}

/** The location columns come first: in a wide file they would be hard to find. */
function drawRows({ columns, first, unit }, lat, lng) {
  const places = [lat, lng].filter((index) => index >= 0);
  const order = [...places, ...columns.keys().filter((index) => !places.includes(index))];
  const kind = (index) => (places.includes(index) ? { class: 'place' } : {});
  byId('first').replaceChildren(
    make(
      'thead',
      {},
      make(
        'tr',
        {},
        make('th', { scope: 'col', class: 'number' }, unit[0].toUpperCase() + unit.slice(1)),
        ...order.map((index) => make('th', { scope: 'col', ...kind(index) }, columns[index] || `column ${index + 1}`)),
      ),
    ),
    make(
      'tbody',
      {},
      ...first.map(({ line, fields }) =>
        make(
          'tr',
          {},
          make('th', { scope: 'row', class: 'number' }, grouped(line)),
          ...order.map((index) => make('td', kind(index), fields[index] ?? '')),
        ),
      ),
    ),
  );
}
