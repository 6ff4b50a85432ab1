/** Text that is markup already. Only `html` and `markup` make it, so nothing else gets onto the page unescaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlPart = string | number | Html | null | false | readonly HtmlPart[];

/** Markup with values in it. Every value is escaped, those made by `html` excepted; null and false are nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  return new Html(
    strings.map((text, index) => text + (index < values.length ? rendered(values[index]!) : '')).join(''),
  );
}

/** Text that the program itself wrote as markup: styles, scripts, paths. Never for anything out of a file. */
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

/** Control characters and those that turn the direction of writing: a name could hide behind them what it says. */
const UNSEEN = /(?![\t\n\r])[\p{Cc}\p{Bidi_C}\ufeff]/gu;

/** A text as markup shows it. What is not seen is named (⟨U+202E⟩); broken halves of a character become U+FFFD. */
export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(UNSEEN, (unseen) => `⟨U+${unseen.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`)
    .replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** A text out of a file, set apart so that its direction of writing does not spill over what follows. */
export function quoted(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

/** Data for a script, as the content of a `<script type="application/json">`: nothing in it can end the element. */
export function jsonData(value: unknown): Html {
  return markup(
    JSON.stringify(value).replace(
      /[<>&\u2028\u2029]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
}
