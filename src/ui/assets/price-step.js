import { byId, make, say, show, showError } from './dom.js';
import { byteSize, counted, day, grouped, timeSpan } from './format.js';

/** The first two are choices of a run; the others are for comparison. */
const WAYS = [
  ['cheapest', 'Fewest credits', 'credits'],
  ['fewest_calls', 'Fewest calls', 'calls'],
  ['standard', 'Standard bundles', null],
  ['enterprise', 'Enterprise bundles', null],
];

export function setUpPrice(onChange) {
  byId('ways-rows').replaceChildren(
    ...WAYS.map(([way, title, optimize]) =>
      make(
        'tr',
        { 'data-way': way },
        head(title, optimize),
        make('td', { class: 'number' }),
        ...[1, 2].map(() => make('td', { class: 'number wide' })),
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
      show('ways', priced !== null);
      if (priced === null) {
        for (const id of ['price', 'price-words', 'price-notes']) say(id, '');
        say('price-verdict', error === null ? 'Choose the location columns and at least one topic.' : '');
        return;
      }
      const { summary, accounts } = priced;
      say('price', grouped(summary.credits));
      say('price-line', counted(summary.credits, 'credit'));
      say('price-words', wordsOf(summary));
      say('price-verdict', verdictOf(summary, accounts));
      for (const [way] of WAYS) drawWay(way, summary.tiers[way]);
      say('price-notes', notesOf(summary));
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

function drawWay(way, { credits, calls, bytes, minutes, fits, periods, finish_by, lacks }) {
  const row = document.querySelector(`tr[data-way="${way}"]`);
  row.querySelector('.lacks').textContent = lacks.length > 0 ? `without ${counted(lacks.length, 'topic')}` : '';
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

function verdictOf({ credits, credits_available, tiers, source, cells, cells_cached }, accounts) {
  if (source.kind === 'local') {
    const left = cells - cells_cached;
    return `Answers come from public data on this machine: ${counted(left, 'place')} to look up, free of charge.`;
  }
  const resets = day(Math.min(...accounts.map((account) => account.resets)));
  if (credits === 0) return 'Nothing to buy. A run writes the output from the answers in the store.';
  const left = `${grouped(credits_available)} credits are left until ${resets}`;
  if (credits <= credits_available) return `It fits this period: ${left}.`;
  const { finish_by } = tiers.planned;
  const rest = finish_by === null ? 'The quota is never enough for the rest.' : `Complete by ${day(finish_by)}.`;
  return `It does not fit this period: ${left}. ${rest}`;
}

function notesOf({ saved, scopes }) {
  const savings = [
    saved.by_cells > 0 ? `${counted(saved.by_cells, 'credit')} saved by buying each place once` : '',
    saved.by_cache > 0 ? `${counted(saved.by_cache, 'credit')} saved by answers in the store` : '',
  ].filter(Boolean);
  return [savings.length > 0 ? `The whole price: ${savings.join(', ')}.` : '', ...scopes].filter(Boolean).join(' ');
}
