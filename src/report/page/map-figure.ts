import type { TopicSlug } from '../../contract/topics.ts';
import { counted, grouped } from '../../format-numbers.ts';
import type { Facts } from '../facts.ts';
import { HEIGHT, type MapPoint, WIDTH } from '../map/frame.ts';
import type { MapFigures, MapLevel } from '../map/map-bins.ts';
import { countryPath, frameOnCountry, outlinesOf } from '../map/outlines.ts';
import { measureOf } from '../measure.ts';
import { percent } from '../numbers.ts';
import { CLASS_LETTERS, HIGHEST, reading, type Scale, scaleOf, unansweredClass } from '../scales.ts';
import { swatch } from './bars.ts';
import { type Html, html, jsonData } from './html.ts';
import { type MarkSizes, markSizes, sizeLegend, tenth } from './map-marks.ts';

interface NamedLayer {
  readonly slug: TopicSlug | null;
  readonly name: string;
  readonly scale: Scale;
}

/** The map with its controls, legends and a summary in text. */
export function mapFigure(facts: Facts, map: MapFigures): Html {
  const measure = measureOf(facts);
  const layers = layersOf(facts);
  const scales = [...new Map(layers.map(({ scale }) => [scale.id, scale])).values()];
  const first = layers[0]!;
  const sizes = map.levels.map((level) => markSizes(map.kind, level));
  return html`<figure id="map">
${controls(layers, facts.valueName !== null)}
<div class="map-box">
${drawing(facts, map, first, sizes)}
<div class="zoom scripted" role="group" aria-label="Zoom" hidden><button type="button" id="zoom-in" aria-label="Zoom in">+</button><button type="button" id="zoom-out" aria-label="Zoom out">−</button><button type="button" id="zoom-reset">Reset</button></div>
<div id="map-hint" role="status" hidden></div>
</div>
<figcaption>
${scales.map((scale) => legend(scale, scale.id === first.scale.id))}
${map.levels.map((_, at) => sizeLegend(sizes[at]!, at, facts))}
<p class="says" id="map-says"><span id="map-shows" aria-live="polite">Shown: ${first.name}, by ${measure.by === 'value' ? 'value' : 'locations'}.</span> ${marksCaption(map)}</p>
<p class="says">${mapSummary(facts)} ${notDrawn(map)}</p>
</figcaption>
<script type="application/json" id="map-data">${jsonData({
    kind: map.kind,
    levels: map.levels.map((level, at) => levelData(level, layers, sizes[at]!, facts)),
    layers: layers.map(({ name, scale }) => ({ name, scale: scale.id })),
    tones: Object.fromEntries(scales.map((scale) => [scale.id, scale.classes.map(({ tone }) => tone)])),
    classes: Object.fromEntries(scales.map((scale) => [scale.id, scale.classes.map(({ name }) => name)])),
    currency: facts.currency === 'USD' ? '$' : facts.currency === null ? '' : `${facts.currency} `,
  })}</script>
</figure>
`;
}

/** The index of a topic among the layers of the map. */
export function layerOf(facts: Facts, slug: TopicSlug): number {
  return layersOf(facts).findIndex((layer) => layer.slug === slug);
}

function layersOf({ topics, units, highest }: Facts): NamedLayer[] {
  const all = topics.map(({ topic, title }) => ({ slug: topic, name: title, scale: scaleOf(topic, units) }));
  return highest === null ? all : [{ slug: null, name: 'Highest rating of all hazards', scale: HIGHEST }, ...all];
}

function lettersOf({ layers }: MapLevel, slug: TopicSlug | null): MapLevel['layers'][number] {
  return layers.find((layer) => layer.slug === slug)!;
}

/** What the script needs to draw the other layers. Most layers have the same answered locations: those lists are kept once. */
function levelData(level: MapLevel, layers: readonly NamedLayer[], sizes: MarkSizes, facts: Facts): object {
  const { valueName } = facts;
  const own = layers.map(({ slug }) => lettersOf(level, slug));
  const texts = own.map(({ answered }) => answered.join());
  const distinct = [...new Set(texts)];
  return {
    ...{ least: sizes.least, most: sizes.most },
    rows: level.bins.map(({ locations }) => locations),
    value: valueName === null ? null : level.bins.map(({ value }) => roundedValue(value ?? 0)),
    letters: { rows: own.map(({ rows }) => rows), value: valueName === null ? null : own.map(({ value }) => value) },
    answered: distinct.map((text) => (text === '' ? [] : text.split(',').map(Number))),
    answeredOf: texts.map((text) => distinct.indexOf(text)),
  };
}

/** Whole, which is shorter in the page; a small one keeps its digits. */
function roundedValue(value: number): number {
  return value < 1_000 ? Number(value.toPrecision(3)) : Math.round(value);
}

/** Hidden until the script runs. */
function controls(layers: readonly NamedLayer[], hasValue: boolean): Html {
  return html`<form class="controls scripted" id="map-controls" hidden>
<label for="map-topic">Topic</label>
<select id="map-topic">${layers.map(({ name }, index) => html`<option value="${index}">${name}</option>`)}</select>
${
  hasValue &&
  html`<fieldset><legend>Measure</legend>
<label><input type="radio" name="measure" value="value" checked> Value</label>
<label><input type="radio" name="measure" value="rows"> Locations</label>
</fieldset>`
}
</form>
`;
}

