import { type Category, topicOf } from '../../contract/topics.ts';
import { grouped } from '../../format-numbers.ts';
import type { Distribution } from '../class-sums.ts';
import type { Facts } from '../facts.ts';
import type { TopicFigures } from '../figures.ts';
import { HIGH, HIGHEST, reading, type Scale } from '../scales.ts';
import { shareCell, stackedBar, swatch } from './bars.ts';
import { type Html, html } from './html.ts';
import { inUnit, percent, type ValueUnit } from './numbers.ts';

interface Card {
  readonly title: string;
  readonly scale: Scale;
  readonly distribution: Distribution;
}

/** The sections on natural hazards, nearest sites and measurements, as far as the job asks for them. */
export function distributionSections(facts: Facts, unit: ValueUnit): Html[] {
  const { highest, topics } = facts.figures;
  const all: Card[] =
    highest === null ? [] : [{ title: 'Highest rating of all hazards', scale: HIGHEST, distribution: highest }];
  const of = (category: Category) => topics.filter(({ slug }) => topicOf(slug).category === category).map(cardOf);
  return [
    section(facts, unit, 'hazards', 'Hazards', [...all, ...of('natural')], HAZARDS),
    section(facts, unit, 'sites', 'Nearest sites', of('proximity'), SITES),
    section(facts, unit, 'measurements', 'Measurements', of('measurement'), MEASUREMENTS),
  ].flat();
}

const HAZARDS =
  'The distribution of National Risk Index ratings. A rating compares a place with the rest of the country; it is not a probability.';
const SITES =
  'The distance from each location to the nearest site of each kind. None found: none within the search radius.';
const MEASUREMENTS = 'The category of each location, by measurements nearby or for the county.';

function cardOf({ slug, scale, distribution }: TopicFigures): Card {
  return { title: topicOf(slug).title, scale, distribution };
}

function section(
  { valueName }: Facts,
  unit: ValueUnit,
  id: string,
  title: string,
  cards: readonly Card[],
  says: string,
): Html[] {
  if (cards.length === 0) return [];
  const value = valueName === null ? null : unit;
  return [
    html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
<p class="says">${says}</p>
${cards.length > 3 && glance(cards, value)}
<div class="cards${value === null ? '' : ' valued'}">
${cards.map((card) => cardHtml(card, value))}</div>
</section>
`,
  ];
}

/** An overview: each topic of a section as one bar. The cards have the details. */
function glance(cards: readonly Card[], unit: ValueUnit | null): Html {
  const [{ scale }] = cards as [Card];
  const isOne = cards.every((card) => card.scale.id === scale.id);
  const bars = ({ scale: own }: Card, sums: readonly number[]) =>
    stackedBar(reading(own).map(({ index, of: { tone } }) => ({ tone, part: sums[index]! })));
  return html`<div class="wide" role="region" tabindex="0" aria-label="Table: At a glance">
<table class="glance${unit && ' valued'}">
<caption>At a glance, most severe first${isOne && html`: ${reading(scale).map(({ of: { tone, name } }) => html`<span class="item">${swatch(tone)}${name}</span> `)}`}</caption>
<thead><tr><th scope="col">Topic</th><td class="whole">By locations</td><th scope="col" class="n">${LEADS[scale.id][1]}</th>${
    unit && html`<td class="whole">By value</td><th scope="col" class="n">${LEADS[scale.id][1]}</th>`
  }</tr></thead>
<tbody>
${cards.map((card) => {
  const { title, distribution } = card;
  return html`<tr><th scope="row">${title}</th><td class="whole">${bars(card, distribution.rows)}</td><td class="n">${percent(severe(card, distribution.rows), sum(distribution.rows))}</td>${
    unit &&
    html`<td class="whole">${bars(card, distribution.value)}</td><td class="n">${percent(severe(card, distribution.value), sum(distribution.value))}</td>`
  }</tr>
`;
})}</tbody>
</table>
</div>
`;
}

/** Longer names of classes may wrap. */
const LONG_NAME = 22;

function severe({ scale: { id, ordered } }: Card, sums: readonly number[]): number {
  return sum(sums.slice(LEADS[id][0], ordered));
}

function cardHtml(card: Card, unit: ValueUnit | null): Html {
  const { title, scale, distribution } = card;
  const rows = sum(distribution.rows);
  const value = sum(distribution.value);
  // Always the ordered classes, so that cards can be compared; the others only if they have rows.
  const shown = reading(scale).filter(({ index }) => index < scale.ordered || distribution.rows[index]! > 0);
  return html`<article class="card">
<h3>${title}</h3>
${lead(card, rows, value, unit)}
<table>
<caption class="unseen">${title}: locations${unit === null ? '' : ' and value'} by class</caption>
<thead><tr><th scope="col">${scale.id === 'distance' ? 'Nearest' : 'Class'}</th><th scope="col" class="n">Locations</th><th scope="col" class="n">Share</th>${
    unit === null ? null : html`<th scope="col" class="n">${unit.name}</th><th scope="col" class="n">Share</th>`
  }</tr></thead>
<tbody>
${shown.map(
  ({
    index,
    of: { name, tone },
  }) => html`<tr${distribution.rows[index] === 0 && html` class="zero"`}><th scope="row"${name.length > LONG_NAME && html` class="long-name"`}>${swatch(tone)}${name}</th><td class="n">${grouped(distribution.rows[index]!)}</td>${shareCell(distribution.rows[index]!, rows, tone)}${
    unit === null
      ? null
      : html`<td class="n">${inUnit(distribution.value[index]!, unit)}</td>${shareCell(distribution.value[index]!, value, tone)}`
  }</tr>
`,
)}</tbody>
</table>
</article>
`;
}

/** The headline of a card: the share that is high, near or unhealthy. */
function lead(card: Card, rows: number, value: number, unit: ValueUnit | null): Html {
  const { scale, distribution } = card;
  const ofValue = unit && html`, <b>${percent(severe(card, distribution.value), value)}</b> of value`;
  return html`<p class="lead"><b>${percent(severe(card, distribution.rows), rows)}</b> of locations${ofValue} ${LEADS[scale.id][1]}</p>`;
}

/** The first severe class of each scale, and its description. */
const LEADS: Readonly<Record<Scale['id'], readonly [from: number, words: string]>> = {
  rating: [HIGH, 'Relatively High or Very High'],
  distance: [4, 'within 1 km'],
  air: [2, 'worse than Moderate'],
  radon: [2, 'in Zone 1'],
};

function sum(parts: readonly number[]): number {
  return parts.reduce((all, part) => all + part, 0);
}
