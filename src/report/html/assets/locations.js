// The list of locations: choose a peril, filter, sort, download what is shown. `state` is what was chosen: it outlives the table.
export function setUpLocations(root, state) {
  const byId = (id) => root.getElementById(id);
  const table = byId('list');
  if (table === null) return;
  const limit = Number(table.dataset.limit);
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  // By peril: rating, score, frequency.
  const ratings = JSON.parse(byId('list-ratings').textContent);
  // By value, as the page was made.
  const rows = [...body.rows].map((row, at) => ({
    row,
    text: row.textContent.toLowerCase(),
    rated: ratings[at],
  }));
  const peril = byId('list-peril');
  const filter = byId('list-filter');
  const link = byId('list-csv');
  state.sorting ??= { column: -1, down: false };
  const { sorting } = state;

  const sortValue = (cell) =>
    cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);

  const field = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  // A name without its coordinates, which have columns of their own; a location without a name has nothing else.
  const textOf = (cell) => (cell.querySelector('bdi') ?? cell).textContent;
  const exported = (cell) =>
    cell.dataset.csv ?? cell.dataset.v ?? textOf(cell).trim().replaceAll(/\s+/g, ' ');

  const highRatings = (cell) =>
    [...cell.children]
      .map((line) => line.textContent.replace(/^(Very|Relatively) High/, '$&:'))
      .join('; ');
  const ratingOf = ([rating, ...numbers]) => [
    rating === 4 ? 'Very High' : 'Relatively High',
    ...numbers,
  ];

  // The ratings of all perils are one text; those of a chosen one are numbers too.
  const csv = (shown) => {
    const ratings =
      peril.value === '' ? [heads.at(-1).textContent] : ['Rating', 'Score', 'Frequency'];
    const names = [
      ...heads.slice(0, -1).map((head) => head.textContent),
      'Latitude',
      'Longitude',
      ...ratings,
    ];
    const lines = shown.map(({ row, rated }) => {
      const cells = [...row.cells].slice(0, -1).map(exported);
      const last =
        peril.value === '' ? [highRatings(row.cells[cells.length])] : ratingOf(rated[peril.value]);
      return [...cells, ...row.dataset.at.split(','), ...last.map((value) => String(value ?? ''))];
    });
    return [names, ...lines].map((line) => line.map(field).join(',')).join('\r\n');
  };

  const show = () => {
    Object.assign(state, { peril: peril.value, filter: filter.value });
    const word = filter.value.trim().toLowerCase();
    // The page has the first of each peril: what is beyond them in a peril is not complete.
    const listed = rows
      .filter(({ rated }) => peril.value === '' || peril.value in rated)
      .slice(0, limit);
    const shown = listed.filter(({ text }) => text.includes(word));
    if (sorting.column >= 0) {
      const sign = sorting.down ? -1 : 1;
      shown.sort((a, b) => {
        const [x, y] = [a, b].map(({ row }) => sortValue(row.cells[sorting.column]));
        return sign * (typeof x === 'number' ? x - y : x.localeCompare(y, 'en'));
      });
    }
    for (const [column, head] of heads.entries()) {
      if (column !== sorting.column) head.removeAttribute('aria-sort');
      else head.setAttribute('aria-sort', sorting.down ? 'descending' : 'ascending');
    }
    for (const { row } of rows) row.hidden = true;
    for (const { row } of shown) row.hidden = false;
    body.append(...shown.map(({ row }) => row));
    byId('list-count').textContent = `${shown.length} of ${listed.length} shown`;
    link.href = `data:text/csv;charset=utf-8,${encodeURIComponent(csv(shown))}`;
  };

  for (const [column, head] of heads.entries()) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', ({ detail }) => {
      // The second click of a double click would turn the order round at once.
      if (detail > 1) return;
      sorting.down = sorting.column === column ? !sorting.down : head.dataset.kind === 'number';
      sorting.column = column;
      show();
    });
  }
  peril.addEventListener('change', show);
  filter.addEventListener('input', show);
  byId('list-controls').addEventListener('submit', (event) => event.preventDefault());
  if ([...peril.options].some(({ value }) => value === state.peril)) peril.value = state.peril;
  filter.value = state.filter ?? '';
  show();
}
