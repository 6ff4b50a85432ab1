import { topicOf } from '../../contract/topics.ts';
import { amount, counted, grouped } from '../../format-numbers.ts';
import { valueOfUnits } from '../../job/scan/value.ts';
import type { ComparedSum, Comparison, TopicChanges } from '../compare/comparison.ts';
import type { Facts } from '../facts.ts';
import { placeText } from '../numbers.ts';
import { HIGH, HIGHEST, VERY_HIGH } from '../scales.ts';
import { answeredOf, type CountedSum } from '../sums.ts';
import { type Html, html, quoted } from './html.ts';
import { block, section } from './section.ts';

const MOVES_SHOWN = 40;

/** What changed since an earlier output. */
export function changesSection(facts: Facts): Html | null {
  const { changes: comparison } = facts;
  if (comparison === null) return null;
  const measure = countedMeasure(facts, comparison.decimals);
  const { earlier, idColumn, before, now, added, gone, relocated, notCompared } = comparison;
  const size = (sum: ComparedSum) =>
    `${counted(sum.rows, 'row')}${measure.by === 'value' && sum.rows > 0 ? ` (${valuesOf(sum, measure, comparison.decimals)})` : ''}`;
  const examples = ({ examples: list, rows }: Comparison['added'], file: string) =>
    list.length > 0 &&
    html`: ${facts.unit}s of ${file} ${list.map(placeText).join(' · ')}${rows > list.length && ' …'}`;
  return section(
    'changes',
    'Changes',
    html`<p class="says">Since ${quoted(earlier)}. Rows are matched by ${idColumn === null ? 'place and order' : html`the column ${quoted(idColumn)}`}.</p>
<ul class="plain">
<li><b>Then</b> ${size(before)}; <b>now</b> ${size(now)}.</li>
<li><b>New</b> ${size(added)}${examples(added, 'the input')}</li>
<li><b>Gone</b> ${size(gone)}${examples(gone, 'the earlier output')}</li>
${relocated.rows > 0 && html`<li><b>Moved to another place</b> ${size(relocated)}; their ratings may differ for that reason.</li>`}
${notCompared.length > 0 && html`<li>Not in the earlier output: ${notCompared.map((slug) => topicOf(slug).title).join(', ')}.</li>`}
</ul>
${comparison.topics.length > 0 && html`${byPeril(comparison, measure)}${moves(comparison, measure)}`}`,
  );
}

interface ChangeMeasure {
  readonly by: 'value' | 'rows';
  readonly name: string;
  readonly of: (sum: CountedSum) => number;
  readonly shown: (counted: number) => string;
}

function countedMeasure({ valueName, currency }: Facts, decimals: number): ChangeMeasure {
  if (valueName === null) return { by: 'rows', name: 'Rows', of: ({ rows }) => rows, shown: grouped };
  const name = currency === null ? 'Value' : `Value, ${currency}`;
  return {
    by: 'value',
    name,
    of: ({ value }) => value,
    shown: (units) => amount(valueOfUnits(units, decimals), currency),
  };
}

/** The values of rows by currency, and how many have none. */
function valuesOf(
  { rows, value, withoutValue, others }: ComparedSum,
  measure: ChangeMeasure,
  decimals: number,
): string {
  const totals = others.map(
    ({ currency: code, value: total }) =>
      `${amount(valueOfUnits(total, decimals), code)}${code === null ? ' without a currency' : ''}`,
  );
  const own = value === null ? [] : [measure.shown(value)];
  const lacking =
    withoutValue === 0 ? [] : [withoutValue === rows ? 'no value known' : `${grouped(withoutValue)} without a value`];
  return [...own, ...totals, ...lacking].join(', ');
}

function byPeril({ topics }: Comparison, measure: ChangeMeasure): Html {
  const title = `${measure.by === 'value' ? 'Value' : 'Rows'} at risk by peril, then and now`;
  const atRisk = ({ rows, value }: TopicChanges['before']) => {
    const sums = measure.by === 'value' ? value : rows;
    return sums[HIGH]! + sums[VERY_HIGH]!;
  };
  const answered = ({ rows }: TopicChanges['before']) => grouped(answeredOf(rows, HIGHEST));
  const signed = (difference: number) =>
    difference === 0 ? '0' : `${difference > 0 ? '+' : '−'}${measure.shown(Math.abs(difference))}`;
  return block(
    title,
    false,
    html`<table class="then-now">
<caption class="unseen">${title}</caption>
<thead><tr><th scope="col">Peril</th><th scope="col" class="n">Then</th><th scope="col" class="n">Now</th><th scope="col" class="n">Change</th><th scope="col" class="n">Rows answered then</th><th scope="col" class="n">Now</th><th scope="col" class="n">Rows newly answered</th><th scope="col" class="n">No longer answered</th></tr></thead>
<tbody>
${[...topics]
  .sort((a, b) => atRisk(b.now) - atRisk(a.now))
  .map(
    (
      topic,
    ) => html`<tr><th scope="row">${topicOf(topic.slug).title}</th><td class="n">${measure.shown(atRisk(topic.before))}</td><td class="n"><b>${measure.shown(atRisk(topic.now))}</b></td><td class="n">${signed(atRisk(topic.now) - atRisk(topic.before))}</td><td class="n">${answered(topic.before)}</td><td class="n">${answered(topic.now)}</td><td class="n">${grouped(topic.newlyAnswered.rows)}</td><td class="n">${grouped(topic.noLongerAnswered.rows)}</td></tr>
`,
  )}</tbody>
</table>`,
  );
}

function moves({ topics }: Comparison, measure: ChangeMeasure): Html {
  const all = topics
    .flatMap(({ slug, moved }) => moved.map((move) => ({ slug, ...move })))
    .sort((a, b) => measure.of(b) - measure.of(a) || b.rows - a.rows);
  if (all.length === 0) return html`<p>No rating of a row in both files changed.</p>`;
  const title = 'Ratings that changed';
  return block(
    title,
    false,
    html`<table class="moves">
<caption class="unseen">${title}</caption>
<thead><tr><th scope="col">Peril</th><th scope="col">From</th><th scope="col">To</th><th scope="col" class="n">Rows</th>${measure.by === 'value' && html`<th scope="col" class="n">${measure.name}</th>`}</tr></thead>
<tbody>
${all.slice(0, MOVES_SHOWN).map(
  ({
    slug,
    from,
    to,
    rows,
    value,
  }) => html`<tr><th scope="row">${topicOf(slug).title}</th><td>${from}</td><td>${to}</td><td class="n">${grouped(rows)}</td>${measure.by === 'value' && html`<td class="n">${measure.shown(value)}</td>`}</tr>
`,
)}</tbody>
</table>`,
    all.length > MOVES_SHOWN && html`<p>and ${counted(all.length - MOVES_SHOWN, 'smaller change')}</p>`,
  );
}
