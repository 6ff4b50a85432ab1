import { day } from './format.js';
import { ErrorBox, Fold, html } from './html.js';
import { byteSize, counted, grouped, percent, timeSpan } from './numbers.js';
import { needsServer } from './server.js';
import {
  about,
  budget,
  choose,
  chosen,
  folds,
  isAllHere,
  isLocal,
  price,
  priceAgain,
} from './state.js';

/** The first two are choices of a run; the others are for comparison. */
const WAYS = [
  ['cheapest', 'Fewest credits', 'credits'],
  ['fewest_calls', 'Fewest calls', 'calls'],
  ['standard', 'Standard bundles', null],
  ['enterprise', 'Enterprise bundles', null],
];

/** The price in credits; for local data, the places to look up. A curve and the ways to buy where there is something to buy. */
export function PriceStep() {
  const { value, error, question } = price.answer.value;
  const summary = value?.summary ?? null;
  const left = summary === null ? 0 : summary.cells - summary.cells_cached - summary.cells_rejected;
  const isHere = isLocal.value;
  const isBought = !isHere && isAllHere.value;
  const shownError = error?.code === 'INPUT_COLUMNS' ? null : error;
  const line =
    summary === null
      ? ''
      : isBought
        ? 'nothing to buy'
        : isHere
          ? `${counted(left, 'place')}, free`
          : counted(summary.credits, 'credit');
  return html`<section id="price-step" class=${price.isStale.value ? 'stale' : ''} aria-labelledby="price-title">
    <${Fold} name="price" title=${isHere ? 'Look-up' : 'Price'} line=${line} isOpen=${folds.price}>
      <p class="figure" aria-live="polite" hidden=${summary !== null && left === 0}><strong id="price">${summary && grouped(isHere ? left : summary.credits)}</strong> <span id="price-words">${summary && (isHere ? localWords(summary, left) : wordsOf(summary))}</span></p>
      ${value?.refused && html`<p id="price-refused"><strong>${value.refused}</strong></p>`}
      <p id="price-verdict">${summary ? verdictOf(summary, value.account) : error === null && question === null ? 'Choose the location columns and at least one topic.' : ''}</p>
      ${summary !== null && !isHere && !isBought && html`<${Curve} curve=${value.curve} summary=${summary} /><${Ways} ways=${summary.ways} />`}
      <p id="price-notes" class="soft small">${summary && (isHere ? sourceNotes(summary.source) : notesOf(summary))}</p>
    <//>
    <${ErrorBox} id="price-error" error=${shownError}><${Again} id="price-again" /><//>
  </section>`;
}

/** Asks for the price, and what can be chosen, once more. */
export function Again({ id }) {
  const isAsked = price.isStale.value;
  return html`<p><button type="button" id=${id} class="button small" onClick=${priceAgain} ...${needsServer(isAsked)}>${isAsked ? 'Asking…' : 'Try again'}</button></p>`;
}

const [CURVE_WIDTH, CURVE_HEIGHT] = [400, 120];

