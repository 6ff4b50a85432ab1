import { amount, counted } from '../../format-numbers.ts';
import type { Facts } from '../facts.ts';
import { WIDTH } from '../map/frame.ts';
import type { MapFigures, MapLevel } from '../map/map-bins.ts';
import { type Html, html } from './html.ts';

/** The sizes of a level's marks, by rows and by value. */
export interface MarkSizes {
  readonly kind: MapFigures['kind'];
  readonly least: number;
  readonly most: number;
  readonly rows: readonly number[];
  readonly value: readonly number[];
  /** The amounts from which a mark has the largest size: of one bin in twenty. */
  readonly full: { readonly rows: number; readonly value: number };
}

/** Areas are proportional to the measure, up to the largest size. */
export function markSizes(kind: MapFigures['kind'], { radius, bins }: MapLevel): MarkSizes {
  const [least, most] = kind === 'hexagon' ? [radius * 0.55, radius * 0.97] : bins.length > 600 ? [2.6, 7] : [3.6, 10];
  const [rows, value] = [bins.map((bin) => bin.locations), bins.map((bin) => bin.value ?? 0)];
  const full = { rows: fullOf(rows), value: fullOf(value) };
  const sizes = (amounts: readonly number[], largest: number) =>
    amounts.map((one) => tenth(sizeOf(one, largest, least, most)));
  return { kind, least, most, full, rows: sizes(rows, full.rows), value: sizes(value, full.value) };
}

function fullOf(amounts: readonly number[]): number {
  const sorted = [...amounts].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * 0.95)] || 1;
}

function sizeOf(one: number, full: number, least: number, most: number): number {
  const part = full <= 1 && one <= 1 ? 0 : Math.max(0, Math.min(1, one / full));
  return least + (most - least) * Math.sqrt(part);
}

export function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The first text is the longest: "10,000 locations or more". */
const STARTS = [0, 440, 720];
const HALF_HEIGHT = 24;

/** What the sizes mean, on the scale of the map: marks of the full amount, a quarter of it and next to nothing. */
export function sizeLegend(sizes: MarkSizes, level: number, facts: Facts): Html {
  const first = facts.valueName === null ? 'rows' : 'value';
  const one = (by: 'rows' | 'value', shown: (amount: number) => string) => {
    const full = sizes.full[by];
    const entries: readonly (readonly [number, string])[] =
      full <= 1
        ? [[0, `${shown(full)} each`]]
        : [
            [full, `${shown(full)} or more`],
            [full / 4, shown(full / 4)],
            [0, 'hardly any'],
          ];
    return html`<svg class="sizes level-${level}" data-by="${by}" viewBox="0 0 ${WIDTH} ${HALF_HEIGHT * 2}" role="img" aria-label="Sizes: ${entries.map(([, text]) => text).join('; ')}"${by === first ? null : html` hidden`}>${entries.map(
      ([part, text], index) =>
        html`<use href="#mark" transform="translate(${20 + STARTS[index]!} ${HALF_HEIGHT})scale(${tenth(sizeOf(part, full, sizes.least, sizes.most))})"/><text x="${44 + STARTS[index]!}" y="${HALF_HEIGHT}">${text}</text>`,
    )}</svg>
`;
  };
  return html`${one('rows', (rows) => counted(Math.ceil(rows), 'location'))}${facts.valueName !== null && one('value', (value) => amount(value, facts.currency))}`;
}
