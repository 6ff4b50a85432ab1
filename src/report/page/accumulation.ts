import { topicOf } from '../../contract/topics.ts';
import { counted, grouped } from '../../format-numbers.ts';
import type { Facts } from '../facts.ts';
import type { AreaFigures, RowsAndValue } from '../figures.ts';
import { heatCell } from './bars.ts';
import { type Html, html, quoted } from './html.ts';
import { type Measure, measureOf } from './measure.ts';
import { percent, placeText } from './numbers.ts';
import { block, section } from './section.ts';

const STATES_SHOWN = 12;
const COUNTIES_SHOWN = 20;

/** Perils beyond these are not printed: a browser would print the whole report smaller, so that 18 columns fit. */
const PERILS_PRINTED = 10;

/** Where locations and values accumulate: the largest counties by peril, circles, states. */
export function accumulationSection(facts: Facts): Html {
  const { figures } = facts;
  const measure = measureOf(facts);
  return section(
    'accumulation',
    'Accumulation',
    html`${areaTable(facts, measure, 'County', figures.counties, COUNTIES_SHOWN)}
${circles(facts, measure)}
${figures.states.length > 1 && areaTable(facts, measure, 'State', figures.states, STATES_SHOWN)}`,
  );
}

/** A matrix of areas and perils; the rest and the sum at its end. */
function areaTable(
  { figures }: Facts,
  measure: Measure,
  head: 'County' | 'State',
  areas: readonly AreaFigures[],
  most: number,
): Html {
  const atRisk = (area: AreaFigures, peril: number) => measure.of(area.perils[peril]!.atRisk);
  const all = sumOf(areas, 'All');
  const perils = [...figures.natural.keys()]
    .filter((peril) => atRisk(all, peril) > 0)
    .sort((a, b) => atRisk(all, b) - atRisk(all, a));
  const shown = areas.slice(0, most);
  const rest = areas.slice(most);
  const largest = Math.max(0, ...shown.flatMap((area) => perils.map((peril) => atRisk(area, peril))));
  const rated = figures.highest !== null;
  const line = (area: AreaFigures, isHot: boolean) =>
    html`<th scope="row">${area.name}</th><td class="n">${grouped(area.rows)}</td>${
      measure.by === 'value' && html`<td class="n">${measure.shown(area.value)}</td>`
    }<td class="n">${percent(measure.of(area), measure.of(all))}</td>${
      rated &&
      html`<td class="n">${percent(measure.of(area.answered), measure.of(area))}</td><td class="n">${percent(measure.of(area.veryHigh), measure.of(area.answered))}</td>`
    }${perils.map((peril, at) => heatCell(area.perils[peril]!.answered.rows === 0 ? '–' : atRisk(area, peril) === 0 ? '·' : measure.shown(atRisk(area, peril)), isHot ? atRisk(area, peril) / largest : 0, at >= PERILS_PRINTED))}`;
  const title = `By ${head.toLowerCase()}${perils.length > 0 ? ' and peril' : ''}`;
  return block(
    title,
    html`${
      rated &&
      html`Perils: ${measure.by === 'value' ? 'value' : 'locations'} rated Relatively High or Very High. Very High: the share of what was answered that is Very High for at least one hazard. A dot (·) is none, a dash (–) not answered. `
    }The ${head.toLowerCase()} is the one whose outline contains the location.${
      perils.length > PERILS_PRINTED &&
      html`<span class="printed"> Printed: the ${PERILS_PRINTED} perils with most at risk, of ${perils.length}.</span>`
    }`,
    html`<table class="matrix">
<caption class="unseen">${title}: ${counted(areas.length, head === 'State' ? 'state' : 'county', head === 'State' ? 'states' : 'counties')}</caption>
<thead><tr><th scope="col">${head}</th><th scope="col" class="n">Locations</th>${measure.by === 'value' && html`<th scope="col" class="n">${measure.name}</th>`}<th scope="col" class="n">Share</th>${
      rated && html`<th scope="col" class="n">${measure.answeredName}</th><th scope="col" class="n">Very High</th>`
    }${perils.map((peril, at) => html`<th scope="col" class="tall${at >= PERILS_PRINTED && ' unprinted'}"><span>${topicOf(figures.natural[peril]!).title}</span></th>`)}</tr></thead>
<tbody>
${shown.map(
  (area) => html`<tr>${line(area, true)}</tr>
`,
)}${
  rest.length > 0 &&
  html`<tr class="rest">${line(sumOf(rest, counted(rest.length, 'other')), false)}</tr>
`
}</tbody>
<tfoot><tr>${line(all, false)}</tr></tfoot>
</table>`,
  );
}

function circles({ figures, circles: found, labels, units, unit }: Facts, measure: Measure): Html | false {
  if (found.length === 0) return false;
  const width = units === 'miles' ? '1 mile' : '1 km';
  const title = `Top ${found.length === 1 ? 'circle' : `${found.length} circles`} with a radius of ${width}`;
  const whole = measure.of(figures);
  const all = sumOfParts(found);
  return block(
    title,
    html`Each is centered on a location. A location counts in one circle only.`,
    html`<table class="circles">
<caption class="unseen">${title}</caption>
<thead><tr><th scope="col" class="n">#</th><th scope="col">Center</th><th scope="col" class="n">${capital(unit)} of the file</th><th scope="col" class="n">Places</th><th scope="col" class="n">Locations</th>${measure.by === 'value' && html`<th scope="col" class="n">${measure.name}</th>`}<th scope="col" class="n">Share of ${measure.by === 'value' ? 'value' : 'locations'}</th></tr></thead>
<tbody>
${found.map((circle, index) => {
  const label = labels.get(circle.cell);
  const texts = [label?.id ?? '', label?.name ?? ''].filter(Boolean).join(' · ');
  return html`<tr><td class="n">${index + 1}</td><th scope="row">${texts !== '' && html`${quoted(texts)} `}<small>${circle.lat}, ${circle.lng}${circle.county !== '' && ` · ${circle.county}`}</small></th><td class="n">${label ? placeText(label) : '–'}</td><td class="n">${grouped(circle.places)}</td><td class="n">${grouped(circle.rows)}</td>${measure.by === 'value' && html`<td class="n">${measure.shown(circle.value)}</td>`}<td class="n">${percent(measure.of(circle), whole)}</td></tr>
`;
})}</tbody>
<tfoot><tr><td></td><th scope="row">All</th><td></td><td class="n">${grouped(found.reduce((sum, { places }) => sum + places, 0))}</td><td class="n">${grouped(all.rows)}</td>${measure.by === 'value' && html`<td class="n">${measure.shown(all.value)}</td>`}<td class="n">${percent(measure.of(all), whole)}</td></tr></tfoot>
</table>`,
  );
}

export function capital(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1);
}

function sumOf(areas: readonly AreaFigures[], name: string): AreaFigures {
  return {
    name,
    ...sumOfParts(areas),
    answered: sumOfParts(areas.map(({ answered }) => answered)),
    veryHigh: sumOfParts(areas.map(({ veryHigh }) => veryHigh)),
    perils: (areas[0]?.perils ?? []).map((_, peril) => ({
      answered: sumOfParts(areas.map(({ perils }) => perils[peril]!.answered)),
      atRisk: sumOfParts(areas.map(({ perils }) => perils[peril]!.atRisk)),
    })),
  };
}

function sumOfParts(parts: readonly RowsAndValue[]): RowsAndValue {
  return parts.reduce<RowsAndValue>((a, b) => ({ rows: a.rows + b.rows, value: a.value + b.value }), {
    rows: 0,
    value: 0,
  });
}