/** What each budget buys: the share of the value, or of the places, with the limit of the period and the budget as lines. */
function Curve({ curve, summary: { credits, credits_available: left } }) {
  const { points, marks, of } = curve;
  if (credits === 0 || points.length < 3) return null;
  const x = (at) => (CURVE_WIDTH * at) / credits;
  const y = (share) => CURVE_HEIGHT * (1 - share);
  const path = points.map(([at, share]) => `L${x(at)} ${y(share)}`).join('');
  const line = (id, at) =>
    html`<line id=${id} x1=${x(at)} x2=${x(at)} y1="0" y2=${CURVE_HEIGHT} />`;
  const isLimited = left !== null && left < credits;
  const [first, ...others] = marks.map(
    ({ share, credits: at }, index) =>
      `${index === 0 ? counted(at, 'credit') : grouped(at)} buy ${percent(share)}${index === 0 ? ` of the ${of}` : ''}`,
  );
  const words = [first, ...others].join(', ');
  return html`<figure id="budget-curve">
    <p class="up soft small" aria-hidden="true"><span>100 %</span><span>50 %</span><span>0 %</span></p>
    <svg viewBox=${`0 0 ${CURVE_WIDTH} ${CURVE_HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${`Share of the ${of} that each budget buys. ${words}.`}>
      <path d=${`M0 ${CURVE_HEIGHT}${path}V${CURVE_HEIGHT}z`} />
      ${[0.5, 1].map((share) => html`<line key=${share} class="grid" x1="0" x2=${CURVE_WIDTH} y1=${y(share)} y2=${y(share)} />`)}
      ${isLimited && line('curve-limit', left)}
      ${budget.value !== null && budget.value <= credits && line('curve-budget', budget.value)}
    </svg>
    <p class="across soft small" aria-hidden="true"><span>0</span><span>${counted(credits, 'credit')}</span></p>
    <figcaption id="budget-marks" class="soft small">${words}.${isLimited ? ` Dashed: ${grouped(left)} left in this period.` : ''}</figcaption>
  </figure>`;
}

/** A way that is shown for comparison alone, and costs so many times the cheapest one, is only named. */
const TOO_DEAR = 5;

/** A table of the ways to buy. @param ways what each costs, by its name */
function Ways({ ways }) {
  const isShown = ([way, , value]) =>
    value !== null || ways[way].credits < TOO_DEAR * Math.max(1, ways.cheapest.credits);
  const dear = WAYS.filter((way) => !isShown(way)).map(([, title]) => title);
  return html`<div id="ways-box" class="scroll" role="region" aria-label="Ways to buy" tabindex="0"><table id="ways">
    <caption>Ways to buy</caption>
    <thead><tr><th scope="col">Way</th><th scope="col" class="number">Credits</th><th scope="col" class="number calls">Calls</th><th scope="col" class="number wide">Download</th><th scope="col" class="number">Time</th><th scope="col">Complete in</th></tr></thead>
    <tbody id="ways-rows">${WAYS.filter(isShown).map(([way, title, value]) => html`<${Way} key=${way} way=${way} title=${title} value=${value} ...${ways[way]} />`)}</tbody>
  </table>${dear.length > 0 && html`<p id="ways-dear" class="soft small">${dear.join(', ')}: ${TOO_DEAR} times as many credits, or more.</p>`}</div>`;
}

/** One row. @param value the setting `optimize` that it sets; null: only for comparison @param lacks topics that it never returns */
function Way({
  way,
  title,
  value,
  credits,
  calls,
  bytes,
  minutes,
  fits,
  periods,
  finish_by,
  lacks,
}) {
  const late = finish_by === null ? 'never' : `${counted(periods, 'period')}, by ${day(finish_by)}`;
  const name = html`<span>${title}<span class="lacks soft">${lacks.length > 0 && `without ${firstTitles(lacks, 2)}`}</span></span>`;
  const radio = html`<input type="radio" name="optimize" value=${value} checked=${chosen.value.optimize === value} onChange=${() => choose({ optimize: value })} />`;
  return html`<tr data-way=${way}>
    ${value === null ? html`<th scope="row" class="compared">${name}</th>` : html`<th scope="row"><label>${radio}${name}</label></th>`}
    <td class="number">${grouped(credits)}</td><td class="number calls">${grouped(calls)}</td><td class="number wide">${byteSize(bytes)}</td>
    <td class="number">${timeSpan(minutes)}</td><td>${fits ? 'this\u00a0period' : late}</td>
  </tr>`;
}

/** `Hail, Parks and 17 more`; one that would be `1 more` is named. */
function firstTitles(slugs, most) {
  const titles = about.value.topics
    .filter(({ slug }) => slugs.includes(slug))
    .map(({ title }) => title);
  if (titles.length <= most + 1) return titles.join(', ');
  return `${titles.slice(0, most).join(', ')} and ${titles.length - most} more`;
}

/** What follows the number of credits: for how many places, and how many of them have their answers in the store. */
function wordsOf({ credits, cells, cells_cached }) {
  const cached = cells_cached > 0 ? ` (${grouped(cells_cached)} in the store already)` : '';
  return `${credits === 1 ? 'credit' : 'credits'} for ${counted(cells, 'place')}${cached}`;
}

/** What follows the number of places to look up. @param left that number @param cells all places */
function localWords({ cells, cells_cached, cells_rejected }, left) {
  const others = cells_rejected > 0 ? grouped(cells_cached) : 'the others';
  const cached = cells_cached > 0 ? ` of ${grouped(cells)}; ${others} are in the store` : '';
  return `${left === 1 ? 'place' : 'places'} to look up${cached}`;
}

/** The data that is used, and what it cannot answer. */
function sourceNotes(source) {
  const { datasets, topics_without_data: topics, topics_without_records: uncounted } = source;
  const names = new Set(
    datasets.map(({ name, vintage }) => [name, vintage].filter(Boolean).join(' ')),
  );
  const lacks =
    topics.length > 0 ? ` No data here for ${topics.join(', ')}: these stay empty.` : '';
  const counts =
    uncounted.length > 0
      ? ` No records of events for ${uncounted.join(', ')}: their counts stay empty.`
      : '';
  const placesIn = (states) =>
    states.map(({ state, places }) => `${state} (${counted(places, 'place')})`).join(', ');
  const beyond = placesIn(source.places_without_data);
  const missing = beyond === '' ? '' : ` Some data is not here for ${beyond}.`;
  const outside = placesIn(source.places_left_out);
  const boundaries = outside === '' ? '' : ` The boundaries here leave out places in ${outside}.`;
  return `Data: ${[...names].join(', ')}.${lacks}${counts}${missing}${boundaries}`;
}

/** Whether the price fits this billing period, and else when the rest can be complete; where nothing is charged, why. */
function verdictOf({ credits, credits_available, ways, source }, account) {
  if (isAllHere.value) return 'All answers are here. A run only writes the file.';
  if (source.kind === 'local')
    return 'Answers come from public data on this machine, free of charge.';
  const resets = day(account.resets);
  if (credits_available === null)
    return 'A paid service would charge these credits; the sample charges none.';
  const left = `${grouped(credits_available)} credits are left until ${resets}`;
  if (credits <= credits_available) return `It fits this period: ${left}.`;
  const { finish_by } = ways.planned;
  if (finish_by === null)
    return `It does not fit this period: ${left}. The quota is never enough for the rest.`;
  const when = day(finish_by) === resets ? 'that day' : `by ${day(finish_by)}`;
  return `It does not fit this period: ${left}, when new ones come. The rest can be complete ${when}.`;
}

/** Credits that are saved, what is bought by area, and what the keys may not call; empty where there is nothing of these. */
function notesOf({ saved, scopes, areas }) {
  const savings = [
    saved.by_cells > 0 ? `${counted(saved.by_cells, 'credit')} by buying each place once` : '',
    saved.by_cache > 0
      ? `at most ${counted(saved.by_cache, 'credit')} by answers in the store`
      : '',
  ].filter(Boolean);
  const words = [
    savings.length > 0 && `Saved: ${savings.join(', ')}.`,
    areas && areaWords(areas, saved.by_areas),
  ];
  return [...words, ...scopes].filter(Boolean).join(' ');
}

/** How many places are bought for their whole area, or why each is bought on its own. @param saved in credits */
function areaWords(areas, saved) {
  if (areas.each_place)
    return `${counted(areas.areas_verified, 'area')} verified, ${areas.areas_differed} differed: the boundaries on this machine are not those of the service, so each place is bought for itself.`;
  const {
    representatives,
    spared,
    verified,
    near_border: onBorder = 0,
    no_boundaries: none = 0,
  } = areas;
  const alone = [
    onBorder > 0 ? `${grouped(onBorder)} on a border` : '',
    none > 0 ? `${grouped(none)} without boundaries here` : '',
  ].filter(Boolean);
  const single = alone.length > 0 ? ` Bought one by one: ${alone.join(', ')}.` : '';
  return `Areas: ${counted(representatives, 'place')} bought for a whole area, ${grouped(spared)} use their answers, ${grouped(verified)} bought to verify; ${counted(saved, 'credit')} saved.${single}`;
}