function drawing(facts: Facts, map: MapFigures, first: NamedLayer, sizes: readonly MarkSizes[]): Html {
  const { land, states, counties, insets, labels } = outlinesOf(map.frame);
  return html`<svg id="map-drawing" class="map ${map.kind}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="map-says">
<defs>${map.kind === 'point' ? html`<circle id="mark" r="1"/>` : html`<path id="mark" d="${HEXAGON}"/>`}</defs>
<g id="map-world">
<path class="land" d="${land}"/>
<path class="counties" d="${counties}"/>
<path class="states" d="${states}"/>${map.frame.insets.map(({ left, top, width, height }) => html`<rect class="inset" x="${left}" y="${top}" width="${width}" height="${height}"/>`)}${insets !== '' && html`<path class="land" d="${insets}"/>`}
${map.levels.map((level, at) => marks(level, at, first, sizes[at]!, facts.valueName === null ? 'rows' : 'value'))}
${labels.map(({ name, at: [x, y] }) => html`<text x="${tenth(x)}" y="${tenth(y)}">${name}</text>`)}
</g>
${!map.frame.whole && map.frame.territories.length === 0 && locator(map)}
</svg>
`;
}

/** The smallest part of a mark that its answered share is drawn as, so that its color can be seen. */
const LEAST_PART = 0.45;

/** The marks of a level. Where only a part was answered, the colored part of the mark is as large as the share answered. */
function marks(level: MapLevel, at: number, { slug, scale }: NamedLayer, sizes: MarkSizes, by: 'rows' | 'value'): Html {
  const layer = lettersOf(level, slug);
  const none = unansweredClass(scale);
  const drawn = level.bins.map(({ at: [x, y], locations }, index) => {
    const found = CLASS_LETTERS.indexOf(layer[by][index]!);
    const share = layer.answered[index]! / locations;
    const size = sizes[by][index]!;
    const isPart = share > 0 && share < 1;
    const place = `translate(${tenth(x)} ${tenth(y)})`;
    return {
      ring: isPart && html`<use href="#mark" transform="${place}scale(${size})" data-bin="${index}"/>`,
      mark: html`<use href="#mark" class="t-${scale.classes[found]!.tone}" transform="${place}scale(${found === none || !isPart ? size : tenth(size * Math.max(LEAST_PART, Math.sqrt(share)))})"/>
`,
    };
  });
  return html`<g class="level-${at}"><g class="rings" id="rings-${at}">${drawn.map(({ ring }) => ring)}</g>
<g class="marks" id="marks-${at}">
${drawn.map(({ mark }) => mark)}</g></g>
`;
}

const LOCATOR = { width: 172, height: 106, margin: 6 };

/** A small map of the country in a corner, with a frame around the close-up. */
function locator({ frame, levels }: MapFigures): Html {
  const { x, y, width, height } = frameOnCountry(frame);
  const [left, top] = emptiestCorner(levels[0]!.bins.map(({ at }) => at));
  return html`<g class="locator" transform="translate(${left} ${top})"><rect class="paper" width="${LOCATOR.width}" height="${LOCATOR.height}"/><g transform="translate(10 6)"><path d="${countryPath()}"/><rect class="here" x="${tenth(x)}" y="${tenth(y)}" width="${tenth(Math.max(3, width))}" height="${tenth(Math.max(3, height))}"/></g></g>`;
}

/** The corner where the locator covers the fewest marks. The zoom buttons are in the upper right one. */
function emptiestCorner(places: readonly MapPoint[]): MapPoint {
  const { width, height, margin } = LOCATOR;
  const right = WIDTH - width - margin;
  const bottom = HEIGHT - height - margin;
  const corners: MapPoint[] = [
    [right, bottom],
    [margin, bottom],
    [margin, margin],
  ];
  const covered = ([left, top]: MapPoint) =>
    places.filter(
      ([x, y]) => x > left - margin && x < left + width + margin && y > top - margin && y < top + height + margin,
    ).length;
  return corners.reduce((best, corner) => (covered(corner) < covered(best) ? corner : best));
}

/** A hexagon of size 1, corner up. */
const HEXAGON = `M${[0, 1, 2, 3, 4, 5]
  .map((corner) => (Math.PI / 3) * corner)
  .map((angle) => `${Math.sin(angle).toFixed(4)} ${(-Math.cos(angle)).toFixed(4)}`)
  .join('L')}z`;

function legend(scale: Scale, shown: boolean): Html {
  return html`<ul class="legend" data-scale="${scale.id}"${shown ? null : html` hidden`}>${reading(scale).map(({ of }) => html`<li>${swatch(of.tone)}${of.name}</li>`)}</ul>
`;
}

function marksCaption({ kind }: MapFigures): string {
  return kind === 'point'
    ? 'A dot is a place; its size shows the measure.'
    : 'A hexagon groups places: its color is the median class of what was answered, the colored part the share answered, its size the measure.';
}

/** What the map shows, as text. */
function mapSummary({ states, all, places }: Facts): Html {
  if (all.locations === 0) return html`No row has a location in the US.`;
  const largest = [...states.largest].sort((a, b) => b.locations - a.locations).slice(0, 3);
  const names = largest.map((state) => `${state.name} (${percent(state.locations, all.locations)} of locations)`);
  return html`${counted(all.locations, 'location')} at ${counted(places, 'place')}, most in ${names.join(', ')}.`;
}

function notDrawn({ notDrawn: locations }: MapFigures): string {
  return locations === 0 ? '' : `Not on the map: ${grouped(locations)} outside the states and territories.`;
}
