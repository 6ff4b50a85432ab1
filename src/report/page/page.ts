import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { counted, dateTime, grouped } from '../../format-numbers.ts';
import { answeredOf } from '../class-sums.ts';
import type { Facts } from '../facts.ts';
import { HIGHEST, VERY_HIGH } from '../scales.ts';
import { accumulationSection } from './accumulation.ts';
import { riskSection } from './at-risk.ts';
import { changesSection } from './changes.ts';
import { heatSections } from './heat-tables.ts';
import { type Html, html, markup, quoted } from './html.ts';
import { sourcesSection } from './local-sources.ts';
import { locationsSection } from './locations-table.ts';
import { measureOf, worth } from './measure.ts';
import { moneySection } from './money.ts';
import { percent } from './numbers.ts';
import { missingSection, qualitySection } from './quality.ts';

/** In cascade order. */
const STYLES = ['colours.css', 'page.css', 'map.css', 'tables.css', 'media.css'];

const SCRIPTS = ['map.js', 'locations.js'];

/** The page as one file. It loads nothing, and its content security policy forbids it to. */
export function reportPage(facts: Facts): string {
  const style = [...STYLES, facts.sample ? 'pages-sample.css' : 'pages.css'].map(asset).join('');
  const script = SCRIPTS.map(asset).join('');
  const policy = `default-src 'none'; style-src '${hashOf(style)}'; script-src '${hashOf(script)}'; base-uri 'none'; form-action 'none'`;
  const sections = [
    riskSection(facts),
    changesSection(facts),
    accumulationSection(facts),
    locationsSection(facts),
    ...heatSections(facts),
    qualitySection(facts),
    missingSection(facts),
    facts.local ? sourcesSection(facts.local) : moneySection(facts),
  ];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${markup(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Perilbook">
<title>${facts.job}: hazard report</title>
<style>${markup(style)}</style>
</head>
<body>
${PATTERNS}
<a class="skip" href="#content">Skip to the report</a>
${opening(facts)}
<main id="content">
${sections}</main>
${closing(facts)}
<script>${markup(script)}</script>
</body>
</html>
`.text;
}

function asset(name: string): string {
  return readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** Hatchings for classes without a color. */
const PATTERNS: Html = html`<svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false"><defs>
<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground" width="5" height="5"/><rect class="stroke" width="1.6" height="5"/></pattern>
<pattern id="dots" width="4" height="4" patternUnits="userSpaceOnUse"><rect class="ground" width="4" height="4"/><circle class="stroke" cx="2" cy="2" r=".9"/></pattern>
</defs></svg>`;

function opening(facts: Facts): Html {
  const { job, input, source, sample, runAt, madeAt, topics, figures } = facts;
  return html`<header>
<nav aria-label="Sections"><ul>
${contents(facts).map(
  ([id, name]) => html`<li><a href="#${id}">${name}</a></li>
`,
)}</ul></nav>
<p class="eyebrow">Perilbook · Hazard report</p>
<h1>${quoted(job)}</h1>
<p class="says">${quoted(input)} · ${counted(topics.length, 'topic')} · answers from ${quoted(source)}${
    figures.oldest !== null && figures.newest !== null && html`, ${dated(figures.oldest, figures.newest)}`
  } · ${runAt === null ? 'No run yet' : `as of the run of ${dateTime(runAt)}`} · report of ${dateTime(madeAt)}</p>
${sample && html`<p class="sample" role="note"><strong>Sample data.</strong> The answers are made up: do not base decisions on them.</p>`}
<dl class="key">
${keyFigures(facts).map(
  ([name, value, note]) => html`<div><dt>${name}</dt><dd>${value}<small>${note}</small></dd></div>
`,
)}</dl>
${currencyTotals(facts)}</header>
`;
}

function dated(oldest: string, newest: string): string {
  const [from, to] = [oldest.slice(0, 10), newest.slice(0, 10)];
  return from === to ? `of ${to}` : `of ${from} to ${to}`;
}

function keyFigures(facts: Facts): (readonly [string, string, string])[] {
  const { figures, rows, valueName, currency, currencies, money, local } = facts;
  const list: (readonly [string, string, string])[] = [
    ['Locations', grouped(figures.rows), `of ${counted(rows, 'row')}, at ${counted(figures.cells, 'place')}`],
  ];
  if (valueName !== null) {
    const others = currencies.length > 1 ? `; other currencies below` : '';
    const unknown = currency === null ? '; the file names no currency' : '';
    list.push(['Value', worth(facts, figures.value), `${valueName}${unknown}${others}`]);
  }
  const { highest } = figures;
  if (highest !== null) {
    const { by, of: measured } = measureOf(facts);
    const sums = by === 'value' ? highest.value : highest.rows;
    const answered = answeredOf(sums, HIGHEST);
    const of = `of the ${by === 'value' ? 'value' : 'locations'} answered`;
    list.push(['Very High for a hazard', percent(sums[VERY_HIGH]!, answered), of]);
    const left = figures.rows - answeredOf(highest.rows, HIGHEST);
    const note = left === 0 ? 'for some hazard' : `${counted(left, 'location')} not answered`;
    list.push([by === 'value' ? 'Value answered' : 'Answered', percent(answered, measured(figures)), note]);
  }
  const complete = figures.status.ok ?? 0;
  list.push(['Complete', percent(complete, figures.rows), `${grouped(figures.rows - complete)} incomplete`]);
  if (!local) list.push(['Credits spent', grouped(money.charged), `of ${grouped(money.planned)} planned`]);
  return list;
}

/** The totals of a file with several currencies, which are never added. */
function currencyTotals(facts: Facts): Html | false {
  const { currencies, currency } = facts;
  if (currencies.length < 2) return false;
  const totals = currencies.map(
    ({ code, rows, value }) =>
      `${worth(facts, value, code)}${code === null ? ' without a currency' : ''} (${counted(rows, 'row')})`,
  );
  return html`<p class="note" role="note"><strong>Several currencies:</strong> ${totals.join(', ')}. They are not added: values below are ${currency ?? 'without a currency'} only, and rows in other currencies count as locations. To see another currency, use <code>--currency</code>.</p>`;
}

function contents({ figures, comparison, local }: Facts): (readonly [id: string, name: string])[] {
  const has = (id: string) => figures.topics.some(({ scale }) => scale.id === id);
  const list: (readonly [string, string, boolean])[] = [
    ['risk', figures.highest === null ? 'Map' : 'At risk', true],
    ['changes', 'Changes', comparison !== null],
    ['accumulation', 'Accumulation', true],
    ['locations', 'Locations', has('rating')],
    ['hazards', 'Hazards', has('rating')],
    ['sites', 'Nearest sites', has('distance')],
    ['measurements', 'Measurements', has('air') || has('radon')],
    ['quality', 'Data quality', true],
    ['missing', 'Missing answers', true],
    local ? ['sources', 'Sources', true] : ['money', 'Credits', true],
  ];
  return list.filter(([, , shown]) => shown).map(([id, name]) => [id, name]);
}

function closing({ sample }: Facts): Html {
  return html`<footer>
<p>${sample && html`<strong>Sample data: do not base decisions on it.</strong> `}Made by Perilbook from the input, the store and the ledger. The page loads nothing from the network. Outlines: us-atlas, from US Census Bureau shapefiles; Albers equal-area projection, Alaska and Hawaii not to scale.</p>
</footer>`;
}
