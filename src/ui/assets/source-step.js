import { byId, make, say, show } from './dom.js';

/* Where answers come from, whether one answer holds for an area. What cannot be chosen says why. */

const SOURCES = [
  ['local', 'Public data on this machine', 'free'],
  ['service', 'Paid service', 'metered in credits'],
  ['sample', 'Sample data', 'made up, to try Perilbook'],
];

const LEVELS = [
  ['place', 'Place', 'each distinct location'],
  ['tract', 'Census tract', ''],
  ['county', 'County', ''],
];

const SHARES = [0, 0.01, 0.05, 0.1];

/** Names of columns that hold codes of areas as a rule. */
const LIKELY = { tract: /tract|geoid/i, county: /county|fips|geoid/i };

const FREE = 'Answers of this source are free: there is nothing to save.';

export function setUpSource(onChange) {
  let columns = [];
  let offered = { sources: {}, boundaries: {}, areas: {} };
  /** An index, `boundaries`, or a name that is not among the columns of this file. */
  let known = 'boundaries';
  fillRadios('sources', 'source', SOURCES);
  fillRadios('areas', 'area', LEVELS);
  byId('area-verify').replaceChildren(
    ...SHARES.map((share) =>
      make(
        'option',
        { value: share, selected: share === 0.01 },
        share === 0 ? 'none' : `${100 * share} % of the places saved`,
      ),
    ),
  );
  byId('source-step').addEventListener('change', ({ target }) => {
    if (target.id === 'area-column') known = target.value;
    draw();
    onChange();
  });

  const source = () => radio('source');
  const level = () => radio('area');

  /** Columns that can be named: those with a name of their own, likely ones first. */
  function areaColumns(wanted) {
    const all = [...columns.entries()].filter(([index, name]) => name !== '' && columns.indexOf(name) === index);
    const isLikely = ([, name]) => LIKELY[wanted].test(name);
    return [...all.filter(isLikely), ...all.filter((column) => !isLikely(column))];
  }

  function whyNoArea(wanted) {
    if (wanted === 'place') return null;
    if (source() === 'local') return FREE;
    const nothingSaved = offered.areas[wanted] ?? null;
    if (nothingSaved !== null) return nothingSaved;
    const isLikely = columns.some((name) => LIKELY[wanted].test(name));
    return isLikely ? null : (offered.boundaries[wanted] ?? null);
  }

  function draw() {
    for (const [value] of SOURCES) mark('source', value, offered.sources[value] ?? null);
    for (const [value] of LEVELS) mark('area', value, whyNoArea(value));
    drawAreaDetails();
    const names = [SOURCES.find(([value]) => value === source())[1]];
    if (areas() !== null) names.push(`one answer for each ${level() === 'tract' ? 'census tract' : 'county'}`);
    say('source-line', names.join(', '));
  }

  function drawAreaDetails() {
    const isArea = level() !== 'place' && whyNoArea(level()) === null;
    show('area-details', isArea);
    if (!isArea) return;
    const canFind = (offered.boundaries[level()] ?? null) === null;
    const options = [
      ...(canFind ? [['boundaries', 'Boundaries on this machine']] : []),
      ...areaColumns(level()).map(([index, name]) => [String(index), `Column ${name}`]),
    ];
    if (!options.some(([value]) => value === known)) known = options[0]?.[0] ?? 'boundaries';
    byId('area-column').replaceChildren(
      ...options.map(([value, text]) => make('option', { value, selected: value === known }, text)),
    );
  }

  /** Null: one answer for each place. */
  function areas() {
    if (level() === 'place' || whyNoArea(level()) !== null) return null;
    const column = known === 'boundaries' ? null : Number(known);
    return { level: level(), column, verify: Number(byId('area-verify').value) };
  }

  function chosen() {
    const area = areas();
    return { source: source(), ...(area === null ? {} : { areas: area }) };
  }

  return {
    chosen,
    /** Shows a file with what was chosen for it before. */
    open(book, before) {
      columns = book.columns;
      offered = { sources: {}, boundaries: {}, areas: {} };
      choose('source', before.source);
      choose('area', before.areas?.level ?? 'place');
      const { column = null, verify = 0.01 } = before.areas ?? {};
      known = column === null ? 'boundaries' : String(typeof column === 'number' ? column : columns.indexOf(column));
      byId('area-verify').value = String(SHARES.includes(verify) ? verify : 0.01);
      show('source-step', true);
      draw();
    },
    /** What can be chosen, as the server said. */
    offer(next) {
      offered = next ?? offered;
      draw();
    },
  };
}

/** Says where answers come from. */
export function introduce({ service, account, subscription }, source) {
  show('sample', source === 'sample');
  say('source-service-name', service === null ? 'Paid service' : `Paid service ${service}`);
  const from = {
    local: 'public data on this machine, free of charge, for topics whose data is here',
    service: `${service}, account ${account} (${subscription})`,
    sample: 'made-up sample data',
  };
  say('about', `Adds hazard columns to a file of US locations. Answers come from ${from[source]}.`);
}

const radio = (name) => document.querySelector(`input[name="${name}"]:checked`).value;

function choose(name, value) {
  document.querySelector(`input[name="${name}"][value="${value}"]`).checked = true;
}

function fillRadios(fieldset, name, values) {
  byId(fieldset).append(
    ...values.map(([value, title, what], index) =>
      make(
        'p',
        {},
        make(
          'label',
          {},
          make('input', {
            type: 'radio',
            name,
            value,
            checked: index === 0,
            'aria-describedby': `${name}-${value}-why`,
          }),
          make('span', { id: `${name}-${value}-name` }, title),
        ),
        make('span', { id: `${name}-${value}-why`, class: 'soft small' }, what),
      ),
    ),
  );
  for (const [value, , what] of values) byId(`${name}-${value}-why`).dataset.what = what;
}

/** Says why a value cannot be chosen; null: it can. The chosen one stays a stop of the Tab key. */
function mark(name, value, reason) {
  const input = document.querySelector(`input[name="${name}"][value="${value}"]`);
  const words = byId(`${name}-${value}-why`);
  input.disabled = reason !== null && !input.checked;
  words.textContent = reason ?? words.dataset.what;
}
