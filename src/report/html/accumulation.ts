import { counted, grouped } from '../../base/format-numbers.ts';
import { isZoneTopic, topicOf } from '../../contract/topics.ts';
import type { AreaFacts, AreaList } from '../figures/concentration.ts';
import { type Facts, lineText, measureOf, percent } from '../figures/facts.ts';
import type { PlaceLabel } from '../figures/named-rows.ts';
import { atRiskWords } from '../figures/scales.ts';
import {
  block,
  capital,
  type Html,
  type HtmlPart,
  heatCell,
  html,
  isolateText,
  section,
  table,
} from './html.ts';

/** Further perils are not printed: to fit 18 columns, a browser would shrink the whole report. */
const PERILS_PRINTED = 10;

/** Where locations and values accumulate: the largest counties by peril, circles, states. */
export function accumulationSection(facts: Facts): Html {
  return section(
    'accumulation',
    'Accumulation',
    html`${areaTables(facts, 'County', facts.counties)}
${circles(facts)}
${facts.states.count > 1 && areaTables(facts, 'State', facts.states)}`,
  );
}

/** The largest areas, then their perils; the rest and the sum at the end of both tables. */
function areaTables(facts: Facts, head: 'County' | 'State', list: AreaList): Html {
  const measure = measureOf(facts);
  const { of } = measure;
  const atRisk = (area: AreaFacts, peril: number) => of(area.perils[peril]!.severe);
  const { largest, all } = list;
  const perils = [...all.perils.keys()]
    .filter((peril) => atRisk(all, peril) > 0)
    .sort((a, b) => atRisk(all, b) - atRisk(all, a));
  const most = Math.max(
    0,
    ...largest.flatMap((area) => perils.map((peril) => atRisk(area, peril))),
  );
  const rated = facts.highest !== null;
  const sums = (area: AreaFacts) =>
    html`<td class="n">${grouped(area.locations)}</td>${
      measure.by === 'value' && html`<td class="n">${measure.shown(of(area))}</td>`
    }<td class="n">${percent(of(area), of(all))}</td>${
      rated &&
      html`<td class="n">${percent(of(area.answered), of(area))}</td><td class="n">${percent(of(area.veryHigh), of(area.answered))}</td>`
    }`;
  const heads = html`<th scope="col" class="n">Locations</th>${measure.by === 'value' && html`<th scope="col" class="n">${measure.name}</th>`}<th scope="col" class="n">Share</th>${
    rated &&
    html`<th scope="col" class="n">With a rating</th><th scope="col" class="n">Very High for a hazard</th>`
  }`;
  const cells = (area: AreaFacts, isHot: boolean) =>
    perils.map((peril, at) => {
      const [value, { answered }] = [atRisk(area, peril), area.perils[peril]!];
      const text = answered.locations === 0 ? '–' : value === 0 ? '·' : measure.shown(value);
      return heatCell(text, isHot ? value / most : 0, {
        tone: null,
        isUnprinted: at >= PERILS_PRINTED,
      });
    });
  const perilHeads = perils.map(
    (peril, at) =>
      html`<th scope="col" class="tall${at >= PERILS_PRINTED && ' unprinted'}"><span>${topicOf(all.perils[peril]!.topic).title}</span></th>`,
  );
  const known = all.perils.some(({ topic }) => isZoneTopic(topic))
    ? 'answered or determined'
    : 'answered';
  const by = `By ${head.toLowerCase()}`;
  const risk = `At risk ${by.toLowerCase()} and peril`;
  return html`${block(
    by,
    html`The ${head.toLowerCase()} is the one whose outline contains the location; off the coast, the nearest.${
      rated &&
      ` With a rating: the share of the ${measure.by === 'value' ? 'value' : 'locations'} answered for at least one hazard. Very High for a hazard: the part of these that is Very High for at least one.`
    }`,
    areaTable(by, head, list, 'areas', heads, sums),
  )}${
    perils.length > 0 &&
    block(
      risk,
      html`The ${measure.by} ${atRiskWords(all.perils, facts.units)}. A dot (·) is none of what was ${known}, a dash (–) not ${known}.${
        perils.length > PERILS_PRINTED &&
        html`<span class="printed"> Printed: the ${PERILS_PRINTED} perils with most at risk, of ${perils.length}.</span>`
      }`,
      areaTable(risk, head, list, 'matrix', perilHeads, cells),
    )
  }`;
}

function areaTable(
  title: string,
  head: 'County' | 'State',
  { count, largest, others, all }: AreaList,
  style: 'areas' | 'matrix',
  heads: HtmlPart,
  cells: (area: AreaFacts, isHot: boolean) => HtmlPart,
): Html {
  const line = (area: AreaFacts, isHot: boolean) =>
    html`<th scope="row"${head === 'County' && isHot && html` data-county="${area.name}"`}>${area.name}</th>${cells(area, isHot)}`;
  const rest = others !== null && html`<tr class="rest">${line(others, false)}</tr>\n`;
  const lines = [...largest.map((area) => html`<tr>${line(area, true)}</tr>\n`), rest];
  const caption = `${title}: ${head === 'State' ? counted(count, 'state') : counted(count, 'county', 'counties')}`;
  return table(caption, html`<th scope="col">${head}</th>${heads}`, lines, style, line(all, false));
}

function circles(facts: Facts): Html | false {
  const { circles: shown, units, unit, all } = facts;
  if (shown.length === 0) return false;
  const measure = measureOf(facts);
  const width = units === 'miles' ? '1 mile' : '1 km';
  const title = `Top ${shown.length === 1 ? 'circle' : `${shown.length} circles`} with a radius of ${width}`;
  const heads = html`<th scope="col" class="n">#</th><th scope="col">Center</th><th scope="col" class="n">${capital(unit)} of the file</th><th scope="col" class="n">Places</th><th scope="col" class="n">Locations</th>${measure.by === 'value' && html`<th scope="col" class="n">${measure.name}</th>`}<th scope="col" class="n">Share of ${measure.by}</th>`;
  const lines = shown.map(
    (circle, index) =>
      html`<tr><td class="n">${index + 1}</td><th scope="row">${formatCenter(circle)}</th><td class="n">${lineText(circle)}</td><td class="n">${grouped(circle.places)}</td><td class="n">${grouped(circle.locations)}</td>${measure.by === 'value' && html`<td class="n">${measure.shown(measure.of(circle))}</td>`}<td class="n">${percent(measure.of(circle), measure.of(all))}</td></tr>\n`,
  );
  return block(
    title,
    html`Each is centered on a place. A place counts in one circle only.`,
    table(title, heads, lines, 'circles'),
  );
}

function formatCenter({ id, name, lat, lng, county }: PlaceLabel): Html {
  const texts = [id, name].filter(Boolean).join(' · ');
  return html`${texts !== '' && html`${isolateText(texts)} `}<small>${lat}, ${lng}${county !== '' && ` · ${county}`}</small>`;
}
