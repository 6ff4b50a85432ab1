import { amount, counted } from '../../base/format-numbers.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { LOSS_RATES } from '../../data/topics/loss-rates.ts';
import { type Facts, measureOf, percent } from '../figures/facts.ts';
import {
  CLASS_LETTERS,
  HIGHEST,
  knownWord,
  LOSS,
  reading,
  type Scale,
  scaleOf,
  unansweredClass,
} from '../figures/scales.ts';
import { findHeadline } from '../figures/story.ts';
import { HEIGHT, WIDTH } from '../map/frame.ts';
import type { MapFigures, MapLevel } from '../map/map-bins.ts';
import { type MapName, makeOutlines } from '../map/outlines.ts';
import { type Html, html, jsonData, swatch } from './html.ts';

interface NamedLayer {
  /** Null: the highest rating of all hazards. */
  readonly slug: TopicSlug | null;
  readonly name: string;
  readonly scale: Scale;
}

/** The map with its controls, legends and a summary in text. The script draws the level of detail that fits the zoom. */
export function mapFigure(facts: Facts, map: MapFigures): Html {
  const measure = measureOf(facts);
  const layers = layersOf(facts);
  const scales = [...new Map(layers.map(({ scale }) => [scale.id, scale])).values()];
  const first = layers[firstLayer(facts)]!;
  const levels = map.levels.map((level) => levelData(map.kind, level, layers, facts));
  const by = measure.by === 'value' ? 'value' : 'rows';
  // The second level of hexagons fits a wide screen.
  const drawn = Math.min(1, levels.length - 1);
  return html`<figure id="map">
${controls(layers, first, facts.valueName !== null)}
${scales.map((scale) => legend(scale, scale.id === first.scale.id))}
<div class="map-box">
${drawing(map, levels[drawn]!, layers.indexOf(first), first.scale, by)}
<div class="zoom scripted" role="group" aria-label="Zoom" hidden><button type="button" class="button small" id="zoom-in" aria-label="Zoom in">+</button><button type="button" class="button small" id="zoom-out" aria-label="Zoom out">−</button><button type="button" class="button small" id="zoom-reset">Reset</button></div>
<div id="map-hint" role="status" hidden></div>
</div>
<p id="map-found" class="found" role="status" hidden></p>
<figcaption>
<p class="sizes">${SIZES.map((size, index) => html`<span><svg width="20" height="20" viewBox="-1 -1 2 2" aria-hidden="true" focusable="false"><use href="#mark" transform="scale(${size})"/></svg> <span id="size-${index}">${levels[drawn]!.legend[by][index] ?? ''}</span></span> `)}</p>
<p class="says" id="map-says"><span id="map-shows" aria-live="polite">Shown: ${first.name}, by ${measure.by}.</span> ${marksCaption(map, scales)}<span class="scripted" hidden> Keys on the map: + and − zoom, arrows move, n and p go through the largest counties.</span></p>
<p class="says">${mapSummary(facts)} ${map.notDrawn > 0 && `Not on the map, but counted: ${counted(map.notDrawn, 'location')} outside the area that it shows.`}</p>
</figcaption>
<script type="application/json" id="map-data">${jsonData({
    kind: map.kind,
    levels,
    layers: layers.map(({ name, scale }) => ({ name, scale: scale.id })),
    tones: Object.fromEntries(
      scales.map((scale) => [scale.id, scale.classes.map(({ tone }) => tone)]),
    ),
    classes: Object.fromEntries(
      scales.map((scale) => [scale.id, scale.classes.map(({ name }) => name)]),
    ),
    known: Object.fromEntries(scales.map((scale) => [scale.id, knownWord(scale)])),
    counties: countyTexts(facts),
    finds: map.finds.map(({ kind, name, at, county }) => [
      kind,
      name,
      ...at.map(roundToTenth),
      county,
    ]),
  })}</script>
</figure>
`;
}

/** The index of the layer that the map shows first: the peril of the first sentence. */
export function firstLayer(facts: Facts): number {
  const headline = findHeadline(facts);
  return headline === null ? 0 : layerOf(facts, headline.peril.topic);
}

/** The number of a topic's layer on the map; -1 for none. */
export function layerOf(facts: Facts, slug: TopicSlug): number {
  return layersOf(facts).findIndex((layer) => layer.slug === slug);
}

/** In the order of the topic list. */
function layersOf({ topics, units, highest, losses }: Facts): NamedLayer[] {
  const all: NamedLayer[] = topics.map(({ topic, title }) => ({
    slug: topic,
    name: title,
    scale: scaleOf(topic, units),
  }));
  if (highest !== null)
    all.unshift({ slug: null, name: 'Highest rating of all hazards', scale: HIGHEST });
  if (losses !== null) all.push({ slug: LOSS_RATES, name: 'Expected annual loss', scale: LOSS });
  return all;
}

