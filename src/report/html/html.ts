import { shareOf } from '../../base/format-numbers.ts';
import { percent } from '../figures/facts.ts';
import type { Tone } from '../figures/scales.ts';

/** Text that is markup. Only `html` and `markup` create it, so everything else is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlPart = string | number | Html | null | false | readonly HtmlPart[];

/** Markup with values, which are escaped unless they are `Html`. null and false render nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  return new Html(
    strings
      .map((text, index) => text + (index < values.length ? rendered(values[index]!) : ''))
      .join(''),
  );
}

/** Trusted markup: styles, scripts, paths of the program. Never for text from a file. */
export function markup(text: string): Html {
  return new Html(text);
}

function rendered(part: HtmlPart): string {
  if (part === null || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(rendered).join('');
  return escaped(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters, and characters that change the direction of text: a name could use them to disguise itself. */
const UNSEEN = /(?![\t\n\r])[\p{Cc}\p{Bidi_C}\ufeff]/gu;

/** Escapes a text. Invisible characters are named (⟨U+202E⟩); lone surrogates become U+FFFD. */
export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(
      UNSEEN,
      (unseen) => `⟨U+${unseen.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`,
    )
    .replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** Text from a file, isolated so that its direction does not affect the text after it. */
export function isolateText(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

/** Data for a `<script type="application/json">`, escaped so that it cannot end the element. */
export function jsonData(value: unknown): Html {
  return markup(
    JSON.stringify(value).replace(
      /[<>&\u2028\u2029]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
}

/** A section that folds. */
export function section(id: string, title: string, body: Html, open = true): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<details${open && html` open`}><summary><h2 id="${id}-title">${title}</h2></summary>
${body}</details>
</section>
`;
}

/** A heading, its sentence and its table, of which they are not parted on paper. */
export function block(title: string, says: Html, table: Html): Html {
  return html`<div class="block">
<h3>${title}</h3>
<p class="says">${says}</p>
${makeScrollable(title, table)}</div>
`;
}

/** A table that scrolls on its own where it is wider than the page. */
export function makeScrollable(title: string, table: Html): Html {
  return html`<div class="wide" role="region" tabindex="0" aria-label="Table: ${title}">${table}</div>
`;
}

/** A table whose caption is for screen readers alone. */
export function table(
  caption: string,
  heads: HtmlPart,
  lines: HtmlPart,
  style = '',
  foot: HtmlPart = null,
): Html {
  return html`<table${style !== '' && html` class="${style}"`}>
<caption class="unseen">${caption}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>
${lines}</tbody>${foot !== null && html`\n<tfoot><tr>${foot}</tr></tfoot>`}
</table>`;
}

/** A word with a capital letter. */
export function capital(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1);
}

/** `rest`: other answers together. `plain`: no class. */
type BarTone = Tone | 'rest' | 'plain';

/** A bar for a share, beside its number. Hidden from screen readers, which read the number. */
export function bar(part: number, whole: number, tone: BarTone): Html {
  const width = Math.max(0, Math.min(100, 100 * (shareOf(part, whole) ?? 0)));
  // Widths as attributes: the page's policy forbids style attributes. In percent: a viewBox would stretch the hatching.
  return html`<svg class="bar" aria-hidden="true" focusable="false"><rect class="rail" width="100%" height="100%"/><rect class="t-${tone}" width="${width.toFixed(1)}%" height="100%"/></svg>`;
}

/** A bar of parts beside one another; a part of 0 is not drawn. */
export function stackedBar(
  parts: readonly { readonly tone: BarTone; readonly part: number }[],
): Html {
  const whole = parts.reduce((all, { part }) => all + part, 0);
  let before = 0;
  const rects = parts.map(({ tone, part }) => {
    const [x, width] = [before, 100 * (shareOf(part, whole) ?? 0)];
    before += width;
    return (
      width > 0 &&
      html`<rect class="t-${tone}" x="${x.toFixed(2)}%" width="${width.toFixed(2)}%" height="100%"/>`
    );
  });
  return html`<svg class="bar" aria-hidden="true" focusable="false">${rects}</svg>`;
}

/** A cell of a table with a share, as a bar and in percent. */
export function shareCell(part: number, whole: number, tone: BarTone): Html {
  return html`<td class="share"><span>${bar(part, whole, tone)}<b>${percent(part, whole)}</b></span></td>`;
}

/** The colour of a class, for legends and the first cells of rows. */
export function swatch(tone: BarTone): Html {
  return html`<svg class="swatch" viewBox="0 0 12 12" aria-hidden="true" focusable="false"><rect class="t-${tone}" x=".5" y=".5" width="11" height="11"/></svg>`;
}

/** The part of the heat's colour in each background, in percent. */
const HEATS = [8, 16, 24, 32, 40];

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
  const own = [...fills, ['sparse', 'none'], ['unanswered', 'none']].map(
    ([tone, of]) => `.of-${tone} { --own: var(--${of === 'void' ? 'none' : of}); }`,
  );
  const mixed = (part: number) =>
    `color-mix(in srgb, var(--own, var(--heat)) ${part}%, transparent)`;
  return [
    ...tones,
    ...own,
    ...HEATS.map((part, index) => `.h-${index + 1} { background: ${mixed(part)}; }`),
    '',
  ].join('\n');
}

/** How a cell is coloured by its number: in the tone of its class, or, for a sum (null), in a colour that no class has. */
interface HeatStyle {
  readonly tone: BarTone | null;
  /** For the screen only. */
  readonly isUnprinted?: boolean;
}

/** A table cell whose background shows the size of its number, from 0 to 1. */
export function heatCell(
  text: string,
  heat: number,
  { tone, isUnprinted = false }: HeatStyle,
): Html {
  // By the square root: in most portfolios few cells are large, and all others would look empty.
  const level =
    heat <= 0 ? 0 : Math.max(1, Math.round(Math.sqrt(Math.min(1, heat)) * HEATS.length));
  return html`<td class="n h-${level}${tone !== null && ` of-${tone}`}${isUnprinted && ' unprinted'}">${text}</td>`;
}
