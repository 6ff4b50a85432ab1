import { byId, make, say, show } from './dom.js';
import { grouped } from './format.js';

const GROUPS = [
  ['natural', 'Natural hazards'],
  ['proximity', 'Nearby sites'],
  ['measurement', 'Measurements'],
];

/** The topics by category. */
export function setUpTopics(topics, onChange) {
  byId('topics').replaceChildren(
    ...GROUPS.map(([category, title]) =>
      make(
        'fieldset',
        { 'aria-describedby': 'topics-keys' },
        make(
          'legend',
          {},
          make('span', {}, title),
          make(
            'button',
            { type: 'button', class: 'button small', 'data-topics': category, 'aria-label': `All of ${title}` },
            'All',
          ),
          make(
            'button',
            { type: 'button', class: 'button small', 'data-topics': `-${category}`, 'aria-label': `None of ${title}` },
            'None',
          ),
        ),
        make(
          'div',
          { class: 'boxes' },
          ...topics
            .filter((topic) => topic.category === category)
            .map(({ slug, title: name }) =>
              make('label', {}, make('input', { type: 'checkbox', value: slug, 'data-category': category }), name),
            ),
        ),
      ),
    ),
  );
  for (const group of document.querySelectorAll('#topics fieldset')) oneTabStop(group);
  const boxes = [...document.querySelectorAll('#topics input')];
  const chosen = () => boxes.filter((box) => box.checked).map((box) => box.value);

  function count() {
    const number = chosen().length;
    say('topics-line', `${grouped(number)} of ${boxes.length}`);
    say('topics-count', number === 0 ? 'Choose at least one topic.' : `${grouped(number)} of ${boxes.length} chosen`);
  }

  function changed() {
    count();
    onChange();
  }

  byId('topics').addEventListener('change', changed);
  byId('topics-step').addEventListener('click', ({ target }) => {
    const which = target.dataset?.topics;
    if (!which) return;
    const isOn = which !== 'none' && !which.startsWith('-');
    const category = which.replace('-', '');
    for (const box of boxes) {
      if (which === 'all' || which === 'none' || box.dataset.category === category) box.checked = isOn;
    }
    changed();
  });

  return {
    chosen,
    open(slugs) {
      for (const box of boxes) box.checked = slugs ? slugs.includes(box.value) : box.dataset.category === 'natural';
      show('topics-step', true);
      count();
    },
  };
}

const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** Makes a group one stop of the Tab key; the arrow keys move within it. 46 stops would stand between the columns and the price. */
function oneTabStop(group) {
  const stops = [...group.querySelectorAll('input, button')];
  const firstBox = stops.findIndex((stop) => stop.matches('input'));
  for (const [index, stop] of stops.entries()) stop.tabIndex = index === firstBox ? 0 : -1;
  group.addEventListener('focusin', ({ target }) => {
    for (const stop of stops) stop.tabIndex = stop === target ? 0 : -1;
  });
  group.addEventListener('keydown', (event) => {
    const at = stops.indexOf(event.target);
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? stops.length - 1 : at + (STEPS[event.key] ?? 0);
    if (at < 0 || to === at || stops[to] === undefined) return;
    event.preventDefault();
    stops[to].focus();
  });
}
