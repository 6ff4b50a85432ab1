/** The element of an id. */
export const byId = (id) => document.getElementById(id);

/** Makes an element. Texts become text nodes, never markup: they come from files. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function show(id, isShown) {
  byId(id).hidden = !isShown;
}

/** Sets a text only when it changes: screen readers would read a live region again. */
export function say(id, text) {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
}

/** Shows an error and its hint; null hides them. */
export function showError(id, error) {
  const box = byId(id);
  box.hidden = error === null;
  box.replaceChildren(
    ...(error === null
      ? []
      : [
          make('p', {}, make('strong', {}, sentence(error.message))),
          error.hint ? make('p', {}, error.hint) : '',
        ].filter(Boolean)),
  );
}

/** Shows names and values as `dt` and `dd`. */
export function showFacts(id, pairs) {
  const known = pairs.filter(([, value]) => value !== null);
  byId(id).replaceChildren(
    ...known.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))),
  );
}

const sentence = (text) => (/[.!?…]$/.test(text) ? text : `${text}.`);
