import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { amount, counted, dateTime, grouped } from '../../base/format-numbers.ts';
import { type Facts, measureOf, percent } from '../figures/facts.ts';
import type { MapFigures } from '../map/map-bins.ts';
import { accumulationSection } from './accumulation.ts';
import { riskSection } from './at-risk.ts';
import { changesSection } from './changes.ts';
import { heatSections } from './heat-tables.ts';
import { type Html, html, isolateText, markup, toneStyle } from './html.ts';
import { locationsSection } from './locations-table.ts';
import { lossesSection } from './losses.ts';
import { creditsSection } from './money.ts';
import { missingSection, qualitySection, sourcesSection } from './quality.ts';

/** In cascade order. */
const STYLES = ['base.css', 'page.css', 'map.css', 'tables.css', 'media.css'];

const SCRIPTS = ['map-names.js', 'map.js', 'locations.js', 'report.js'];

/** The style of all reports. Its rules are for `body` or another element of the class `report`, in a document or a shadow root. */
export const reportStyle = (): string => STYLES.map(asset).join('') + toneStyle();

/** Only colours and fonts, for the page around the report. */
export const baseStyle = (): string => asset('base.css');

/** A module: `setUpReport(root, state)` makes the sections in a document or a shadow root work. */
export const reportScript = (): string => SCRIPTS.map(asset).join('');

/** The page as one file. It loads nothing, and its content security policy forbids it to. */
export function reportPage(facts: Facts, map: MapFigures): string {
  const sections = sectionsOf(facts, map);
  // Generated: a `@page` rule reads no variables.
  const words = facts.sample ? 'Sample data' : 'Perilbook hazard report';
  const style = `${reportStyle()}@page { @bottom-right { content: "${words} · page " counter(page); font: 8pt sans-serif; } }\n`;
  const script = `${reportScript()}setUpReport(document);\n`;
  const policy = `default-src 'none'; style-src '${hashText(style)}'; script-src '${hashText(script)}'; base-uri 'none'; form-action 'none'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${markup(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Perilbook">
<title>${titleOf(facts)}: hazard report</title>
<style>${markup(style)}</style>
</head>
<body class="report">
${PATTERNS}
<a class="skip" href="#content">Skip to the report</a>
<header class="opening">
${contents(sections)}
<h1>${isolateText(titleOf(facts))}: ${counted(facts.all.locations, 'location')}</h1>
${opening(facts)}</header>
<main id="content" class="sections">
${sections.map(({ body }) => body)}</main>
<footer>
${closing(facts)}
<p class="unprinted">The page loads nothing from the network.</p>
</footer>
<script type="module">${markup(script)}</script>
</body>
</html>
`.text;
}

/** The same for a shadow root of another page: without a first-level heading and landmarks, of which a document has one. */
export function reportSections(facts: Facts, map: MapFigures): string {
  const sections = sectionsOf(facts, map);
  return html`${PATTERNS}
<div class="opening">
${contents(sections)}
${opening(facts)}</div>
<div class="sections">
${sections.map(({ body }) => body)}</div>
<div class="closing">
${closing(facts)}
</div>
`.text;
}

/** The names are those of the table of contents. */
interface Section {
  /** Of its element. */
  readonly id: string;
  readonly name: string;
  /** Null where it has nothing to say. */
  readonly body: Html | false | null;
}

function sectionsOf(facts: Facts, map: MapFigures): Section[] {
  const { highest, datasets, credits, runAt } = facts;
  const all = [
    { id: 'risk', name: highest === null ? 'Map' : 'At risk', body: riskSection(facts, map) },
    { id: 'losses', name: 'Expected annual loss', body: lossesSection(facts) },
    { id: 'changes', name: 'Changes', body: changesSection(facts) },
    { id: 'accumulation', name: 'Accumulation', body: accumulationSection(facts) },
    { id: 'locations', name: 'Locations', body: locationsSection(facts) },
    ...heatSections(facts),
    { id: 'quality', name: 'Data quality', body: qualitySection(facts) },
    { id: 'missing', name: 'Missing answers', body: missingSection(facts) },
    { id: 'sources', name: 'Sources', body: datasets && sourcesSection(datasets) },
    { id: 'credits', name: 'Credits', body: credits && creditsSection(credits, runAt) },
  ];
  return all.filter(({ body }) => body !== null);
}

function contents(sections: readonly Section[]): Html {
  return html`<nav aria-label="Sections"><ul>
${sections.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>\n`)}</ul></nav>`;
}

function asset(name: string): string {
  return readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8');
}

function hashText(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** Hatchings for classes without a color; one in the units of the map's marks. */
const PATTERNS: Html = html`<svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false"><defs>
<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground" width="5" height="5"/><rect class="stroke" width="1.6" height="5"/></pattern>
<pattern id="hatch-mark" width=".5" height=".5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground" width=".5" height=".5"/><rect class="stroke" width=".15" height=".5"/></pattern>
<pattern id="lines" width="4" height="4" patternUnits="userSpaceOnUse"><rect class="none" width="4" height="4"/><rect class="stroke" width="4" height="1"/></pattern>
<pattern id="lines-mark" width=".4" height=".4" patternUnits="userSpaceOnUse"><rect class="none" width=".4" height=".4"/><rect class="stroke" width=".4" height=".1"/></pattern>
<pattern id="dots" width="4" height="4" patternUnits="userSpaceOnUse"><rect class="ground" width="4" height="4"/><circle class="stroke" cx="2" cy="2" r=".9"/></pattern>
</defs></svg>`;

function opening(facts: Facts): Html {
  const { story, input, source, sample, runAt, running, madeAt, topics, oldest, newest } = facts;
  const time = (iso: string) => dateTime(Date.parse(iso));
  return html`${sample && html`<p class="sample" role="note"><strong>Sample data.</strong> The answers are made up: do not base decisions on them.</p>`}
