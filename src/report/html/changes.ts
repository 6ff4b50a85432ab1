import { amount, counted, grouped } from '../../base/format-numbers.ts';
import { topicOf } from '../../contract/topics.ts';
import { type Bridge, type RowExample, STEP_NAMES, STEPS } from '../compare/bridge.ts';
import { LOSS_STEPS, type LossBridge } from '../compare/loss-bridge.ts';
import type { ComparedSum, TopicChanges } from '../compare/match-rows.ts';
import { type Facts, lineText } from '../figures/facts.ts';
import { atRiskWords } from '../figures/scales.ts';
import type { CountedSum } from '../figures/sums.ts';
import {
  block,
  type Html,
  type HtmlPart,
  html,
  isolateText,
  makeScrollable,
  section,
  table,
} from './html.ts';

/** What has changed since an earlier output; null where none was compared. */
export function changesSection(facts: Facts): Html | null {
  const { changes } = facts;
  if (changes === null) return null;
  const { earlier, matchedBy, before, now, topics, notCompared, relocated } = changes;
  const changed = topics.filter(({ bridge }) => bridge.steps.length > 0);
  const { same = [], unanswered = [] } = Object.groupBy(
    topics.filter((topic) => !changed.includes(topic)),
    ({ answeredThen, answeredNow }) =>
      answeredThen.rows + answeredNow.rows > 0 ? 'same' : 'unanswered',
  );
  const all = facts.valueName === null ? 'All rows' : 'All value';
  const bridges = [{ title: all, bridge: changes.bridge }, ...changed];
  const title = 'From then to now';
  return section(
    'changes',
    'Changes',
    html`<p class="says">Since ${isolateText(earlier)}. Rows are matched by ${matchedBy === 'place' ? 'place and order' : html`the column ${isolateText(matchedBy)}`}.${facts.rows > facts.all.locations && ` All rows of both files are compared, also those without a location in the US (now: ${grouped(facts.rows - facts.all.locations)}), which the figures above leave out.`}</p>
<ul class="plain">
<li><b>Then</b> ${sizeOf(before, facts)}; <b>now</b> ${sizeOf(now, facts)}.</li>
<li><b>New</b> ${sizeOf(changes.new, facts)}; <b>gone</b> ${sizeOf(changes.gone, facts)}.</li>
${relocated.rows > 0 && html`<li><b>Moved to another place</b> ${sizeOf(relocated, facts)}; their ratings may differ for that reason.</li>`}
${notCompared.length > 0 && html`<li>Not in the earlier output: ${notCompared.map((slug) => topicOf(slug).title).join(', ')}.</li>`}
</ul>
${block(title, html`Each line adds up: what was there then, the changes, what is there now.${topics.length > 0 && ` Perils: what is ${atRiskWords(topics, facts.units)}.`}`, bridgeTable(facts, title, bridges))}
${titlesLine('Nothing changed in what is at risk', same)}${titlesLine('Not answered then or now', unanswered)}
${changes.losses !== null && lossBridge(facts, changes.losses)}
${rowsOfSteps(facts, bridges)}${rowsOfClasses(facts, topics)}`,
  );
}

/** Why the expected annual loss is another. */
function lossBridge({ currency }: Facts, { before, steps, now }: LossBridge): Html {
  const title = 'Expected annual loss from then to now';
  const sign = (change: number) => (change > 0 ? '+' : change < 0 ? '−' : '');
  const heads = html`<th scope="col" class="n">Then</th>${steps.map(({ step }) => html`<th scope="col" class="n">${LOSS_STEPS[step]}</th>`)}<th scope="col" class="n">Now</th>`;
  const cells = steps.map(
    ({ change }) => html`<td class="n">${sign(change)}${amount(Math.abs(change), currency)}</td>`,
  );
  const line = html`<tr><td class="n">${amount(before, currency)}</td>${cells}<td class="n"><b>${amount(now, currency)}</b></td></tr>\n`;
  return block(
    title,
    html`It adds up: the loss then, the changes, the loss now. Another rate is that of another index.`,
    table(title, heads, [line], 'bridge'),
  );
}

function titlesLine(says: string, topics: readonly { readonly title: string }[]): Html | false {
  return (
    topics.length > 0 &&
    html`<p class="without"><b>${says}:</b> <small>${topics.map(({ title }) => title).join(', ')}</small></p>`
  );
}

function shownSum(facts: Facts, { rows, value }: CountedSum): string {
  return facts.valueName === null ? grouped(rows) : amount(value, facts.currency);
}

