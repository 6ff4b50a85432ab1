import { type Category, topicOf } from '../../contract/topics.ts';
import { grouped } from '../../format-numbers.ts';
import { answeredOf, type Distribution, sumOfClasses } from '../class-sums.ts';
import type { Facts } from '../facts.ts';
import { HIGHEST, reading, type Scale, severeClasses, unansweredClass } from '../scales.ts';
import { heatCell, shareCell, swatch } from './bars.ts';
import { type Html, html } from './html.ts';
import { type Measure, measureOf } from './measure.ts';
import { percent } from './numbers.ts';
import { scrolling, section } from './section.ts';

interface Line {
  readonly title: string;
  readonly scale: Scale;
  readonly distribution: Distribution;
}

/** One table for natural hazards, nearest sites and measurements each, as far as the job asks for them. */
export function heatSections(facts: Facts): Html[] {
  const { highest, topics } = facts.figures;
  const of = (category: Category) =>
    topics
      .filter(({ slug }) => topicOf(slug).category === category)
      .map(({ slug, ...rest }) => ({ title: topicOf(slug).title, ...rest }));
  const natural = of('natural');
  const all = highest === null ? [] : [{ title: 'Highest of all hazards', scale: HIGHEST, distribution: highest }];
  const measured = of('measurement');
  const air = measured.filter(({ scale }) => scale.id === 'air');
  const radon = measured.filter(({ scale }) => scale.id === 'radon');
  return [
    ...part(facts, 'hazards', 'Hazards', [[...all, ...natural]], HAZARDS),
    ...part(facts, 'sites', 'Nearest sites', [of('proximity')], SITES),
    ...part(facts, 'measurements', 'Measurements', [air, radon], MEASUREMENTS),
  ];
}

const HAZARDS =
  'National Risk Index ratings. A rating compares a place with the rest of the country; it is not a probability.';
const SITES =
  'The distance from each location to the nearest site of each kind. None found: none within the search radius.';
const MEASUREMENTS = 'The category of each location, by measurements nearby or for the county.';

function part(facts: Facts, id: string, title: string, groups: readonly (readonly Line[])[], says: string): Html[] {
  const shown = groups.filter((lines) => lines.length > 0);
  if (shown.length === 0) return [];
  const measure = measureOf(facts);
  const by = measure.by === 'value' ? 'value' : 'locations';
  return [
    section(
      id,
      title,
      html`<p class="says">${says} Shares are of the ${by} that ${measure.by === 'value' ? 'was' : 'were'} answered.</p>
${shown.map((lines) => {
  const name = shown.length === 1 ? title : `${title}, ${lines.map((line) => line.title).join(', ')}`;
  return html`${heatTable(facts, measure, name, lines)}${details(measure, name, lines)}`;
})}`,
    ),
  ];
}

/** The share of each class, of what was answered. */
function heatTable({ figures, units }: Facts, measure: Measure, title: string, lines: readonly Line[]): Html {
  const { scale } = lines[0]!;
  const unanswered = unansweredClass(scale);
  const used = reading(scale).filter(
    ({ index }) =>
      index < scale.ordered || (index < unanswered && lines.some(({ distribution }) => distribution.rows[index]! > 0)),
  );
  const { from, words } = severeClasses(scale, units);
  const name = `${title}: share of each class`;
  return scrolling(
    name,
    html`<table class="heat">
<caption class="unseen">${name}</caption>
<thead><tr><th scope="col">Topic</th>${used.map(({ of: { name: of, tone } }) => html`<th scope="col" class="n">${swatch(tone)}${of}</th>`)}<th scope="col" class="n">${words}</th><th scope="col" class="n">${measure.answeredName}</th></tr></thead>
<tbody>
${lines.map(({ title: topic, distribution }) => {
  const sums = measure.by === 'value' ? distribution.value : distribution.rows;
  const answered = answeredOf(sums, scale);
  return html`<tr><th scope="row">${topic}</th>${used.map(({ index }) => heatCell(percent(sums[index]!, answered), answered === 0 ? 0 : sums[index]! / answered))}<td class="n"><b>${percent(sumOfClasses(sums, from, scale.ordered), answered)}</b></td><td class="n">${percent(answered, measure.of(figures))}</td></tr>
`;
})}</tbody>
</table>`,
  );
}

/** The numbers behind the shares, folded. */
function details(measure: Measure, title: string, lines: readonly Line[]): Html {
  const valued = measure.by === 'value';
  const name = `${title}: locations${valued ? ' and value' : ''} of each class`;
  return html`<details class="numbers"><summary>Locations${valued && ' and value'} of each class</summary>
${scrolling(
  name,
  html`<table class="classes">
<caption class="unseen">${name}</caption>
<thead><tr><th scope="col">Topic</th><th scope="col">Class</th><th scope="col" class="n">Locations</th><th scope="col" class="n">Of answered</th>${valued && html`<th scope="col" class="n">${measure.name}</th><th scope="col" class="n">Of answered</th>`}</tr></thead>
${lines.map(({ title: topic, scale, distribution: { rows, value } }) => {
  const shown = reading(scale).filter(({ index }) => rows[index]! > 0);
  const [ofRows, ofValue] = [answeredOf(rows, scale), answeredOf(value, scale)];
  const none = unansweredClass(scale);
  return html`<tbody>
${shown.map(({ index, of }, at) => {
  const share = (part: number, whole: number) =>
    index === none ? html`<td class="n">–</td>` : shareCell(part, whole, of.tone);
  return html`<tr>${at === 0 && html`<th scope="rowgroup" rowspan="${shown.length}">${topic}</th>`}<th scope="row">${swatch(of.tone)}${of.name}</th><td class="n">${grouped(rows[index]!)}</td>${share(rows[index]!, ofRows)}${valued && html`<td class="n">${measure.shown(value[index]!)}</td>${share(value[index]!, ofValue)}`}</tr>
`;
})}</tbody>
`;
})}</table>`,
)}</details>
`;
}
