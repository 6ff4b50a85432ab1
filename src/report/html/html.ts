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
    strings.map((text, index) => text + (index < values.length ? rendered(values[index]!) : '')).join(''),
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
    .replace(UNSEEN, (unseen) => `⟨U+${unseen.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`)
    .replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** Text from a file, isolated so that its direction does not affect the text after it. */
export function quoted(text: string): Html {
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

/** A heading, its sentence and its table, which stay together on paper. */
export function block(title: string, says: Html, table: Html): Html {
  return html`<div class="block">
<h3>${title}</h3>
<p class="says">${says}</p>
${scrolling(title, table)}</div>
`;
}

/** A table that scrolls on its own where it is wider than the page. */
export function scrolling(title: string, table: Html): Html {
  return html`<div class="wide" role="region" tabindex="0" aria-label="Table: ${title}">${table}</div>
`;
}

export function capital(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1);
}
