import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import { counted, grouped } from '../../format-numbers.ts';
import type { Facts } from '../facts.ts';
import type { WorstLocation } from '../figures.ts';
import { swatch } from './bars.ts';
import { type Html, html, quoted } from './html.ts';
import { inUnit, type ValueUnit } from './numbers.ts';

/** The hundred locations with the most severe ratings. */
export function worstSection(facts: Facts, unit: ValueUnit): Html | null {
  const { figures, valueName, names } = facts;
  if (figures.highest === null) return null;
  const value = valueName === null ? null : unit;
  const { worst } = figures;
  return html`<section id="worst" aria-labelledby="worst-title">
<h2 id="worst-title">Most severe locations</h2>
${
  worst.length === 0
    ? html`<p>No location is rated Relatively High or Very High for any hazard.</p>`
    : html`<p class="says">${counted(worst.length, 'location')}: ordered by hazards rated Very High, then Relatively High${value && ', then by value'}. Rows at the same place are one location.</p>
<div class="wide" role="region" tabindex="0" aria-label="Table: Most severe locations">
<table class="worst">
<caption class="unseen">Most severe locations with their high ratings</caption>
<thead><tr><th scope="col" class="n">Row</th><th scope="col">Location</th>${value && html`<th scope="col" class="n">${value.name}</th>`}<th scope="col">High ratings</th></tr></thead>
<tbody>
${worst.map((one) => lineOf(one, names.get(one.cell), value))}</tbody>
</table>
</div>
`
}</section>
`;
}

function lineOf(one: WorstLocation, name: { row: number; name: string } | undefined, unit: ValueUnit | null): Html {
  const more = one.rows > 1 && html` <small>and ${counted(one.rows - 1, 'more row')}</small>`;
  return html`<tr><td class="n">${name ? grouped(name.row) : '–'}</td><th scope="row">${name !== undefined && name.name !== '' && html`${quoted(name.name)}<br>`}<small>${one.lat}, ${one.lng}${one.county !== '' && ` · ${one.county}`}</small>${more}</th>${
    unit && html`<td class="n">${inUnit(one.value, unit)}</td>`
  }<td>${rated('5', 'Very High', one.veryHigh)}${rated('4', 'Relatively High', one.high)}</td></tr>
`;
}

function rated(tone: '4' | '5', rating: string, topics: readonly TopicSlug[]): Html | false {
  if (topics.length === 0) return false;
  return html`<p>${swatch(tone)}<b>${rating}</b> ${topics.map((slug) => topicOf(slug).title).join(', ')}</p>`;
}
