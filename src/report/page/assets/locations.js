// The list of locations: choose a peril, filter, sort, download what is shown.
(() => {
  const table = document.getElementById('list');
  if (table === null) return;
  const limit = Number(table.dataset.limit);
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  // By value, as the page was made.
  const rows = [...body.rows];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const peril = document.getElementById('list-peril');
  const filter = document.getElementById('list-filter');
  const link = document.getElementById('list-csv');
  const sorting = { column: -1, down: false };

  const sortValue = (cell) => (cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v));

  const isHigh = (row) => peril.value === '' || row.dataset.high.split(' ').includes(peril.value);

  const field = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  // A name without its coordinates, which have columns of their own; a location without a name has nothing else.
  const textOf = (cell) => (cell.querySelector('bdi') ?? cell).textContent;
  const exported = (cell) => cell.dataset.csv ?? cell.dataset.v ?? textOf(cell).trim().replaceAll(/\s+/g, ' ');

  const csv = (shown) => {
    const names = [...heads.map((head) => head.textContent), 'Latitude', 'Longitude'];
    const lines = shown.map((row) => [...row.cells].map(exported).concat(row.dataset.at.split(',')));
    return [names, ...lines].map((line) => line.map(field).join(',')).join('\r\n');
  };

  const show = () => {
    const word = filter.value.trim().toLowerCase();
    // The page has the first of each peril: what is beyond them in a peril is not complete.
    const listed = rows.filter(isHigh).slice(0, limit);
    const shown = listed.filter((row) => texts[rows.indexOf(row)].includes(word));
    if (sorting.column >= 0) {
      const sign = sorting.down ? -1 : 1;
      shown.sort((a, b) => {
        const [x, y] = [sortValue(a.cells[sorting.column]), sortValue(b.cells[sorting.column])];
        return sign * (typeof x === 'number' ? x - y : x.localeCompare(y, 'en'));
      });
    }
    for (const row of rows) row.hidden = true;
    for (const row of shown) row.hidden = false;
    body.append(...shown);
    document.getElementById('list-count').textContent = `${shown.length} of ${listed.length} shown`;
    link.href = `data:text/csv;charset=utf-8,${encodeURIComponent(csv(shown))}`;
  };

  for (const [column, head] of heads.entries()) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      sorting.down = sorting.column === column ? !sorting.down : head.dataset.kind === 'number';
      sorting.column = column;
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', sorting.down ? 'descending' : 'ascending');
      show();
    });
  }
  peril.addEventListener('change', show);
  filter.addEventListener('input', show);
  document.getElementById('list-controls').addEventListener('submit', (event) => event.preventDefault());
  show();
})();
