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
        {},
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
  const boxes = [...document.querySelectorAll('#topics input')];
  const chosen = () => boxes.filter((box) => box.checked).map((box) => box.value);

  function count() {
    const number = chosen().length;
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
