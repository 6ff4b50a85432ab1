import stringWidth from 'string-width';
import { SUBSCRIPTIONS } from '../../contract/subscriptions.ts';
import { counted, dateTime, grouped } from '../../format-numbers.ts';
import type { Ways } from '../../job/planning/planning.ts';
import type { Prepared } from '../../job/prepare.ts';
import { LOOKED_UP_FINDINGS } from '../../job/scan/scan-input.ts';
import { DEFAULTS } from '../../job/settings/settings.ts';
import type { Forecast } from '../../plan/forecast.ts';
import type { Color } from './color.ts';
import { byteSize, fittingTable, listed, percent, sharePhrase, shownPath, table, timeSpan, wrapped } from './format.ts';
import { invalidRowsMessage } from './invalid-rows-message.ts';

/** Where the words go. */
export interface OutputStyle {
  /** The terminal's columns; without end elsewhere. */
  readonly width: number;
  readonly color: Color;
}

/** The plan in words; the line that matters most comes last. */
export function planMessages(prepared: Prepared, folder: string, { width, color }: OutputStyle): string[] {
  const { job, plan, summary, connection } = prepared;
  const lines: string[] = [];
  if (connection.sample) lines.push('The answers come from the embedded service: sample data, not for decisions.');
  else if (summary.sample_data)
    lines.push('The service answered from sample data when it was last asked: not for decisions.');
  lines.push(`${shownPath(job.input, folder)}: ${rowsMessage(summary)}`);
  lines.push(...plan.scan.layout.notes);
  const isLookedUp = ({ finding }: UnusableKind) => LOOKED_UP_FINDINGS.some((name) => name === finding);
  const findings = Map.groupBy(summary.findings, isLookedUp);
  const { unit = 'line' } = prepared.rowFile;
  lines.push(...findingLines('Rows that are not looked up', findings.get(false) ?? [], unit, width));
  lines.push(...findingLines('Rows that are looked up all the same', findings.get(true) ?? [], unit, width));
  lines.push('', `${counted(job.topics.length, 'topic')}: ${topicsMessage(job.topics)}`);
  lines.push(...defaultsMessage(prepared));
  lines.push(...listed(cellPairs(prepared), '  ', width));
  lines.push('', ...waysToBuy(prepared, width), ...shareLines(prepared));
  for (const note of summary.scopes) lines.push(note);
  lines.push('', ...listed(accountPairs(prepared), '  ', width));
  lines.push('', ...sampleCreditsMessage(prepared));
  for (const line of [...invalidRowsMessage(summary), verdict(prepared)]) lines.push(color('bold', line));
  const tooWide = (line: string) => stringWidth(line) > width;
  return lines.flatMap((line) => (tooWide(line) ? wrapped(line.split(' '), width, ' ') : [line]));
}

type UnusableKind = Prepared['summary']['findings'][number];

function findingLines(heading: string, findings: readonly UnusableKind[], unit: string, width: number): string[] {
  if (findings.length === 0) return [];
  const rows = findings.map(({ first_line, rows, note }) => [`${first_line}`, grouped(rows), note]);
  return ['', `${heading} (first ${unit} of each kind):`, ...table([unit, 'rows', 'reason'], rows, '  ', width)];
}

function rowsMessage({ rows, located, invalid, outside_us }: Prepared['summary']): string {
  const rest = [
    invalid > 0 ? `${grouped(invalid)} invalid` : '',
    outside_us > 0 ? `${grouped(outside_us)} outside the US` : '',
  ];
  return `${counted(rows, 'row')}, ${[`${grouped(located)} located`, ...rest].filter(Boolean).join(', ')}`;
}

function topicsMessage(topics: readonly string[]): string {
  return topics.length <= 6 ? topics.join(', ') : `${topics.slice(0, 5).join(', ')} and ${topics.length - 5} more`;
}

/** What a default decided: it changes the price, so it is said. */
function defaultsMessage({ job }: Prepared): string[] {
  const { name, creditsPerMonth } = job.account.subscription;
  const words = {
    topics: `topics ${DEFAULTS.topics} (--topics)`,
    subscription: `subscription ${name}, ${grouped(creditsPerMonth)} credits a month (--subscription)`,
  };
  return job.assumed.length === 0
    ? []
    : [`Not said, so assumed: ${job.assumed.map((what) => words[what]).join('; ')}.`];
}

