import { byId, make, say, show, showError } from './dom.js';
import { byteSize, counted, day, grouped, timeSpan } from './format.js';

/** The first two are choices of a run; the others are for comparison. */
const WAYS = [
  ['cheapest', 'Fewest credits', 'credits'],
  ['fewest_calls', 'Fewest calls', 'calls'],
  ['standard', 'Standard bundles', null],
  ['enterprise', 'Enterprise bundles', null],
];

/** @param topics all topics, by their titles */
export function setUpPrice(topics, onChange) {
  const titleOf = new Map(topics.map(({ slug, title }) => [slug, title]));

  byId('ways-rows').replaceChildren(
    ...WAYS.map(([way, title, optimize]) =>
      make(
        'tr',
        { 'data-way': way },
        head(title, optimize),
        make('td', { class: 'number' }),
        ...['calls', 'wide'].map((kind) => make('td', { class: `number ${kind}` })),
        make('td', { class: 'number' }),
        make('td'),
      ),
    ),
  );
  byId('ways').addEventListener('change', onChange);
  return {
    optimize: () => document.querySelector('#ways input:checked').value,
    open(optimize) {
      document.querySelector(`#ways input[value="${optimize ?? 'credits'}"]`).checked = true;
      show('price-step', true);
    },
    waiting() {
      byId('price-step').classList.add('stale');
    },
    /** Shows a price, or an error, or that something must be chosen. */
    draw(priced, error) {
      byId('price-step').classList.remove('stale');
      showError('price-error', error);
      const isLocal = priced?.summary.source.kind === 'local';
      show('ways-box', priced !== null && !isLocal);
      say('price-title', isLocal ? 'Look-up' : 'Price');
      if (priced === null) {
        for (const id of ['price', 'price-words', 'price-notes']) say(id, '');
        say('price-verdict', error === null ? 'Choose the location columns and at least one topic.' : '');
        return;
      }
      const { summary, tiers, accounts } = priced;
      const left = summary.cells - summary.cells_cached;
      say('price', grouped(isLocal ? left : summary.credits));
      say('price-line', isLocal ? `${counted(left, 'place')}, free` : counted(summary.credits, 'credit'));
      say('price-words', isLocal ? localWords(summary, left) : wordsOf(summary));
      say('price-verdict', verdictOf(summary, accounts));
      if (!isLocal) for (const [way] of WAYS) drawWay(way, summary.tiers[way], titleOf);
      say('price-notes', isLocal ? sourceNotes(summary.source) : notesOf(summary, tiers));
    },
  };
}

function head(title, optimize) {
  const name = make('span', {}, title, make('span', { class: 'lacks soft' }));
  if (optimize === null) return make('th', { scope: 'row', class: 'compared' }, name);
  return make(
    'th',
    { scope: 'row' },
    make('label', {}, make('input', { type: 'radio', name: 'optimize', value: optimize }), name),
  );
}

/** `Hail, Parks and 17 more`; one that would be `1 more` is named. */
function firstTitles(slugs, titleOf, most) {
  const titles = slugs.map((slug) => titleOf.get(slug));
  if (titles.length <= most + 1) return titles.join(', ');
  return `${titles.slice(0, most).join(', ')} and ${titles.length - most} more`;
}

function drawWay(way, { credits, calls, bytes, minutes, fits, periods, finish_by, lacks }, titleOf) {
  const row = document.querySelector(`tr[data-way="${way}"]`);
  row.querySelector('.lacks').textContent = lacks.length > 0 ? `without ${firstTitles(lacks, titleOf, 2)}` : '';
  const done = fits
    ? 'this period'
    : finish_by === null
      ? 'never'
      : `${counted(periods, 'period')}, by ${day(finish_by)}`;
  const texts = [grouped(credits), grouped(calls), byteSize(bytes), timeSpan(minutes), done];
  for (const [index, cell] of [...row.querySelectorAll('td')].entries()) cell.textContent = texts[index];
}

function wordsOf({ credits, cells, cells_cached }) {
  const known = cells_cached > 0 ? `, ${grouped(cells_cached)} of them already in the store` : '';
  return `${credits === 1 ? 'credit' : 'credits'} for ${counted(cells, 'place')}${known}`;
}

function localWords({ cells, cells_cached }, left) {
  const known = cells_cached > 0 ? ` of ${grouped(cells)}; the others are in the store` : '';
  return `${left === 1 ? 'place' : 'places'} to look up${known}`;
}

/** The data that is used, and what it cannot answer. */
function sourceNotes(source) {
  const { datasets, topics_without_data: topics, topics_without_records: uncounted } = source;
  const names = new Set(datasets.map(({ name, vintage }) => [name, vintage].filter(Boolean).join(' ')));
  const lacks = topics.length > 0 ? ` No data here for ${topics.join(', ')}: these stay empty.` : '';
  const counts =
    uncounted.length > 0 ? ` No records of events for ${uncounted.join(', ')}: their counts stay empty.` : '';
  const beyond = source.places_without_data
    .map(({ state, places: count }) => `${state} (${counted(count, 'place')})`)
    .join(', ');
  const missing = beyond === '' ? '' : ` Some data is not here for ${beyond}.`;
  return `Data: ${[...names].join(', ')}.${lacks}${counts}${missing}`;
}

function verdictOf({ credits, credits_available, tiers, source }, accounts) {
  if (source.kind === 'local') return 'Answers come from public data on this machine, free of charge.';
  const resets = day(Math.min(...accounts.map((account) => account.resets)));
  if (credits === 0) return 'Nothing to buy. A run writes the output from the answers in the store.';
  const left = `${grouped(credits_available)} credits are left until ${resets}`;
  if (credits <= credits_available) return `It fits this period: ${left}.`;
  const { finish_by } = tiers.planned;
  const rest = finish_by === null ? 'The quota is never enough for the rest.' : `Complete by ${day(finish_by)}.`;
  return `It does not fit this period: ${left}. ${rest}`;
}

function notesOf({ saved, scopes, areas }, tiers) {
  const savings = [
    saved.by_cells > 0 ? `${counted(saved.by_cells, 'credit')} by buying each place once` : '',
    saved.by_cache > 0 ? `${counted(saved.by_cache, 'credit')} by answers in the store` : '',
  ].filter(Boolean);
  return [
    savings.length > 0 ? `Saved: ${savings.join(', ')}.` : '',
    areas === null ? '' : areaWords(areas, saved.by_areas),
    tiers > 1 ? `The job file buys the topics in ${tiers} steps: each for every location before the next one.` : '',
    ...scopes,
  ]
    .filter(Boolean)
    .join(' ');
}

function areaWords({ representatives, spared, verified, near_border: onBorder = 0, no_boundaries: none = 0 }, saved) {
  const alone = [
    onBorder > 0 ? `${grouped(onBorder)} on a border` : '',
    none > 0 ? `${grouped(none)} without boundaries here` : '',
  ].filter(Boolean);
  const single = alone.length > 0 ? ` Bought one by one: ${alone.join(', ')}.` : '';
  return `Areas: ${counted(representatives, 'place')} bought for a whole area, ${grouped(spared)} use their answers, ${grouped(verified)} bought to verify; ${counted(saved, 'credit')} saved.${single}`;
}
