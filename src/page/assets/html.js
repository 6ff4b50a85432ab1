import htm from 'htm';
import { h } from 'preact';

/** Markup of the page. Values become text, never markup: they come from files. */
export const html = htm.bind(h);

/** Adds a full stop to a text that has no end mark. */
const sentence = (text) => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** An error and its hint; nothing for null. */
export function ErrorBox({ id, error, kind = '', children }) {
  return html`<div id=${id} class=${`error ${kind}`.trim()} role="alert" hidden=${error === null}>
    ${error && html`<p><strong>${sentence(error.message)}</strong></p>`}
    ${error?.hint && html`<p>${error.hint}</p>`}
    ${error && children}
  </div>`;
}

/** Names and values; those that are null are left out. */
export function Facts({ id, pairs }) {
  const shown = pairs.filter(([, value]) => value !== null);
  return html`<dl id=${id} class="facts">
    ${shown.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

/** A step that folds to a line. An error of the step belongs below it: in a folded step nobody would see why Start is off. @param isOpen a signal */
export function Fold({ name, title, line, isOpen, children }) {
  return html`<details id=${`${name}-fold`} open=${isOpen.value} onToggle=${({ currentTarget }) => {
    isOpen.value = currentTarget.open;
  }}>
    <summary><h2 id=${`${name}-title`}>${title}</h2> <span id=${`${name}-line`} class="line soft">${line}</span></summary>
    ${children}
  </details>`;
}

/** The options of a list. @param values pairs of value and text @param chosen the selected value, compared as text */
export function Options({ values, chosen }) {
  return values.map(
    ([value, text]) =>
      html`<option key=${value} value=${value} selected=${String(value) === String(chosen)}>${text}</option>`,
  );
}
