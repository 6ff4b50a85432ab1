import { counted } from '../../base/format-numbers.ts';
import { type Facts, measureOf, percent, type TopicFacts } from '../figures/facts.ts';
import { HIGH, VERY_HIGH } from '../figures/scales.ts';
import { findHeadline } from '../figures/story.ts';
import type { MapFigures } from '../map/map-bins.ts';
import { type Html, html, stackedBar, swatch, table } from './html.ts';
import { firstLayer, layerOf, mapFigure } from './map-figure.ts';

/** The first screen: value (or locations) at risk by peril, the largest first, beside the map. */
export function riskSection(facts: Facts, map: MapFigures): Html {
  const title = facts.highest === null ? 'Map of the locations' : atRiskTitle(facts);
  return html`<section id="risk" aria-labelledby="risk-title">
<h2 id="risk-title">${title}</h2>
<div class="first${facts.highest === null && ' alone'}">
${facts.highest !== null && perilsTable(facts)}
${mapFigure(facts, map)}
</div>
</section>
`;
}

function atRiskTitle({ valueName }: Facts): string {
  return `${valueName === null ? 'Locations' : 'Value'} at risk by peril`;
}

/** `100 % of the value is answered` if that holds for all perils; else each shows its own share. */
function sharedAnswered(perils: readonly TopicFacts[], facts: Facts): string | null {
  const { of } = measureOf(facts);
  const [first, ...others] = perils.map(({ answered }) => answered);
  const isShared =
    first && others.every((sum) => of(sum) === of(first) && sum.locations === first.locations);
  return isShared ? percent(of(first), of(facts.all)) : null;
}

function atRiskPerils({ topics }: Facts): TopicFacts[] {
  return topics.filter(({ category, severe }) => category === 'natural' && severe.locations > 0);
}

function perilsTable(facts: Facts): Html {
  const measure = measureOf(facts);
  const { of, shown } = measure;
  const perils = facts.topics.filter(({ category }) => category === 'natural');
  const lines = atRiskPerils(facts).sort(
    (a, b) => of(b.severe) - of(a.severe) || of(b.classes[VERY_HIGH]!) - of(a.classes[VERY_HIGH]!),
  );
  const answered = sharedAnswered(perils, facts);
  const of_ = measure.by === 'value' ? 'of the value' : 'of the locations';
  const first = firstLayer(facts);
  const isPartly = lines.some(({ notAnswered }) => of(notAnswered) > 0);
  const heads = html`<th scope="col">Peril</th><td class="long"></td><th scope="col" class="n">Very High</th><th scope="col" class="n">At risk</th><th scope="col" class="n">Of answered</th>${answered === null && html`<th scope="col" class="n">${answeredName(facts)}</th>`}`;
  const rows = lines.map((peril) => {
    const veryHigh = of(peril.classes[VERY_HIGH]!);
    const parts = [
      { tone: '5', part: veryHigh },
      { tone: '4', part: of(peril.classes[HIGH]!) },
      { tone: 'rest', part: of(peril.answered) - of(peril.severe) },
    ] as const;
    const whole = [...parts, { tone: 'unanswered', part: of(peril.notAnswered) }] as const;
    const layer = layerOf(facts, peril.topic);
    return html`<tr data-layer="${layer}"${layer === first && html` class="chosen"`}><th scope="row">${peril.title}</th><td class="long"><div class="of-answered">${stackedBar(parts)}</div>${isPartly && html`<div class="of-all">${stackedBar(whole)}</div>`}</td><td class="n">${percent(veryHigh, of(peril.answered))}</td><td class="n"><b>${shown(of(peril.severe))}</b></td><td class="n">${percent(of(peril.severe), of(peril.answered))}</td>${answered === null && html`<td class="n">${percent(of(peril.answered), of(facts.all))}</td>`}</tr>\n`;
  });
  return html`<div class="perils">
<p class="says">At risk: rated Relatively High or Very High, most first. Shares are of what was answered${
    answered === null ? '' : `: ${answered} ${of_}`
  }. <span class="scripted" hidden>Choose a peril to see it on the map.</span></p>
${lines.length > 0 && table(`${atRiskTitle(facts)}, the largest first`, heads, rows)}
${without(perils, lines)}
${headline(facts)}
${lines.length > 0 && html`<p class="says key-of-bars"><span class="item">${swatch('5')}Very High</span> <span class="item">${swatch('4')}Relatively High</span> <span class="item">${swatch('rest')}other answers</span> ${isPartly ? html`<span class="item of-all">${swatch('unanswered')}not answered</span> <label class="item unprinted"><input type="checkbox" id="bars-of-all"> Bars of all ${measure.by}: ${measure.words(facts.all)}</label>` : html`<span class="item">A whole bar is ${measure.words(facts.all)}.</span>`}</p>`}
</div>`;
}

/** The counties of the first sentence with their sums. */
function headline(facts: Facts): Html | false {
  const finding = findHeadline(facts);
  if (finding === null) return false;
  const { words } = measureOf(facts);
  const counties = finding.peril.mostIn.map((sum) => `${sum.county} (${words(sum)})`).join(', ');
  return html`<p class="without"><b>Most ${finding.rating} for ${finding.title}:</b> <small>${counties}</small></p>`;
}

/** The perils with nothing at risk: one line for answered ones, one for those that are answered in part, one for unanswered ones. */
function without(perils: readonly TopicFacts[], shown: readonly TopicFacts[]): Html[] {
  const others = Map.groupBy(
    perils.filter((peril) => !shown.includes(peril)),
    ({ answered, notAnswered }) =>
      answered.locations === 0
        ? 'not answered'
        : notAnswered.locations === 0
          ? 'nothing high'
          : 'nothing high in what is answered',
  );
  return [...others].map(
    ([says, list]) =>
      html`<p class="without"><b>${counted(list.length, 'peril')}: ${says}.</b> <small>${list.map(({ title }) => title).join(', ')}</small></p>`,
  );
}

/** The head of the column with the answered share, by the same measure as the other shares. */
export function answeredName({ valueName }: Facts): string {
  return valueName === null ? 'Locations answered' : 'Value answered';
}