/** Sample credits cost nothing: nobody need wait for the next period. */
export function sampleCreditsMessage({ job, summary }: Prepared): string[] {
  const { sample_data, credits, credits_available } = summary;
  if (!sample_data || credits <= credits_available || job.account.subscription.name !== 'starter') return [];
  const { creditsPerMonth } = SUBSCRIPTIONS.professional;
  return [
    `The sample account is used up, and costs nothing: --subscription professional gives it ${grouped(creditsPerMonth)} credits a month.`,
  ];
}

function cellPairs({ job, summary }: Prepared): (readonly [string, string])[] {
  const { cells, cells_cached, located, saved } = summary;
  const words: (readonly [string, string])[] = [
    ['cells', `${grouped(cells)} distinct at ${job.precision} decimals, from ${counted(located, 'located row')}`],
    ['in the store', `${grouped(cells_cached)} complete and fresh`],
  ];
  const parts = [
    saved.by_cells > 0 ? `${grouped(saved.by_cells)} by rows that share a cell` : '',
    saved.by_cache > 0 ? `${grouped(saved.by_cache)} by the store` : '',
    saved.by_areas > 0 ? `${grouped(saved.by_areas)} by areas` : '',
  ].filter(Boolean);
  if (summary.areas) {
    const { representatives, verified, spared } = summary.areas;
    words.push([
      'areas',
      `${counted(representatives, 'cell')} asked for their tract or county, ${grouped(spared)} spared, ${grouped(verified)} bought to compare`,
    ]);
  }
  if (parts.length > 0) words.push(['credits saved', parts.join(', ')]);
  return words;
}

const WAY_NAMES: readonly (readonly [way: keyof Ways, name: string, short: string])[] = [
  ['cheapest', 'fewest credits', 'fewest credits'],
  ['fewest_calls', 'fewest calls', 'fewest calls'],
  ['standard', 'a standard bundle each', 'standard bundle'],
  ['enterprise', 'an enterprise bundle each', 'enterprise bundle'],
];

/** Below this the ways to buy get their short names. */
const NARROW = 72;

/** Which columns of the ways go first where the terminal is too narrow for all. */
const DISPENSABLE = ['download', 'calls', 'time'];

function waysToBuy({ job, plan, summary }: Prepared, width: number): string[] {
  const dollars = overdrawn(plan) !== null;
  const chosen: keyof Ways = job.optimize === 'calls' ? 'fewest_calls' : 'cheapest';
  const head = ['way to buy', 'credits', ...(dollars ? ['overage'] : []), 'calls', 'download', 'time', 'done'];
  const isNarrow = width < NARROW;
  const rows = WAY_NAMES.map(([way, long, short]) => {
    const { price, calls, bytes, forecast, overageDollars } = plan.ways[way];
    const lacks = summary.tiers[way].lacks.length;
    const lacksWords = isNarrow ? `lacks ${lacks}` : `lacks ${counted(lacks, 'topic')}`;
    const mark = lacks > 0 ? lacksWords : way === chosen ? 'planned' : '';
    return [
      `${isNarrow ? short : long}${mark === '' ? '' : ` (${mark})`}`,
      grouped(price.credits),
      ...(dollars ? [`$${overageDollars.toFixed(2)}`] : []),
      grouped(calls),
      byteSize(bytes),
      timeSpan(forecast.minutes),
      doneMessage(forecast),
    ];
  });
  const { calls } = summary;
  const parts = [
    calls.single > 0 ? counted(calls.single, 'single') : '',
    calls.standard > 0 ? `${grouped(calls.standard)} standard` : '',
    calls.enterprise > 0 ? `${grouped(calls.enterprise)} enterprise` : '',
  ].filter(Boolean);
  return [...fittingTable(head, rows, DISPENSABLE, '  ', width), `Planned: ${parts.join(' + ') || 'no calls'}.`];
}

function doneMessage({ fits, periods, finishBy }: Forecast): string {
  if (fits) return 'fits';
  return finishBy === null ? 'never' : `${counted(periods!, 'period')}, ${dateTime(finishBy).slice(0, 10)}`;
}

/** What the credits at hand buy, where that is not simply everything. */
function shareLines({ job, summary }: Prepared): string[] {
  if (job.tiers.length === 1 && summary.fits) return [];
  const rows = [...summary.shares]
    .reverse()
    .map(({ tier, cells, share_of_cells, share_of_value }) => [
      tier,
      grouped(cells),
      percent(share_of_cells),
      share_of_value === null ? '' : percent(share_of_value),
    ]);
  return ['', ...table(['after this run', 'cells', 'of cells', 'of value'], rows)];
}

