import { shareOf } from '../../base/format-numbers.ts';
import { percent } from '../figures/measure.ts';
import type { Tone } from '../figures/scales.ts';
import { type Html, html } from './html.ts';

/** `rest`: other answers together. `plain`: no class. */
type BarTone = Tone | 'rest' | 'plain';

/** A bar for a share, beside its number. Hidden from screen readers, which read the number. */
export function bar(part: number, whole: number, tone: BarTone): Html {
  const width = Math.max(0, Math.min(100, 100 * (shareOf(part, whole) ?? 0)));
  // Widths as attributes: the page's policy forbids style attributes. In percent: a viewBox would stretch the hatching.
  return html`<svg class="bar" aria-hidden="true" focusable="false"><rect class="rail" width="100%" height="100%"/><rect class="t-${tone}" width="${width.toFixed(1)}%" height="100%"/></svg>`;
}

export function stackedBar(parts: readonly { readonly tone: BarTone; readonly part: number }[]): Html {
  const whole = parts.reduce((all, { part }) => all + part, 0);
  let before = 0;
  const rects = parts.map(({ tone, part }) => {
    const [x, width] = [before, 100 * (shareOf(part, whole) ?? 0)];
    before += width;
    return width > 0 && html`<rect class="t-${tone}" x="${x.toFixed(2)}%" width="${width.toFixed(2)}%" height="100%"/>`;
  });
  return html`<svg class="bar" aria-hidden="true" focusable="false">${rects}</svg>`;
}

export function shareCell(part: number, whole: number, tone: BarTone): Html {
  return html`<td class="share"><span>${bar(part, whole, tone)}<b>${percent(part, whole)}</b></span></td>`;
}

/** The colour of a class, for legends and the first cells of rows. */
export function swatch(tone: BarTone): Html {
  return html`<svg class="swatch" viewBox="0 0 12 12" aria-hidden="true" focusable="false"><rect class="t-${tone}" x=".5" y=".5" width="11" height="11"/></svg>`;
}

/** The part of the heat's colour in each background, in percent. */
const HEATS = [9, 20, 35, 54, 80];

/** The style of tones and heats, a rule for each; that of hatchings is in map.css. */
export function toneStyle(): string {
  const fills = [
    ...['1', '2', '3', '4', '5', '6'].map((tone) => [tone, `t${tone}`]),
    ['none', 'none'],
    ['void', 'void'],
  ];
  const tones = [...fills, ['plain', 'accent'], ['rest', 'rail']].map(
    ([tone, of]) => `.t-${tone} { fill: var(--${of}); }`,
  );
  const mixed = (part: number) => `color-mix(in srgb, var(--heat) ${part}%, transparent)`;
  return [...tones, ...HEATS.map((part, index) => `.h-${index + 1} { background: ${mixed(part)}; }`), ''].join('\n');
}

/** A table cell whose background shows the size of its number, from 0 to 1. Some are for the screen only. */
export function heatCell(text: string, heat: number, isUnprinted = false): Html {
  // By the square root: in most portfolios few cells are large, and all others would look empty.
  const level = heat <= 0 ? 0 : Math.max(1, Math.round(Math.sqrt(Math.min(1, heat)) * HEATS.length));
  return html`<td class="n h-${level}${isUnprinted && ' unprinted'}">${text}</td>`;
}
