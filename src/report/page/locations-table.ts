import { topicOf } from '../../contract/topics.ts';
import { grouped } from '../../format-numbers.ts';
import { valueOfUnits } from '../../job/scan/value.ts';
import type { Facts } from '../facts.ts';
import { CLASS_LETTERS, type LocationAtRisk } from '../figures.ts';
import { LOCATIONS_KEPT } from '../location-lists.ts';
import { HIGH, VERY_HIGH } from '../scales.ts';
import { capital } from './accumulation.ts';
import { swatch } from './bars.ts';
import { type Html, html, quoted } from './html.ts';
import { measureOf } from './measure.ts';
import { placeText } from './numbers.ts';
import { scrolling, section } from './section.ts';

/**
 * The locations of largest value at risk, for each peril and for all. The page shows the first of all; the script shows those
 * of one peril, sorts, filters and makes the CSV.
 */
export function locationsSection(facts: Facts): Html | null {
  const { figures, valueName, unit } = facts;
  if (figures.highest === null) return null;
  const { locations, natural } = figures;
  const valued = valueName !== null;
  if (locations.length === 0) {
    return section(
      'locations',
      'Locations at risk',
      html`<p>No location is rated Relatively High or Very High for any hazard.</p>`,
    );
  }
  const column = (name: string, kind: 'number' | 'text') =>
    html`<th scope="col"${kind === 'number' && html` class="n"`} data-kind="${kind}">${name}</th>`;
  return section(
    'locations',
    'Locations at risk',
    html`<p class="says">Rated Relatively High or Very High, ${valued ? 'largest value first' : 'most severe first'}: the first ${LOCATIONS_KEPT} for each peril. Rows at the same place are one location.</p>
<form class="controls scripted" id="list-controls" hidden>
<label for="list-peril">Peril</label>
<select id="list-peril"><option value="">All</option>${natural.map((slug, index) => html`<option value="${index}">${topicOf(slug).title}</option>`)}</select>
<label for="list-filter">Filter</label>
<input type="search" id="list-filter" autocomplete="off">
<a id="list-csv" download="locations.csv" href="#locations">Download CSV</a>
<span id="list-count" role="status"></span>
</form>
${scrolling(
  'Locations at risk',
  html`<table class="locations" id="list" data-limit="${LOCATIONS_KEPT}">
<caption class="unseen">Locations at risk</caption>
<thead><tr>${column(capital(unit), 'number')}${column('ID', 'text')}${column('Location', 'text')}${column('County', 'text')}${valued && column(measureOf(facts).name, 'number')}${column('Rows', 'number')}${column('High ratings', 'text')}</tr></thead>
<tbody>
${locations.map((one, index) => lineOf(facts, one, index >= LOCATIONS_KEPT))}</tbody>
</table>`,
)}`,
  );
}

function lineOf(facts: Facts, one: LocationAtRisk, isHidden: boolean): Html {
  const label = facts.labels.get(one.cell);
  const { natural } = facts.figures;
  const rated = (wanted: number) =>
    natural
      .filter((_, index) => CLASS_LETTERS.indexOf(one.classes[index]!) === wanted)
      .map((slug) => topicOf(slug).title);
  const ratings = [
    { tone: '5', name: 'Very High', topics: rated(VERY_HIGH) },
    { tone: '4', name: 'Relatively High', topics: rated(HIGH) },
  ] as const;
  const shown = ratings.filter(({ topics }) => topics.length > 0);
  return html`<tr data-classes="${one.classes}" data-at="${one.lat},${one.lng}"${isHidden && html` hidden`}><td class="n" data-v="${label?.order ?? ''}"${label !== undefined && html` data-csv="${label.part === undefined ? '' : `${label.part}:`}${label.line}"`}>${label ? placeText(label) : '–'}</td><td>${label !== undefined && label.id !== '' && quoted(label.id)}</td><th scope="row">${label !== undefined && label.name !== '' && html`${quoted(label.name)}<br>`}<small>${one.lat}, ${one.lng}</small></th><td>${one.county}</td>${
    facts.valueName !== null &&
    html`<td class="n" data-v="${valueOfUnits(one.value, facts.decimals)}">${measureOf(facts).shown(one.value)}</td>`
  }<td class="n" data-v="${one.rows}">${grouped(one.rows)}</td><td data-csv="${shown.map(({ name, topics }) => `${name}: ${topics.join(', ')}`).join('; ')}">${shown.map(({ tone, name, topics }) => html`<p>${swatch(tone)}<b>${name}</b> ${topics.join(', ')}</p>`)}</td></tr>
`;
}
