import { topicOf } from '../../contract/topics.ts';
import type { Distribution } from '../class-sums.ts';
import { answeredOf } from '../class-sums.ts';
import type { Facts } from '../facts.ts';
import { HIGH, HIGHEST, VERY_HIGH } from '../scales.ts';
import { stackedBar, swatch } from './bars.ts';
import { type Html, html } from './html.ts';
import { layerOf, mapFigure } from './map-figure.ts';
import { measureOf } from './measure.ts';
import { percent } from './numbers.ts';

/** The first screen: value (or locations) at risk by peril, the largest first, beside the map. */
export function riskSection(facts: Facts): Html {
  const title = facts.figures.highest === null ? 'Map of the locations' : atRiskTitle(facts);
  return html`<section id="risk" aria-labelledby="risk-title">
<h2 id="risk-title">${title}</h2>
<div class="first${facts.figures.highest === null && ' alone'}">
${facts.figures.highest !== null && perils(facts)}
${mapFigure(facts)}
</div>
</section>
`;
}

function atRiskTitle({ valueName }: Facts): string {
  return `${valueName === null ? 'Locations' : 'Value'} at risk by peril`;
}

function perils(facts: Facts): Html {
  const { figures } = facts;
  const measure = measureOf(facts);
  const sumsOf = ({ rows, value }: Distribution) => (measure.by === 'value' ? value : rows);
  const lines = figures.topics
    .filter(({ slug }) => figures.natural.includes(slug))
    .map(({ slug, distribution }) => {
      const sums = sumsOf(distribution);
      const [veryHigh, high] = [sums[VERY_HIGH]!, sums[HIGH]!];
      return {
        slug,
        veryHigh,
        high,
        answered: answeredOf(sums, HIGHEST),
        rows: answeredOf(distribution.rows, HIGHEST),
      };
    })
    .sort((a, b) => b.veryHigh + b.high - a.veryHigh - a.high || b.veryHigh - a.veryHigh);
  const whole = measure.of(figures);
  return html`<div class="perils">
<p class="says">Rated Very High or Relatively High, most first. Shares are of what was answered. <span class="scripted" hidden>Choose a peril to see it on the map.</span></p>
<table>
<caption class="unseen">${atRiskTitle(facts)}, the largest first</caption>
<thead><tr><th scope="col">Peril</th><td class="long"></td><th scope="col" class="n">At risk</th><th scope="col" class="n">Of answered</th><th scope="col" class="n">${measure.answeredName}</th></tr></thead>
<tbody>
${lines.map(({ slug, veryHigh, high, answered, rows }) => {
  const parts = [
    { tone: '5', part: veryHigh },
    { tone: '4', part: high },
    { tone: 'rest', part: answered - veryHigh - high },
    { tone: 'unanswered', part: Math.max(0, whole - answered) },
  ] as const;
  return html`<tr data-layer="${layerOf(facts, slug)}"${veryHigh + high === 0 && html` class="zero"`}><th scope="row">${topicOf(slug).title}</th><td class="long">${stackedBar(parts)}</td><td class="n"><b>${rows === 0 ? '–' : measure.shown(veryHigh + high)}</b></td><td class="n">${percent(veryHigh + high, answered)}</td><td class="n">${percent(answered, whole)}</td></tr>
`;
})}</tbody>
</table>
<p class="says key-of-bars"><span class="item">${swatch('5')}Very High</span> <span class="item">${swatch('4')}Relatively High</span> <span class="item">${swatch('rest')}other answers</span> <span class="item">${swatch('unanswered')}not answered</span> <span class="item">A whole bar is ${measure.shown(whole)}${measure.by === 'rows' && ' locations'}.</span></p>
</div>`;
}
