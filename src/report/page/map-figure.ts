import { topicOf } from '../../contract/topics.ts';
import { counted, grouped } from '../../format-numbers.ts';
import type { Facts } from '../facts.ts';
import { CLASS_LETTERS, type MapFigures } from '../figures.ts';
import { HEXAGON_RADIUS } from '../map/bins.ts';
import { HEIGHT, type MapPoint, WIDTH } from '../map/frame.ts';
import { countryPath, frameOnCountry, outlinesOf } from '../map/outlines.ts';
import { HIGHEST, reading, type Scale, scaleOf } from '../scales.ts';
import { swatch } from './bars.ts';
import { type Html, html, jsonData } from './html.ts';
import { percent } from './numbers.ts';

interface MapLayer {
  readonly name: string;
  readonly scale: Scale;
  readonly rows: string;
  readonly value: string;
}

/** The map with its controls, legends and a summary in text. */
export function mapSection(facts: Facts): Html {
  const { map, rows, value } = facts.figures;
  const layers = layersOf(facts);
  const scales = [...new Map(layers.map(({ scale }) => [scale.id, scale])).values()];
  const first = layers[0]!;
  return html`<section id="map" aria-labelledby="map-title">
<h2 id="map-title">Map of the locations</h2>
${controls(layers, facts.valueName !== null)}
<figure>
${drawing(map, first)}
<figcaption>
${scales.map((scale) => legend(scale, scale.id === first.scale.id))}
<p class="says" id="map-says">${marksCaption(map)} <span id="map-shows" aria-live="polite">Shown: ${first.name}, by locations.</span> <span id="map-readout"></span></p>
<p class="says">${mapSummary(facts)} ${notDrawn(map, rows)}</p>
</figcaption>
</figure>
<script type="application/json" id="map-data">${jsonData({
    marks: marksOf(map),
    layers: layers.map(({ name, scale, ...letters }) => ({ name, scale: scale.id, ...letters })),
    tones: Object.fromEntries(scales.map((scale) => [scale.id, scale.classes.map(({ tone }) => tone)])),
    classes: Object.fromEntries(scales.map((scale) => [scale.id, scale.classes.map(({ name }) => name)])),
    rows: map.bins.map((bin) => bin.rows),
    value: value > 0 ? map.bins.map((bin) => Math.round(bin.value)) : null,
  })}</script>
</section>
`;
}

function layersOf({ figures: { map, highest } }: Facts): MapLayer[] {
  return map.layers.flatMap(({ slug, ...letters }) => {
    if (slug !== null) return [{ name: topicOf(slug).title, scale: scaleOf(slug), ...letters }];
    return highest === null ? [] : [{ name: 'Highest rating of all hazards', scale: HIGHEST, ...letters }];
  });
}

/** Hidden until the script runs. */
function controls(layers: readonly MapLayer[], hasValue: boolean): Html {
  return html`<form class="controls" id="map-controls" hidden>
<label for="map-topic">Topic</label>
<select id="map-topic">${layers.map(({ name }, index) => html`<option value="${index}">${name}</option>`)}</select>
${
  hasValue &&
  html`<fieldset><legend>Measure</legend>
<label><input type="radio" name="measure" value="rows" checked> Locations</label>
<label><input type="radio" name="measure" value="value"> Value</label>
</fieldset>`
}
</form>
`;
}

function drawing(map: MapFigures, { scale, rows: letters }: MapLayer): Html {
  const { land, states, counties, labels } = outlinesOf(map.frame);
  const sizes = sizesOf(map);
  return html`<svg id="map-drawing" class="map ${map.kind}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="map-title map-says">
<defs>${map.kind === 'point' ? html`<circle id="mark" r="1"/>` : html`<path id="mark" d="${HEXAGON}"/>`}</defs>
<path class="land" d="${land}"/>
<path class="counties" d="${counties}"/>
<path class="states" d="${states}"/>
<g class="marks" id="map-marks">
${map.bins.map(({ at: [x, y] }, index) => {
  const { tone } = scale.classes[CLASS_LETTERS.indexOf(letters[index]!)]!;
  return html`<use href="#mark" class="t-${tone}" transform="translate(${tenth(x)} ${tenth(y)})scale(${sizes[index]!})"/>
`;
})}</g>
${labels.map(({ name, at: [x, y] }) => html`<text x="${tenth(x)}" y="${tenth(y)}">${name}</text>`)}
${!map.frame.whole && locator(map)}
</svg>
`;
}

