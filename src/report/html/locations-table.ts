import { grouped } from '../../base/format-numbers.ts';
import { topicOf } from '../../contract/topics.ts';
import {
  type Facts,
  lineText,
  measureOf,
  type PlaceAtRisk,
  type TopicFacts,
} from '../figures/facts.ts';
import { PLACES_KEPT } from '../figures/place-lists.ts';
import { HIGH, VERY_HIGH } from '../figures/scales.ts';
import {
  capital,
  type Html,
  html,
  isolateText,
  jsonData,
  makeScrollable,
  section,
} from './html.ts';

/** The places of largest value at risk, for each peril and for all. The script selects a peril, sorts, filters and makes the CSV. */
export function locationsSection(facts: Facts): Html | null {
  const { highest, locations, topics, valueName, unit, output } = facts;
  if (highest === null) return null;
  const all = output !== null && html` All rows are in ${isolateText(output)}.`;
  const natural = topics.filter(({ category }) => category === 'natural');
  if (locations.length === 0) {
    return section(
      'locations',
      'Locations at risk',
      html`<p>No ${natural.every(({ notAnswered }) => notAnswered.locations === 0) ? 'location' : 'answer'} is rated Relatively High or Very High for any hazard.${all}</p>`,
    );
  }
  const valued = valueName !== null;
  const column = (name: string, kind: 'number' | 'text') =>
    html`<th scope="col"${kind === 'number' && html` class="n"`} data-kind="${kind}">${name}</th>`;
  return section(
    'locations',
    'Locations at risk',
    html`<p class="says">Rated Relatively High or Very High, ${valued ? 'largest value first' : 'most severe first'}: the first ${PLACES_KEPT} places for each peril. Locations at the same place are one line.${all}</p>
<form class="controls scripted" id="list-controls" hidden>
<label for="list-peril">Peril</label>
<select id="list-peril"><option value="">All</option>${natural.map(({ title }, peril) => html`<option value="${peril}">${title}</option>`)}</select>
<label for="list-filter">Filter</label>
<input type="search" id="list-filter" autocomplete="off">
<a id="list-csv" download="locations.csv" href="#locations">Download CSV</a>
<span id="list-count" role="status"></span>
</form>
${makeScrollable(
  'Locations at risk',
  html`<table class="locations" id="list" data-limit="${PLACES_KEPT}">
<caption class="unseen">Locations at risk</caption>
<thead><tr>${column(capital(unit), 'number')}${column('ID', 'text')}${column('Location', 'text')}${column('County', 'text')}${valued && column(measureOf(facts).name, 'number')}${column('Locations', 'number')}${column('High ratings', 'text')}</tr></thead>
<tbody>
${locations.map((place, index) => formatLine(facts, place, index >= PLACES_KEPT))}</tbody>
</table>`,
)}<script type="application/json" id="list-ratings">${jsonData(locations.map(({ ratings }) => ratingsByPeril(ratings, natural)))}</script>
`,
  );
}

/** By the number of the peril: class, score and frequency. */
function ratingsByPeril(ratings: PlaceAtRisk['ratings'], natural: readonly TopicFacts[]): object {
  const perils = ratings.map(({ topic, rating, score, frequency }) => [
    natural.findIndex((peril) => peril.topic === topic),
    [rating === 'Very High' ? VERY_HIGH : HIGH, score, frequency],
  ]);
  return Object.fromEntries(perils);
}

const TONES = [
  ['Very High', '5'],
  ['Relatively High', '4'],
] as const;

/** Longer ids may be broken: they would take the room of the other columns. */
const LONGEST_WHOLE = 24;

function formatLine(facts: Facts, place: PlaceAtRisk, isHidden: boolean): Html {
  const { id, name, lat, lng, county, value, locations, line, part, order } = place;
  const shown = TONES.map(([rating, tone]) => {
    const topics = place.ratings.filter((rated) => rated.rating === rating);
    return { rating, tone, titles: topics.map(({ topic }) => topicOf(topic).title).join(', ') };
  }).filter(({ titles }) => titles !== '');
  return html`<tr data-at="${lat},${lng}"${isHidden && html` hidden`}><td class="n" data-name="${capital(facts.unit)}" data-v="${order}" data-csv="${part === undefined ? '' : `${part}:`}${line}">${lineText(place)}</td><td data-name="ID"${id.length <= LONGEST_WHOLE && html` class="whole"`}>${id !== '' && isolateText(id)}</td><th scope="row">${name !== '' && html`${isolateText(name)}<br>`}<small>${lat}, ${lng}</small></th><td data-county="${county}">${county}</td>${
    value !== null &&
    html`<td class="n" data-name="Value" data-v="${value}">${measureOf(facts).shown(value)}</td>`
  }<td class="n" data-name="Locations" data-v="${locations}">${grouped(locations)}</td><td>${shown.map(({ tone, rating, titles }) => html`<p class="rated-${tone}"><b>${rating}</b> ${titles}</p>`)}</td></tr>
`;
}