function formatSigned(facts: Facts, { rows, value }: CountedSum): string {
  const measured = facts.valueName === null ? rows : value;
  const sign = measured > 0 ? '+' : measured < 0 ? '−' : '';
  return `${sign}${shownSum(facts, { rows: Math.abs(rows), value: Math.abs(value) })}`;
}

/** Rows, with their values by currency and how many have none. */
function sizeOf(
  { rows, value, withoutValue, otherCurrencies }: ComparedSum,
  { valueName, currency }: Facts,
): string {
  const size = counted(rows, 'row');
  if (valueName === null || rows === 0) return size;
  const own = value === null ? [] : [amount(value, currency)];
  const totals = otherCurrencies.map(
    ({ currency: code, value: total }) =>
      `${amount(total, code)}${code === null ? ' without a currency' : ''}`,
  );
  const lacking =
    withoutValue === rows ? 'no value known' : `${grouped(withoutValue)} without a value`;
  return `${size} (${[...own, ...totals, ...(withoutValue === 0 ? [] : [lacking])].join(', ')})`;
}

interface NamedBridge {
  readonly title: string;
  readonly bridge: Bridge;
}

function bridgeTable(facts: Facts, title: string, bridges: readonly NamedBridge[]): Html {
  const used = STEP_NAMES.filter((name) =>
    bridges.some(({ bridge }) => bridge.steps.some(({ step }) => step === name)),
  );
  const heads = html`<th scope="col">Peril</th><th scope="col" class="n">Then</th>${used.map((name) => html`<th scope="col" class="n">${STEPS[name]}</th>`)}<th scope="col" class="n">Now</th>`;
  const lines = bridges.map(({ title: name, bridge: { before, steps, now } }) => {
    const cells = used.map((wanted) => {
      const taken = steps.find(({ step }) => step === wanted);
      return html`<td class="n">${taken === undefined ? '·' : formatSigned(facts, taken.change)}</td>`;
    });
    return html`<tr><th scope="row">${name}</th><td class="n">${shownSum(facts, before)}</td>${cells}<td class="n"><b>${shownSum(facts, now)}</b></td></tr>\n`;
  });
  return table(title, heads, lines, 'bridge');
}

function rowsOfSteps(facts: Facts, bridges: readonly NamedBridge[]): Html {
  const sums = bridges.flatMap(({ title, bridge }) =>
    bridge.steps.map((step) => ({ title, ...step })),
  );
  const heads = html`<th scope="col">Peril</th><th scope="col">Step</th><th scope="col" class="n">Rows</th><th scope="col" class="n">Change</th><th scope="col">First rows, by ${facts.unit} and id</th>`;
  const lines = sums.map(
    ({ title, step, rows, change, examples }) =>
      html`<tr><th scope="row">${title}</th><td>${STEPS[step]}</td><td class="n">${grouped(rows)}</td><td class="n">${formatSigned(facts, change)}</td><td>${step === 'gone' && 'of the earlier output: '}${firstRows(examples, rows)}</td></tr>\n`,
  );
  return folded('Rows of each step', heads, lines);
}

/** The rows of each change of class. */
function rowsOfClasses(facts: Facts, topics: readonly TopicChanges[]): Html | false {
  const valued = facts.valueName !== null;
  const heads = html`<th scope="col">Peril</th><th scope="col">Then</th><th scope="col">Now</th><th scope="col" class="n">Rows</th>${valued && html`<th scope="col" class="n">Value now</th>`}<th scope="col">First rows, by ${facts.unit} and id</th>`;
  const lines = topics.flatMap(({ title, classes }) =>
    classes.map(
      ({ before, now, rows, value, examples }) =>
        html`<tr><th scope="row">${title}</th><td>${before}</td><td>${now}</td><td class="n">${grouped(rows)}</td>${valued && html`<td class="n">${amount(value, facts.currency)}</td>`}<td>${firstRows(examples, rows)}</td></tr>\n`,
    ),
  );
  return lines.length > 0 && folded('Changed classes, of rows at the same place', heads, lines);
}

function firstRows(examples: readonly RowExample[], rows: number): HtmlPart[] {
  const shown = examples.map(
    (example, index) => html`${index > 0 && ' · '}${lineText(example)} ${isolateText(example.key)}`,
  );
  return [...shown, rows > examples.length && ' …'];
}

function folded(name: string, heads: Html, lines: readonly Html[]): Html {
  return html`<details class="numbers"><summary>${name}</summary>
${makeScrollable(name, table(name, heads, lines))}</details>
`;
}
