import { byId, make } from './dom.js';
import { counted } from './format.js';

const GROUPS = { natural: 'natural hazards', proximity: 'nearby sites', measurement: 'measurements' };

/** More steps than these would hardly be told apart in a price. */
const MOST_STEPS = 3;

/** All natural hazards would be 18 stops of the Tab key. */
const MOST_BUTTONS = 5;

/** The topics that are bought first, step by step; each step is a set of topics. The last step is what is left. */
export function setUpTiers(topics, chosenTopics, onChange) {
  const bySlug = new Map(topics.map((topic) => [topic.slug, topic]));
  /** Topics that are not chosen now stay: they may be chosen again. */
  let steps = [];

  const isChosen = (slug) => chosenTopics().includes(slug);
  const chosen = () => steps.map((step) => step.filter(isChosen)).filter((step) => step.length > 0);

  /** The chosen topics that are in no step. */
  function rest() {
    const taken = new Set(steps.flat());
    return chosenTopics().filter((slug) => !taken.has(slug));
  }

  /** Changes the steps, and puts the focus where the next choice is made. */
  function change(next, step) {
    steps = next.filter((slugs) => slugs.length > 0);
    draw();
    const selects = [...byId('tiers').querySelectorAll('select')];
    (selects[Math.min(step, selects.length - 1)] ?? byId('tiers').querySelector('button')).focus();
    onChange();
  }

  byId('tiers').addEventListener('click', ({ target }) => {
    const { add, remove } = target.dataset;
    if (add !== undefined) {
      const step = Number(add);
      const { value } = target.parentElement.querySelector('select');
      const added = bySlug.has(value) ? [value] : rest().filter((slug) => bySlug.get(slug).category === value);
      change([...steps.slice(0, step), [...(steps[step] ?? []), ...added], ...steps.slice(step + 1)], step);
    } else if (remove !== undefined) {
      const removed = remove.split(' ');
      const step = steps.findIndex((slugs) => slugs.includes(removed[0]));
      change(
        steps.map((slugs) => slugs.filter((slug) => !removed.includes(slug))),
        step,
      );
    }
  });

  /** Drawn only when it changes: a field that has the focus would lose it. */
  function draw() {
    const left = rest();
    const key = JSON.stringify([chosen(), left]);
    if (byId('tiers').dataset.drawn === key) return;
    byId('tiers').dataset.drawn = key;
    const isOpen = left.length > 0 && steps.length < MOST_STEPS;
    const shown = isOpen ? [...steps, []] : steps;
    byId('tiers').replaceChildren(
      ...shown.map((slugs, step) => stepItem(slugs.filter(isChosen), step, left)),
      ...(left.length > 0 ? [make('li', { class: 'soft' }, `Then the other ${counted(left.length, 'topic')}`)] : []),
    );
  }

  function stepItem(slugs, step, left) {
    const chips = gathered(slugs).map(({ name, of }) => {
      const label = `Remove ${name} from step ${step + 1}`;
      const titles = of.map((slug) => bySlug.get(slug).title).join(', ');
      return make(
        'button',
        {
          ...{ type: 'button', class: 'button small chip', 'data-remove': of.join(' '), 'aria-label': label },
          ...(of.length > 1 ? { title: titles } : {}),
        },
        name,
      );
    });
    if (left.length === 0) return make('li', {}, ...chips);
    const groups = Object.entries(GROUPS).flatMap(([category, name]) => {
      const count = left.filter((slug) => bySlug.get(slug).category === category).length;
      return count > 1 ? [make('option', { value: category }, `All ${name} (${count})`)] : [];
    });
    const singles = left.map((slug) => make('option', { value: slug }, bySlug.get(slug).title));
    return make(
      'li',
      {},
      ...chips,
      make('select', { 'aria-label': `Topic or group for step ${step + 1}` }, ...groups, ...singles),
      make(
        'button',
        { type: 'button', class: 'button small', 'data-add': step, 'aria-label': `Add to step ${step + 1}` },
        'Add',
      ),
    );
  }

  /** One button for each topic; one for many topics of a group. */
  function gathered(slugs) {
    return Object.entries(GROUPS).flatMap(([category, words]) => {
      const of = slugs.filter((slug) => bySlug.get(slug).category === category);
      if (of.length > MOST_BUTTONS) return [{ name: `${of.length} ${words}`, of }];
      return of.map((slug) => ({ name: bySlug.get(slug).title, of: [slug] }));
    });
  }

  return {
    chosen,
    draw,
    open(sets) {
      steps = sets;
    },
  };
}
