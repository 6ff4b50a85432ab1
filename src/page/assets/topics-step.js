import { signal } from '@preact/signals';
import { Fold, html } from './html.js';
import { grouped } from './numbers.js';
import { about, choose, chosen, folds } from './state.js';

const GROUPS = [
  ['natural', 'Natural hazards'],
  ['proximity', 'Nearby sites'],
  ['measurement', 'Measurements'],
  ['layer', 'Layers on this machine'],
];

const inGroup = (group) => about.value.topics.filter((topic) => topic.group === group);

const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** Turns topics on or off; all that are chosen are kept in the server's order. @param changed their slugs */
function take(changed, isOn) {
  const all = about.value.topics.map(({ slug }) => slug);
  choose({
    topics: all.filter((slug) =>
      changed.includes(slug) ? isOn : chosen.value.topics.includes(slug),
    ),
  });
}

/** Boxes for topics by group, without empty groups, and for expected losses. The first All leaves out layers. */
export function TopicsStep() {
  const { topics } = chosen.value;
  const slugs = about.value.topics.map(({ slug }) => slug);
  const inAll = about.value.topics.filter(({ group }) => group !== 'layer').map(({ slug }) => slug);
  const groups = GROUPS.filter(([group]) => inGroup(group).length > 0);
  const words = `${grouped(topics.length)} of ${slugs.length}`;
  return html`<section id="topics-step" aria-labelledby="topics-title">
    <${Fold} name="topics" title="Topics" line=${words} isOpen=${folds.topics}>
      <p class="row"><span id="topics-count" role="status">${topics.length === 0 ? 'Choose at least one topic.' : `${words} chosen`}</span>${' '}
        <button type="button" class="button small" data-topics="all" onClick=${() => take(inAll, true)}>All</button>${' '}
        <button type="button" class="button small" data-topics="none" onClick=${() => take(slugs, false)}>None</button></p>
      <p id="topics-keys" class="unseen">The arrow keys move within a group.</p>
      <p id="losses-choice"><label class="check"><input type="checkbox" id="losses" checked=${chosen.value.losses === true} onChange=${({ currentTarget }) => choose({ losses: currentTarget.checked })} />Expected annual losses of the natural hazards</label></p>
      <div id="topics">${groups.map(([group, title]) => html`<${Group} key=${group} group=${group} title=${title} />`)}</div>
    <//>
  </section>`;
}

/** The stop of each group that the Tab key leads to: two buttons, then the boxes. */
const tabStops = Object.fromEntries(GROUPS.map(([group]) => [group, signal(2)]));

/** One stop of the Tab key; the arrow keys move within it. 46 stops would stand between the columns and the price. */
function Group({ group, title }) {
  const members = inGroup(group);
  const slugs = members.map(({ slug }) => slug);
  const at = tabStops[group];
  const stop = (index) => ({
    tabIndex: at.value === index ? 0 : -1,
    onFocus: () => {
      at.value = index;
    },
  });
  function move(event) {
    const stops = [...event.currentTarget.querySelectorAll('button, input')];
    const from = stops.indexOf(event.target);
    const to =
      event.key === 'Home'
        ? 0
        : event.key === 'End'
          ? stops.length - 1
          : from + (STEPS[event.key] ?? 0);
    if (from < 0 || to === from || stops[to] === undefined) return;
    event.preventDefault();
    stops[to].focus();
  }
  return html`<fieldset aria-describedby="topics-keys" onKeyDown=${move}>
    <legend><span>${title}</span>
      <button type="button" class="button small" data-topics=${group} aria-label=${`All of ${title}`} onClick=${() => take(slugs, true)} ...${stop(0)}>All</button>
      <button type="button" class="button small" data-topics=${`-${group}`} aria-label=${`None of ${title}`} onClick=${() => take(slugs, false)} ...${stop(1)}>None</button></legend>
    <div class="boxes">${members.map(
      ({ slug, title: name }, index) =>
        html`<label key=${slug}><input type="checkbox" value=${slug} checked=${chosen.value.topics.includes(slug)} onChange=${({ currentTarget }) => take([slug], currentTarget.checked)} ...${stop(index + 2)} />${name}</label>`,
    )}</div>
  </fieldset>`;
}
