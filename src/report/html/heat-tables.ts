import { grouped } from '../../base/format-numbers.ts';
import { type Facts, type Measure, measureOf, percent } from '../figures/facts.ts';
import {
  HIGHEST,
  knownWord,
  reading,
  type Scale,
  scaleOf,
  unansweredClass,
} from '../figures/scales.ts';
import type { Rated } from '../figures/sums.ts';
import { answeredName } from './at-risk.ts';
import {
  type Html,
  heatCell,
  html,
  makeScrollable,
  section,
  shareCell,
  swatch,
  table,
} from './html.ts';

interface Line {
  readonly title: string;
  readonly scale: Scale;
  readonly rated: Rated;
}

/** The head of a section: its id, its name and what stands below it. */
interface SectionHead {
  readonly id: string;
  readonly name: string;
  readonly introduction: string;
}

const MEASUREMENTS: SectionHead = {
  id: 'measurements',
  name: 'Measurements',
  introduction: 'The category of each location, by measurements nearby or for the county.',
};

/** The section of each scale, in the order of the page. */
const SECTIONS: Readonly<Record<Scale['kind'], SectionHead>> = {
  rating: {
    id: 'hazards',
    name: 'Hazards',
    introduction:
      'National Risk Index ratings. A rating compares a place with the rest of the country; it is not a probability.',
  },
  flood: {
    id: 'flood-zones',
    name: 'Flood zones',
    introduction:
      'The zone of FEMA’s flood map at each location. Special area: a Special Flood Hazard Area, with a chance of flood of 1 % a year or more; places outside flood, too. AE has A1 to A30, V has V1 to V30, Moderate has B, Minimal has C.',
  },
  zone: {
    id: 'layers',
    name: 'Layers',
    introduction:
      'The zone of each layer at each location, as its publisher draws it. Unknown: the layer says nothing of the place.',
  },
  distance: {
    id: 'sites',
    name: 'Nearest sites',
    introduction:
      'The distance from each location to the nearest site of each kind. None found: none within the search radius.',
  },
  air: MEASUREMENTS,
  radon: MEASUREMENTS,
};

/** A section of the report. */
interface HeatSection extends SectionHead {
  readonly body: Html;
}

/** The sections of the job's topics, with a table for each scale. */
export function heatSections(facts: Facts): readonly HeatSection[] {
  const { highest, topics, units } = facts;
  const lines: Line[] = topics.map((rated) => ({
    title: rated.title,
    scale: scaleOf(rated.topic, units),
    rated,
  }));
  if (highest !== null)
    lines.unshift({ title: 'Highest of all hazards', scale: HIGHEST, rated: highest });
  const bySection = Map.groupBy(lines, ({ scale }) => SECTIONS[scale.kind]);
  return [...new Set(Object.values(SECTIONS))]
    .filter((of) => bySection.has(of))
    .map((of) => ({ ...of, body: heatSection(facts, of, bySection.get(of)!) }));
}

function heatSection(
  facts: Facts,
  { id, name: title, introduction }: SectionHead,
  lines: readonly Line[],
): Html {
  const measure = measureOf(facts);
  const limits = new Set(lines.map(({ scale }) => scale.limits));
  const parts = [...Map.groupBy(lines, ({ scale }) => scale.id).values()].map((of) => {
    const name =
      of.length === lines.length ? title : `${title}, ${of.map((line) => line.title).join(', ')}`;
    return html`${heatTable(facts, measure, name, of)}${details(measure, name, of)}`;
  });
  return section(
    id,
    title,
    html`<p class="says">${[introduction, ...limits].filter(Boolean).join(' ')} Shares are of the ${measure.by} that ${measure.by === 'value' ? 'was' : 'were'} answered.</p>
${parts}`,
  );
}

function heatTable(facts: Facts, { of }: Measure, title: string, lines: readonly Line[]): Html {
  const { scale } = lines[0]!;
  const used = reading(scale).filter(
    ({ index }) =>
      index < scale.ordered ||
      (index < unansweredClass(scale) &&
        lines.some(({ rated }) => rated.classes[index]!.locations > 0)),
  );
  const name = `${title}: share of each class`;
  const heads = html`<th scope="col">Topic</th>${used.map(({ of: { name: className, tone } }) => html`<th scope="col" class="n">${swatch(tone)}${className}</th>`)}<th scope="col" class="n">${scale.severe.words}${knownWord(scale) === 'answered' ? '' : `, of ${knownWord(scale)}`}</th><th scope="col" class="n">${answeredName(facts)}</th>`;
  const shares = lines.map(({ title: topic, rated: { answered, known, severe, classes } }) => {
    const whole = of(answered);
    return html`<tr><th scope="row">${topic}</th>${used.map(({ index, of: { tone } }) => heatCell(percent(of(classes[index]!), whole), whole === 0 ? 0 : of(classes[index]!) / whole, { tone }))}<td class="n"><b>${percent(of(severe), of(known))}</b></td><td class="n">${percent(whole, of(facts.all))}</td></tr>\n`;
  });
  return makeScrollable(name, table(name, heads, shares, 'heat'));
}

/** The numbers behind the shares, folded. */
function details(measure: Measure, title: string, lines: readonly Line[]): Html {
  const valued = measure.by === 'value';
  const name = `${title}: locations${valued ? ' and value' : ''} of each class`;
  return html`<details class="numbers"><summary>Locations${valued && ' and value'} of each class</summary>
${makeScrollable(
  name,
  html`<table class="classes">
<caption class="unseen">${name}</caption>
<thead><tr><th scope="col">Topic</th><th scope="col">Class</th><th scope="col" class="n">Locations</th><th scope="col" class="n">Of answered</th>${valued && html`<th scope="col" class="n">${measure.name}</th><th scope="col" class="n">Of answered</th>`}</tr></thead>
${lines.map(({ title: topic, scale, rated: { answered, notAnswered, classes } }) => {
  const shown = reading(scale)
    .map(({ index, of }) => ({
      of,
      sum: classes[index] ?? notAnswered,
      isAnswered: index < classes.length,
    }))
    .filter(({ sum }) => sum.locations > 0);
  return html`<tbody>
${shown.map(({ of, sum, isAnswered }, at) => {
  const share = (part: number, whole: number) =>
    isAnswered ? shareCell(part, whole, of.tone) : html`<td class="n">–</td>`;
  return html`<tr>${at === 0 && html`<th scope="rowgroup" rowspan="${shown.length}">${topic}</th>`}<th scope="row">${swatch(of.tone)}${of.name}</th><td class="n">${grouped(sum.locations)}</td>${share(sum.locations, answered.locations)}${valued && html`<td class="n">${measure.shown(measure.of(sum))}</td>${share(measure.of(sum), measure.of(answered))}`}</tr>\n`;
})}</tbody>\n`;
})}</table>`,
)}</details>
`;
}
