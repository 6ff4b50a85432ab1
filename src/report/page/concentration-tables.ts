import { counted, grouped } from '../../format-numbers.ts';
import type { Facts } from '../facts.ts';
import type { AreaFigures } from '../figures.ts';
import { shareCell } from './bars.ts';
import { type Html, html } from './html.ts';
import { inUnit, percent, type ValueUnit } from './numbers.ts';

const STATES_SHOWN = 12;
const COUNTIES_SHOWN = 20;

/** The largest states and counties, and the rest in one line. */
export function concentrationSection({ figures, valueName }: Facts, unit: ValueUnit): Html {
  const value = valueName === null ? null : unit;
  const hasRatings = figures.highest !== null;
  return html`<section id="concentration" aria-labelledby="concentration-title">
<h2 id="concentration-title">Concentration</h2>
<p class="says">${value === null ? 'Most locations first.' : 'Largest value first.'} ${hasRatings && 'Very High: rated Very High for at least one hazard.'} The county is the one whose outline contains the location.</p>
${table('By state', figures.states, STATES_SHOWN, ['state', 'states'], value, hasRatings)}
${table('By county', figures.counties, COUNTIES_SHOWN, ['county', 'counties'], value, hasRatings)}
</section>
`;
}

function table(
  title: string,
  areas: readonly AreaFigures[],
  most: number,
  [one, many]: readonly [string, string],
  unit: ValueUnit | null,
  hasRatings: boolean,
): Html {
  const all = sumOf(areas, 'All');
  const rest = areas.slice(most);
  const line = (area: AreaFigures) =>
    html`<th scope="row">${area.name}</th><td class="n">${grouped(area.rows)}</td>${shareCell(area.rows, all.rows)}${
      unit && html`<td class="n">${inUnit(area.value, unit)}</td>${shareCell(area.value, all.value)}`
    }${hasRatings && html`<td class="n">${percent(area.veryHigh.rows, area.rows)}</td>`}${
      hasRatings && unit && html`<td class="n">${percent(area.veryHigh.value, area.value)}</td>`
    }`;
  return html`<h3>${title}</h3>
<div class="wide" role="region" tabindex="0" aria-label="Table: ${title}">
<table class="areas">
<caption class="unseen">${title}: ${counted(areas.length, one, many)}</caption>
<thead><tr><th scope="col">${one === 'state' ? 'State' : 'County'}</th><th scope="col" class="n">Locations</th><th scope="col" class="n">Share</th>${
    unit && html`<th scope="col" class="n">${unit.name}</th><th scope="col" class="n">Share</th>`
  }${hasRatings && html`<th scope="col" class="n">Very High, of locations</th>`}${
    hasRatings && unit && html`<th scope="col" class="n">Very High, of value</th>`
  }</tr></thead>
<tbody>
${areas.slice(0, most).map(
  (area) => html`<tr>${line(area)}</tr>
`,
)}${
  rest.length > 0 &&
  html`<tr class="rest">${line(sumOf(rest, `${counted(rest.length, 'other')}`))}</tr>
`
}</tbody>
<tfoot><tr>${line(all)}</tr></tfoot>
</table>
</div>
`;
}

function sumOf(areas: readonly AreaFigures[], name: string): AreaFigures {
  const sum = { name, rows: 0, value: 0, veryHigh: { rows: 0, value: 0 } };
  for (const { rows, value, veryHigh } of areas) {
    sum.rows += rows;
    sum.value += value;
    sum.veryHigh.rows += veryHigh.rows;
    sum.veryHigh.value += veryHigh.value;
  }
  return sum;
}