${running && html`<p class="note" role="note"><strong>The run is under way.</strong> The figures are of the answers so far.</p>`}
<p class="story">${story}</p>
<dl class="facts">
${keyFigures(facts).map(([name, value, note]) => html`<div><dt>${name}</dt><dd>${value}<small>${note}</small></dd></div>\n`)}</dl>
<p class="says">Perilbook hazard report · ${isolateText(input)} · ${counted(topics.length, 'topic')} · answers from ${isolateText(source)}${
    oldest !== null && newest !== null && html`, ${formatDates(oldest, newest)}`
  } · ${runAt === null ? 'No run yet' : `as of the run of ${time(runAt)}`} · report of ${time(madeAt)}</p>
${currencyTotals(facts)}`;
}

function formatDates(oldest: string, newest: string): string {
  const [from, to] = [oldest.slice(0, 10), newest.slice(0, 10)];
  return from === to ? `of ${to}` : `of ${from} to ${to}`;
}

/** The name of the job, which is often that of a file, as words. */
function titleOf({ job }: Facts): string {
  return job.replaceAll('_', ' ');
}

function keyFigures(facts: Facts): (readonly [string, string, string])[] {
  const { all, places, rows, valueName, currency, currencies, complete, topics, credits } = facts;
  const measure = measureOf(facts);
  const list: (readonly [string, string, string])[] = [
    [
      'Locations',
      grouped(all.locations),
      `of ${counted(rows, 'row')}, at ${counted(places, 'place')}`,
    ],
  ];
  if (valueName !== null) {
    const others = currencies.length > 1 ? `; other currencies below` : '';
    const unknown = currency === null ? '; the file names no currency' : '';
    list.push(['Value', measure.words(all), `${valueName}${unknown}${others}`]);
  }
  const ofValue =
    measure.by === 'value' ? `, ${percent(measure.of(complete), measure.of(all))} of value` : '';
  const inTopics = topics.length > 1 ? `, in all ${counted(topics.length, 'topic')}` : '';
  list.push([
    'Answered',
    percent(complete.locations, all.locations),
    `of locations${ofValue}${inTopics}${undetermined(facts)}`,
  ]);
  if (credits) {
    const name = credits.isMadeUp ? 'Credits at a paid service' : 'Credits spent';
    const none = credits.isMadeUp ? '; the sample charges none' : '';
    list.push([name, grouped(credits.charged), `of ${grouped(credits.planned)} planned${none}`]);
  }
  return list;
}

/** What is answered and yet leaves open what the place is, such as a place without a study: `; Flood Zone: $25.6 M not determined`. */
function undetermined(facts: Facts): string {
  const measure = measureOf(facts);
  const open = facts.topics
    .map(({ title, answered, known }) => ({
      title,
      amount: measure.of(answered) - measure.of(known),
    }))
    .filter((topic) => topic.amount > 0);
  const texts = open.map(
    (topic) =>
      `${facts.topics.length > 1 ? `${topic.title}: ` : ''}${measure.shown(topic.amount)} not determined`,
  );
  return texts.length === 0 ? '' : `; ${texts.join(', ')}`;
}

/** The totals of a file with several currencies, which are never added together. */
function currencyTotals(facts: Facts): Html | false {
  const { currencies, currency } = facts;
  if (currencies.length < 2) return false;
  const totals = currencies.map(({ currency: code, locations, value }) =>
    value === null
      ? `others (${counted(locations, 'location')})`
      : `${amount(value, code)}${code === null ? ' without a currency' : ''} (${counted(locations, 'location')})`,
  );
  const other = currencies.find(
    ({ currency: code, value }) => code !== null && value !== null && code !== currency,
  )?.currency;
  return html`<p class="note" role="note"><strong>Several currencies:</strong> ${totals.join(', ')}. They are not added: values below are ${currency ?? 'without a currency'} only, and rows in other currencies count as locations without a value.${other != null && html` To see another currency, for example: <code>--currency ${other}</code>.`}</p>`;
}

function closing({ sample, unit }: Facts): Html {
  return html`<p>${sample && html`<strong>Sample data: do not base decisions on it.</strong> `}A row is a ${unit} of the file. A location is a row with coordinates in the US. A place is one or more locations with the same rounded coordinates, and is asked for once. Made by Perilbook from the input, the store and the ledger. Outlines: us-atlas, from US Census Bureau shapefiles; cities to look for: GeoNames (CC BY 4.0); Albers equal-area projection, Alaska and Hawaii not to scale.</p>`;
}