const LOCATOR = { width: 172, height: 106, margin: 6 };

/** A small map of the country in a corner, with a frame around the close-up. */
function locator({ frame, bins }: MapFigures): Html {
  const { x, y, width, height } = frameOnCountry(frame);
  const [left, top] = emptiestCorner(bins.map(({ at }) => at));
  return html`<g class="locator" transform="translate(${left} ${top})"><rect class="paper" width="${LOCATOR.width}" height="${LOCATOR.height}"/><g transform="translate(10 6)"><path d="${countryPath()}"/><rect class="here" x="${tenth(x)}" y="${tenth(y)}" width="${tenth(Math.max(3, width))}" height="${tenth(Math.max(3, height))}"/></g></g>`;
}

/** The corner where the locator covers the fewest marks. */
function emptiestCorner(marks: readonly MapPoint[]): MapPoint {
  const { width, height, margin } = LOCATOR;
  const lefts = [WIDTH - width - margin, margin];
  const corners = [HEIGHT - height - margin, margin].flatMap((top) => lefts.map((left) => [left, top] as const));
  const covered = ([left, top]: MapPoint) =>
    marks.filter(
      ([x, y]) => x > left - margin && x < left + width + margin && y > top - margin && y < top + height + margin,
    ).length;
  return corners.reduce((best, corner) => (covered(corner) < covered(best) ? corner : best));
}

/** A hexagon of size 1, corner up. */
const HEXAGON = `M${[0, 1, 2, 3, 4, 5]
  .map((corner) => (Math.PI / 3) * corner)
  .map((angle) => `${Math.sin(angle).toFixed(4)} ${(-Math.cos(angle)).toFixed(4)}`)
  .join('L')}z`;

/** The smallest and the largest size of a mark. The top 5 % of the bins all have the largest. */
function marksOf({ kind, bins }: MapFigures): { least: number; most: number } {
  if (kind === 'hexagon') return { least: HEXAGON_RADIUS * 0.4, most: HEXAGON_RADIUS * 0.97 };
  return bins.length > 600 ? { least: 2.6, most: 7 } : { least: 3.6, most: 10 };
}

function sizesOf(map: MapFigures): number[] {
  const { least, most } = marksOf(map);
  const sorted = map.bins.map(({ rows }) => rows).sort((a, b) => a - b);
  const full = sorted[Math.floor((sorted.length - 1) * 0.95)] ?? 1;
  return map.bins.map(({ rows }) =>
    tenth(least + (most - least) * Math.sqrt(full <= 1 && rows <= 1 ? 0 : Math.min(1, rows / full))),
  );
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}

function legend(scale: Scale, shown: boolean): Html {
  return html`<ul class="legend" data-scale="${scale.id}"${shown ? null : html` hidden`}>${reading(scale).map(({ of }) => html`<li>${swatch(of.tone)}${of.name}</li>`)}</ul>
`;
}

function marksCaption({ kind, bins }: MapFigures): string {
  return kind === 'point'
    ? `Each of the ${counted(bins.length, 'dot')} is a place; its size shows the measure.`
    : `Each of the ${counted(bins.length, 'hexagon')} groups the places in it: its color shows their median class, its size the measure.`;
}

/** What the map shows, as text. */
function mapSummary({ figures: { states, rows, cells } }: Facts): Html {
  if (rows === 0) return html`No row has a location in the US.`;
  const largest = [...states].sort((a, b) => b.rows - a.rows).slice(0, 3);
  const names = largest.map((state) => `${state.name} (${percent(state.rows, rows)} of locations)`);
  return html`${counted(rows, 'location')} at ${counted(cells, 'distinct place')}, most in ${names.join(', ')}. See <a href="#concentration">concentration</a>.`;
}

function notDrawn({ notDrawn: missed }: MapFigures, rows: number): string {
  if (missed.length === 0) return '';
  const names = missed.map((one) => `${one.name} (${grouped(one.rows)})`);
  const sum = missed.reduce((all, one) => all + one.rows, 0);
  return `Not on the map, because the projection leaves them out: ${names.join(', ')}; ${percent(sum, rows)} of locations.`;
}
