import type { Prepared } from '../job/run.ts';
import { counted, dateTime, grouped, listed, table, timeSpan } from './words.ts';

/** The plan in words; the line that matters most comes last. */
export function planWords(prepared: Prepared): string[] {
  const { job, summary, connection } = prepared;
  const lines: string[] = [];
  if (connection.sample) lines.push('The answers come from the embedded service: sample data, not for decisions.');
  lines.push(`${job.input}: ${rowsWords(summary)}`);
  if (summary.findings.length > 0) {
    lines.push('', 'Rows that are not looked up (first line of each kind):');
    lines.push(
      ...table(
        ['line', 'rows', 'reason'],
        summary.findings.map(({ first_line, rows, note }) => [`${first_line}`, grouped(rows), note]),
      ),
    );
  }
  lines.push('', `${counted(job.topics.length, 'topic')}: ${topicWords(job.topics)}`);
  lines.push(...listed(cellWords(prepared)));
  lines.push('', ...waysToBuy(prepared));
  for (const note of summary.scopes) lines.push(note);
  lines.push('', ...listed(accountWords(prepared)));
  lines.push('', verdict(prepared));
  return lines;
}

function rowsWords({ rows, located, invalid, outside_us }: Prepared['summary']): string {
  const rest = [
    invalid > 0 ? `${grouped(invalid)} invalid` : '',
    outside_us > 0 ? `${grouped(outside_us)} outside the US` : '',
  ];
  return `${counted(rows, 'row')}, ${[`${grouped(located)} located`, ...rest].filter(Boolean).join(', ')}`;
}

function topicWords(topics: readonly string[]): string {
  return topics.length <= 6 ? topics.join(', ') : `${topics.slice(0, 5).join(', ')} and ${topics.length - 5} more`;
}

function cellWords({ job, summary }: Prepared): (readonly [string, string])[] {
  const { cells, cells_cached, located, saved } = summary;
  const words: (readonly [string, string])[] = [
    ['cells', `${grouped(cells)} distinct at ${job.precision} decimals, from ${grouped(located)} located rows`],
    ['in the store', `${grouped(cells_cached)} complete and fresh`],
  ];
  const parts = [
    saved.by_cells > 0 ? `${grouped(saved.by_cells)} by rows that share a cell` : '',
    saved.by_cache > 0 ? `${grouped(saved.by_cache)} by the store` : '',
  ].filter(Boolean);
  if (parts.length > 0) words.push(['credits saved', parts.join(', ')]);
  return words;
}

function waysToBuy({ summary }: Prepared): string[] {
  const { tiers, calls } = summary;
  const rows = [
    ['cheapest calls', grouped(tiers.cheapest.credits), grouped(tiers.cheapest.calls)],
    ['standard bundles only', grouped(tiers.standard.credits), grouped(tiers.standard.calls)],
    ['enterprise bundles only', grouped(tiers.enterprise.credits), grouped(tiers.enterprise.calls)],
  ];
  const parts = [
    calls.single > 0 ? counted(calls.single, 'single') : '',
    calls.standard > 0 ? `${grouped(calls.standard)} standard` : '',
    calls.enterprise > 0 ? `${grouped(calls.enterprise)} enterprise` : '',
  ].filter(Boolean);
  return [...table(['way to buy', 'credits', 'calls'], rows), `Planned: ${parts.join(' + ') || 'no calls'}.`];
}

function accountWords({ job, plan, summary }: Prepared): (readonly [string, string])[] {
  const { period } = plan.account;
  const words: (readonly [string, string])[] = [
    [
      'quota',
      `${counted(summary.credits_available, 'credit')} left of ${grouped(job.subscription.creditsPerMonth)} (${job.subscription.name}), resets on ${dateTime(period.end)}`,
    ],
  ];
  if (job.reserve > 0) words.push(['reserve', `${counted(job.reserve, 'credit')} not touched`]);
  if (job.budget !== null) words.push(['budget', counted(job.budget, 'credit')]);
  if (summary.credits_retries_at_most > 0) {
    words.push([
      'retries',
      `at most ${grouped(summary.credits_retries_at_most)} more, if every topic of every bundle had to be asked for again`,
    ]);
  }
  words.push([
    'time',
    `${timeSpan(summary.minutes)} at ${counted(job.subscription.creditsPerMinute, 'credit')} a minute`,
  ]);
  return words;
}

/** The one line that says what will happen. */
function verdict({ plan, summary }: Prepared): string {
  const { credits, credits_available, credits_limit } = summary;
  if (summary.cells === 0) return 'No row can be looked up: 0 credits.';
  if (credits === 0) return 'Everything is in the store: 0 credits.';
  if (credits > credits_limit && credits_limit <= credits_available) {
    return `${counted(credits, 'credit')} needed, the budget allows ${grouped(credits_limit)}: the rest stays deferred.`;
  }
  if (summary.fits) return `${counted(credits, 'credit')}: fits.`;
  if (plan.forecast.finishBy === null) return `${counted(credits, 'credit')} needed, and the quota never reaches.`;
  return `${counted(credits, 'credit')} needed, ${grouped(credits_available)} left: takes ${counted(summary.periods ?? 0, 'billing period')}, done by ${dateTime(plan.forecast.finishBy)}.`;
}