/** The smallest size of a mark is this part of the largest. */
const LEAST = 0.56;

/** Sizes of marks in the legend: of the full amount, of a quarter of it, of next to nothing. */
const SIZES = [1, 0.78, LEAST];

/** From the smallest to the largest size, as one digit. */
const STEPS = 9;

type LevelData = ReturnType<typeof levelData>;

/** The script's data for a level. Most layers have the same answered locations, so these lists are stored once. */
function levelData(
  kind: MapFigures['kind'],
  level: MapLevel,
  named: readonly NamedLayer[],
  facts: Facts,
) {
  const { radius, bins, layers } = level;
  const valued = facts.valueName !== null;
  const own = named.map(({ slug }) => layers.find((layer) => layer.slug === slug)!);
  const texts = own.map(({ answered }) => answered.join());
  const distinct = [...new Set(texts)];
  const counties = [...new Set(bins.map(({ county }) => county))];
  const rows = sizesOf(bins.map(({ locations }) => locations));
  const value = sizesOf(bins.map((bin) => bin.value ?? 0));
  return {
    radius,
    // The more dots, the smaller: those of a town would else be one blob.
    most:
      kind === 'hexagon' ? radius * 0.97 : Math.max(4, Math.min(10, 120 / Math.sqrt(bins.length))),
    at: bins.map(({ at }) => at.map(roundToTenth)),
    rows: bins.map(({ locations }) => locations),
    worth: valued ? bins.map((bin) => amount(bin.value ?? 0, facts.currency)) : null,
    counties,
    county: bins.map(({ county }) => counties.indexOf(county)),
    sizes: { rows: rows.digits, value: value.digits },
    legend: {
      rows: legendTexts(rows.full, (full) => counted(Math.ceil(full), 'location')),
      value: legendTexts(value.full, (full) => amount(full, facts.currency)),
    },
    letters: {
      rows: own.map((layer) => layer.rows),
      value: valued ? own.map((layer) => layer.value) : null,
    },
    answered: distinct.map((text) => (text === '' ? [] : text.split(',').map(Number))),
    answeredOf: texts.map((text) => distinct.indexOf(text)),
  };
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Areas are proportional to the amount, up to that of one bin in twenty. */
function sizesOf(amounts: readonly number[]): { readonly full: number; readonly digits: string } {
  const sorted = [...amounts].sort((a, b) => a - b);
  const full = sorted[Math.floor((sorted.length - 1) * 0.95)] || 1;
  const part = (amount: number) =>
    full <= 1 && amount <= 1 ? 0 : Math.max(0, Math.min(1, amount / full));
  return {
    full,
    digits: amounts.map((amount) => Math.round(STEPS * Math.sqrt(part(amount)))).join(''),
  };
}

function legendTexts(full: number, shown: (amount: number) => string): string[] {
  return full <= 1
    ? ['', '', `${shown(full)} each`]
    : [`${shown(full)} or more`, shown(full / 4), 'hardly any'];
}

/** Hidden until the script runs. */
function controls(layers: readonly NamedLayer[], first: NamedLayer, hasValue: boolean): Html {
  return html`<form class="controls scripted" id="map-controls" hidden>
<label for="map-topic">Topic</label>
<select id="map-topic">${layers.map((layer, index) => html`<option value="${index}"${layer === first && html` selected`}>${layer.name}</option>`)}</select>
${
  hasValue &&
  html`<fieldset><legend>Measure</legend>
<label><input type="radio" name="measure" value="value" checked> Value</label>
<label><input type="radio" name="measure" value="rows"> Locations</label>
</fieldset>`
}
<span class="find"><label for="map-find">Find</label>
<input type="search" id="map-find" list="map-finds" placeholder="county, city or id" autocomplete="off"></span>
<datalist id="map-finds"></datalist>
</form>
`;
}

function drawing(
  { kind, frame }: MapFigures,
  level: LevelData,
  layer: number,
  scale: Scale,
  by: 'rows' | 'value',
) {
  const { land, states, counties, names } = makeOutlines(frame, new Set(level.counties));
  // Dots are above the names, which the script keeps apart; a name stands on hexagons, which leave no room.
  const [below, above] = kind === 'point' ? [stateNames(names), ''] : ['', stateNames(names)];
  return html`<svg id="map-drawing" class="map ${kind}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="map-says">
<defs>${kind === 'point' ? html`<circle id="mark" r="1"/>` : html`<path id="mark" d="${HEXAGON}"/>`}</defs>
<g id="map-world">
<path class="land" d="${land}"/>
<path class="counties" d="${counties}"/>
<path class="states" d="${states}"/>
${below}<g id="marks">
${marks(level, layer, scale, by)}</g>
${above}</g>
</svg>
<script type="application/json" id="map-names">${jsonData(names.map(({ kind: of, name, at: [x, y], width }) => [of, name, roundToTenth(x), roundToTenth(y), Math.round(width)]))}</script>
`;
}

/** Without the script, those of large states. */
function stateNames(names: readonly MapName[]): Html {
  const large = names.filter(({ kind, width }) => kind === 'state' && width > 100);
  return html`<g id="names">${large.map(({ name, at: [x, y] }) => html`<text class="state" text-anchor="middle" x="${roundToTenth(x)}" y="${roundToTenth(y)}">${name}</text>`)}</g>
`;
}

const HAZARDS_NAMED = 3;

/** What the map says of each of the largest counties: its sum, its share, and the hazards with most at risk. */
function countyTexts(facts: Facts): Readonly<Record<string, string>> {
  const { of, by, words } = measureOf(facts);
  const title = (slug: TopicSlug) => facts.topics.find(({ topic }) => topic === slug)!.title;
  return Object.fromEntries(
    facts.counties.largest.map((county) => {
      const most = county.perils
        .filter(({ severe }) => of(severe) > 0)
        .sort((a, b) => of(b.severe) - of(a.severe))
        .slice(0, HAZARDS_NAMED)
        .map(({ topic, severe }) => `${title(topic)} ${words(severe)}`);
      const risk = most.length === 0 ? '' : ` Most at risk: ${most.join(', ')}.`;
      const share = percent(of(county), of(facts.all));
      return [county.name, `${county.name}: ${words(county)}, ${share} of the ${by}.${risk}`];
    }),
  );
}

/** The smallest colored part of a mark, so that its color is visible. */
const LEAST_PART = 0.45;

/** As in map.js: where only a part was answered, the colored part of the mark is as large as the share answered. */
function marks(level: LevelData, layer: number, scale: Scale, by: 'rows' | 'value'): Html[] {
  const { at, rows, most, sizes, letters, answered, answeredOf } = level;
  return at.map(([x, y], bin) => {
    const typical = CLASS_LETTERS.indexOf((letters[by] ?? letters.rows)[layer]![bin]!);
    const share = answered[answeredOf[layer]!]![bin]! / rows[bin]!;
    const size = most * (LEAST + (1 - LEAST) * (Number(sizes[by][bin]) / STEPS));
    const isPart = share > 0 && share < 1 && typical !== unansweredClass(scale);
    const transform = `translate(${x} ${y})`;
    const tone = scale.classes[typical]!.tone;
    return html`${isPart && html`<use href="#mark" class="t-unanswered" data-bin="${bin}" transform="${transform}scale(${roundToTenth(size)})"/>`}<use href="#mark" class="t-${tone}" data-bin="${bin}" transform="${transform}scale(${roundToTenth(isPart ? size * Math.max(LEAST_PART, Math.sqrt(share)) : size)})"/>
`;
  });
}

/** A hexagon of size 1, corner up. */
const HEXAGON = `M${[0, 1, 2, 3, 4, 5]
  .map((corner) => (Math.PI / 3) * corner)
  .map((angle) => `${Math.sin(angle).toFixed(4)} ${(-Math.cos(angle)).toFixed(4)}`)
  .join('L')}z`;

function legend(scale: Scale, shown: boolean): Html {
  const { limits } = scale;
  return html`<ul class="legend" data-scale="${scale.id}"${shown ? null : html` hidden`}>${reading(scale).map(({ of }) => html`<li>${swatch(of.tone)}${of.name}</li>`)}${limits !== undefined && html`<li class="says">${limits}</li>`}</ul>
`;
}

function marksCaption({ kind }: MapFigures, scales: readonly Scale[]): string {
  const known = [...new Set(scales.map(knownWord))].join(' or ');
  return kind === 'point'
    ? 'A dot is a place; its size shows the measure.'
    : `A hexagon groups places: its color is the median class of what was ${known}, the colored part the share ${known}, its size the measure.`;
}

function mapSummary({ states, all, places }: Facts): string {
  if (all.locations === 0) return 'No row has a location in the US.';
  const largest = [...states.largest].sort((a, b) => b.locations - a.locations).slice(0, 3);
  const names = largest.map(
    (state) => `${state.name} (${percent(state.locations, all.locations)} of locations)`,
  );
  return `${counted(all.locations, 'location')} at ${counted(places, 'place')}, most in ${names.join(', ')}.`;
}
