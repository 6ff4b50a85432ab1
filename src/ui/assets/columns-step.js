import { byId, make, say, show, showError } from './dom.js';
import { counted, grouped } from './format.js';

/** The location columns and the first rows. */
export function setUpColumns(onChange, onHeader) {
  let book = null;
  for (const id of ['lat', 'lng']) byId(id).addEventListener('change', () => onChange(chosen()));

  byId('no-header').addEventListener('change', ({ target }) => onHeader(!target.checked));

  function chosen() {
    const [lat, lng] = ['lat', 'lng'].map((id) => byId(id).value);
    drawRows(book, Number(lat || -1), Number(lng || -1));
    return lat === '' || lng === '' ? null : { lat: Number(lat), lng: Number(lng) };
  }

  return {
    /** Shows a file; returns the chosen columns, or null. */
    open(opened) {
      book = opened;
      const { location, note, kept, columns } = book;
      // Saved columns are names with a header line, and numbers without one.
      const isKept = kept !== null && (kept.header ?? true) === book.header;
      const before = !isKept ? null : { lat: indexOf(columns, kept.lat), lng: indexOf(columns, kept.lng) };
      const start = before ?? location;
      for (const id of ['lat', 'lng']) fill(byId(id), columns, start?.[id] ?? null);
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
      const { rows, located, invalid, outside_us, cells, findings } = summary;
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

function fill(select, columns, chosen) {
  select.replaceChildren(
    ...(chosen === null ? [make('option', { value: '' }, 'Choose a column')] : []),
    ...columns.map((name, index) =>
      make('option', { value: index, selected: index === chosen }, name || `column ${index + 1}`),
    ),
  );
}

/** The location columns come first: in a wide file they would be hard to find. */
function drawRows({ columns, first }, lat, lng) {
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
        make('th', { scope: 'col', class: 'number' }, 'Line'),
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
