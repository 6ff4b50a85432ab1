import { effect, signal } from '@preact/signals';
import { ErrorBox, Fold, html, Options } from './html.js';
import { counted, grouped } from './numbers.js';
import { choose, chosen, file, fileId, folds, price, readAgain } from './state.js';

const readError = signal(null);

/** It is of one file. */
effect(() => {
  void fileId.value;
  readError.value = null;
});

/** A column without a name is shown by its number, from 1. @param index from 0 */
const nameOf = (name, index) => name || `column ${index + 1}`;

/** Reads the file again. An error is shown in the step. @param header whether the first line has column names */
async function chooseHeader(header) {
  readError.value = null;
  await readAgain(header).catch((error) => {
    if (error.name !== 'AbortError') readError.value = error;
  });
}

/** Which number comes first where one column has both. */
const PLACE_ORDERS = [
  ['', 'As its form and the values show'],
  ['lat,lng', 'Latitude'],
  ['lng,lat', 'Longitude'],
];

/** What is bought first: the most valuable rows where a column looks like a value. */
function orders({ columns: names, order, tiv }) {
  const isSum = order === 'tiv' || chosen.value.order === 'tiv';
  return [
    ['file', 'None: in the order of the file'],
    ...(isSum ? [['tiv', tiv.join(' + ')]] : []),
    ...names.entries().filter(([, name]) => name !== ''),
  ];
}

/** The columns that are read, what the price says of the rows, and the first rows. The pickers are folded where the columns are certain. */
export function ColumnsStep() {
  const { columns: names, note, location } = file.value;
  const { lat, lng, order } = chosen.value;
  const { value, error } = price.answer.value;
  const summary = value?.summary ?? null;
  const [latName, lngName] = [lat, lng].map((index) =>
    index === null ? '?' : nameOf(names[index], index),
  );
  const orderName =
    order === 'file' ? null : orders(file.value).find(([index]) => index === order)[1];
  const line = [latName, lngName, ...(orderName === null ? [] : [`value: ${orderName}`])].join(
    ', ',
  );
  const words = `Latitude: ${latName} · Longitude: ${lngName} · Value: ${orderName ?? 'none'}`;
  const isSure = location !== null && note === null;
  return html`<section id="columns-step" aria-labelledby="columns-title">
    <${Fold} name="columns" title="Columns" line=${line} isOpen=${folds.columns}>
      ${note !== null && html`<p id="columns-note" class="note">${note}</p>`}
      ${isSure ? html`<details id="columns-change"><summary><span>${words} <span class="link">Change</span></span></summary><${Pickers} /></details>` : html`<${Pickers} />`}
      <p id="rows-words" role="status">${summary && rowsWords(summary)}</p>
      ${summary !== null && summary.findings.length > 0 && html`<${Findings} ...${summary} />`}
      <details id="first-fold">
        <summary><h3 id="first-title">First rows</h3></summary>
        <div class="scroll" role="region" aria-labelledby="first-title" tabindex="0"><${FirstRows} /></div>
      </details>
    <//>
    <${ErrorBox} id="columns-error" error=${readError.value ?? (error?.code === 'INPUT_COLUMNS' ? error : null)} />
  </section>`;
}

/** Lists to choose latitude, longitude and value; also the order in a column with both, and whether the first line is data. */
function Pickers() {
  const { columns: names, hasHeaderLine, header } = file.value;
  const options = names.map((name, index) => [index, nameOf(name, index)]);
  const isOne = chosen.value.lat !== null && chosen.value.lat === chosen.value.lng;
  const picker = (name, label) => {
    const index = chosen.value[name];
    const values = index === null ? [['', 'Choose a column'], ...options] : options;
    return html`<p><label for=${name}>${label}</label><select id=${name} onChange=${({ currentTarget }) => choose({ [name]: Number(currentTarget.value) })}>
      <${Options} values=${values} chosen=${index ?? ''} />
    </select></p>`;
  };
  return html`<div class="pair">
      ${picker('lat', 'Latitude')}
      ${picker('lng', 'Longitude')}
      ${
        isOne &&
        html`<p><label for="place-order">In this column comes first</label><select id="place-order" onChange=${({ currentTarget: { value } }) => choose({ placeOrder: value || null })}>
        <${Options} values=${PLACE_ORDERS} chosen=${chosen.value.placeOrder ?? ''} />
      </select></p>`
      }
      <p><label for="order">Value: largest first</label><select id="order" onChange=${({ currentTarget: { value } }) => choose({ order: /^\d+$/.test(value) ? Number(value) : value })}>
        <${Options} values=${orders(file.value)} chosen=${chosen.value.order} />
      </select></p>
    </div>
    ${hasHeaderLine && html`<p id="header-choice"><label class="check"><input type="checkbox" id="no-header" checked=${!header} onChange=${({ currentTarget }) => chooseHeader(!currentTarget.checked)} />The first line is data, not column names</label></p>`}`;
}

/** The number of rows, of located ones and of distinct places; of rows invalid or outside the US only where there are any. */
function rowsWords({ rows, located, invalid, outside_us, cells }) {
  const parts = [
    `${grouped(located)} located`,
    invalid > 0 ? `${grouped(invalid)} invalid` : '',
    outside_us > 0 ? `${grouped(outside_us)} outside the US` : '',
  ];
  return `${counted(rows, 'row')}: ${parts.filter(Boolean).join(', ')}; ${counted(cells, 'distinct place')}.`;
}

/** One table row for each problem: the first row that has it, counted in `unit`, how many have it, and the reason. */
function Findings({ findings, unit }) {
  return html`<div id="findings">
    <h3>Problems in the rows</h3>
    <table>
      <thead><tr><th scope="col" class="number" id="findings-unit">First ${unit}</th><th scope="col" class="number">Rows</th><th scope="col">Reason</th></tr></thead>
      <tbody id="findings-rows">${findings.map(({ first_line, rows, note }) => html`<tr key=${note}><td class="number">${grouped(first_line)}</td><td class="number">${grouped(rows)}</td><td>${note}</td></tr>`)}</tbody>
    </table>
  </div>`;
}

/** The location columns come first: in a wide file they would be hard to find. */
function FirstRows() {
  const { columns: names, first, unit } = file.value;
  const places = [chosen.value.lat, chosen.value.lng].filter((index) => index !== null);
  const order = [...places, ...names.keys().filter((index) => !places.includes(index))];
  const kind = (index) => (places.includes(index) ? 'place' : undefined);
  return html`<table id="first" class="data">
    <thead><tr><th scope="col" class="number">${unit[0].toUpperCase() + unit.slice(1)}</th>${order.map((index) => html`<th key=${index} scope="col" class=${kind(index)}>${nameOf(names[index], index)}</th>`)}</tr></thead>
    <tbody>${first.map(({ line, fields }) => html`<tr key=${line}><th scope="row" class="number">${grouped(line)}</th>${order.map((index) => html`<td key=${index} class=${kind(index)}>${fields[index] ?? ''}</td>`)}</tr>`)}</tbody>
  </table>`;
}
