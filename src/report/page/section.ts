import { type Html, html } from './html.ts';

/** A section that folds. */
export function section(id: string, title: string, body: Html, open = true): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<details${open && html` open`}><summary><h2 id="${id}-title">${title}</h2></summary>
${body}</details>
</section>
`;
}

/** A heading, what it says and its table: on paper they stay together. */
export function block(title: string, says: Html | false, table: Html, after: Html | false = false): Html {
  return html`<div class="block">
<h3>${title}</h3>
${
  says &&
  html`<p class="says">${says}</p>
`
}${scrolling(title, table)}${after}</div>
`;
}

/** A table that scrolls on its own where it is wider than the page. */
export function scrolling(title: string, table: Html): Html {
  return html`<div class="wide" role="region" tabindex="0" aria-label="Table: ${title}">${table}</div>
`;
}