function accountPairs({ job, plan, summary }: Prepared): (readonly [string, string])[] {
  const several = plan.accounts.length > 1;
  const words = plan.accounts.map(({ account, available, period }, index): readonly [string, string] => {
    const { name, creditsPerMonth } = account.subscription;
    const overage = account.overageCredits > 0 ? ` and ${grouped(account.overageCredits)} of overage` : '';
    const left = `${counted(available, 'credit')} left of ${grouped(creditsPerMonth)}${overage} (${name}), resets on ${dateTime(period.end)}`;
    return several
      ? [`account ${account.name}`, `${left}; pays ${grouped(plan.byAccount[index]!)} now`]
      : ['quota', left];
  });
  if (job.account.reserve > 0) words.push(['reserve', `${counted(job.account.reserve, 'credit')} not touched`]);
  const overdraws = overdrawn(plan);
  if (overdraws !== null) {
    const { overageCredits, subscription } = overdraws;
    const rate = subscription.overageRate ?? 0;
    words.push([
      'overage',
      `at most ${counted(overageCredits, 'credit')} a period, $${(overageCredits * rate).toFixed(2)}`,
    ]);
  }
  if (job.maxMinutes !== null) words.push(['window', counted(job.maxMinutes, 'minute')]);
  if (job.budget !== null) words.push(['budget', counted(job.budget, 'credit')]);
  if (summary.credits_retries_at_most > 0) {
    words.push([
      'retries',
      `at most ${grouped(summary.credits_retries_at_most)} more, if every topic of every bundle had to be asked for again`,
    ]);
  }
  words.push([
    'time',
    `${timeSpan(summary.minutes)} at ${counted(
      job.accounts.reduce((sum, { subscription }) => sum + subscription.creditsPerMinute, 0),
      'credit',
    )} a minute`,
  ]);
  return words;
}

/** The account that may be billed beyond its allowance, or null. */
function overdrawn({ accounts }: Prepared['plan']): Prepared['plan']['accounts'][number]['account'] | null {
  return accounts.find(({ account }) => account.overageCredits > 0)?.account ?? null;
}

/** How far the credits at hand reach: with several tiers, for the leanest and for the richest. */
function coverMessage({ shares }: Prepared['summary']): string {
  const richest = shares.at(-1)!;
  if (shares.length === 1) return `${sharePhrase(richest)} complete`;
  const values = shares.map(({ share_of_value }) => share_of_value);
  const atLeast = {
    share_of_cells: shares.reduce((sum, { share_of_cells }) => sum + share_of_cells, 0),
    share_of_value: values.includes(null) ? null : values.reduce<number>((sum, value) => sum + value!, 0),
  };
  return `${sharePhrase(atLeast)} with at least ${shares[0]!.tier}, ${percent(richest.share_of_cells)} with ${richest.tier}`;
}

/** The one line that says what will happen. */
function verdict({ job, plan, summary }: Prepared): string {
  const { credits, credits_available, credits_limit } = summary;
  const { finishBy } = plan.ways.planned.forecast;
  if (summary.cells === 0) return 'No row can be looked up: 0 credits.';
  if (plan.price.unobtainable.size > 0) return 'This cannot be bought with these keys.';
  if (credits === 0) return 'Everything is in the store: 0 credits.';
  const share = coverMessage(summary);
  if (credits > credits_limit && credits_limit <= credits_available) {
    return `${counted(credits, 'credit')} needed, the budget allows ${grouped(credits_limit)}: ${share}, the rest deferred.`;
  }
  if (credits > plan.window && plan.window <= Math.min(credits_limit, credits_available)) {
    const time = `${counted(job.maxMinutes!, 'minute')} hold at most ${grouped(plan.window)}`;
    return `${counted(credits, 'credit')} needed, ${time}: ${share}, the rest deferred.`;
  }
  const dollars = summary.overage_dollars > 0 ? `, $${summary.overage_dollars.toFixed(2)} of it as overage` : '';
  if (summary.fits) return `${counted(credits, 'credit')}${dollars}: fits.`;
  const needed = `${counted(credits, 'credit')} needed, ${grouped(credits_available)} left${dollars}: ${share} now`;
  if (finishBy === null) return `${needed}; the quota never reaches for all.`;
  const who = job.onQuota === 'wait' ? 'this run waits and is done' : 'all is done';
  return `${needed}, ${who} in ${counted(summary.periods ?? 0, 'billing period')}, by ${dateTime(finishBy)}.`;
}
