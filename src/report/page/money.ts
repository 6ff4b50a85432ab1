import { counted, dateTime, grouped } from '../../format-numbers.ts';
import type { Facts } from '../facts.ts';
import { bar } from './bars.ts';
import { type Html, html, quoted } from './html.ts';
import { percent } from './numbers.ts';
import { section } from './section.ts';

/** Credits planned, spent and saved, and the ledger. */
export function moneySection({ money, runAt, ledger, runs }: Facts): Html {
  const { planned, charged, unknown, allowed, saved } = money;
  const pairs: (readonly [string, string])[] = [
    ['Planned', grouped(planned)],
    ['Spent', grouped(charged)],
  ];
  if (allowed !== null) pairs.push(['Allowed', grouped(allowed)]);
  if (unknown > 0) pairs.push(['Unknown', `${grouped(unknown)}, counted as spent`]);
  return section(
    'money',
    'Credits',
    html`<p class="says">Of ${runAt === null ? 'the plan (no run yet)' : `the run of ${dateTime(runAt)}`}.</p>
<dl class="pairs">${pairs.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${savings(planned, saved)}
<h3>The ledger</h3>
<p class="says">All calls of this job, over all runs. Failed calls are free; calls without an answer are unknown and count as spent.</p>
${
  ledger.length === 0
    ? html`<p>No calls were made.</p>`
    : html`<div class="wide" role="region" tabindex="0" aria-label="Table: The ledger"><table>
<caption class="unseen">Calls and credits by kind of call</caption>
<thead><tr><th scope="col">Kind of call</th><th scope="col" class="n">Charged</th><th scope="col" class="n">Failed, free</th><th scope="col" class="n">Unknown</th><th scope="col" class="n">Credits charged</th><th scope="col" class="n">Credits unknown</th></tr></thead>
<tbody>
${ledger.map(
  ({
    kind,
    calls,
    credits,
  }) => html`<tr><th scope="row">${KINDS[kind]}</th><td class="n">${grouped(calls.charged)}</td><td class="n">${grouped(calls.free)}</td><td class="n">${grouped(calls.unknown)}</td><td class="n">${grouped(credits.charged)}</td><td class="n">${grouped(credits.unknown)}</td></tr>
`,
)}</tbody>
<tfoot><tr><th scope="row">All</th>${[
        sum(ledger, ({ calls }) => calls.charged),
        sum(ledger, ({ calls }) => calls.free),
        sum(ledger, ({ calls }) => calls.unknown),
        sum(ledger, ({ credits }) => credits.charged),
        sum(ledger, ({ credits }) => credits.unknown),
      ].map((total) => html`<td class="n">${grouped(total)}</td>`)}</tr></tfoot>
</table></div>
`
}${runs.length > 0 && runsTable(runs)}`,
  );
}

function sum(ledger: Facts['ledger'], of: (line: Facts['ledger'][number]) => number): number {
  return ledger.reduce((all, line) => all + of(line), 0);
}

const KINDS = { single: 'Single topic', standard: 'Standard bundle', enterprise: 'Enterprise bundle' } as const;

function savings(planned: number, { byCells, byCache, byAreas }: Facts['money']['saved']): Html {
  const all = planned + byCells + byCache + byAreas;
  const lines: (readonly [string, number])[] = [
    ['Planned', planned],
    ['Saved: rows at the same place', byCells],
    ['Saved: answers in the store', byCache],
    ['Saved: one answer per area', byAreas],
  ];
  const shown = lines.filter(([, credits], index) => index === 0 || credits !== 0);
  return html`<table class="savings">
<caption>${counted(all, 'credit')} would be the price without savings</caption>
<thead><tr><th scope="col">Part</th><th scope="col" class="n">Credits</th><th scope="col" class="n">Share</th><td></td></tr></thead>
<tbody>
${shown.map(
  ([
    name,
    credits,
  ]) => html`<tr><th scope="row">${name}</th><td class="n">${grouped(credits)}</td><td class="n">${percent(credits, all)}</td><td class="long">${bar(credits, all)}</td></tr>
`,
)}</tbody>
<tfoot><tr><th scope="row">Price without savings</th><td class="n">${grouped(all)}</td><td class="n">${percent(all, all)}</td><td></td></tr></tfoot>
</table>
`;
}

function sumOf(runs: Facts['runs'], of: 'charged' | 'unknown'): number {
  return runs.reduce((all, run) => all + run[of], 0);
}

/** Plans are not added: each plans again what the runs before it left. */
function runsTable(runs: Facts['runs']): Html {
  return html`<h3>Runs</h3>
<div class="wide" role="region" tabindex="0" aria-label="Table: Runs"><table>
<caption class="unseen">The latest runs of this job</caption>
<thead><tr><th scope="col" class="n">Run</th><th scope="col">Started</th><th scope="col">State</th><th scope="col" class="n">Planned</th><th scope="col" class="n">Charged</th><th scope="col" class="n">Unknown</th></tr></thead>
<tbody>
${runs.map(
  (
    run,
  ) => html`<tr><th scope="row" class="n">${grouped(run.run)}</th><td>${dateTime(run.startedAt)}</td><td>${quoted(run.state)}</td><td class="n">${grouped(run.planned)}</td><td class="n">${grouped(run.charged)}</td><td class="n">${grouped(run.unknown)}</td></tr>
`,
)}</tbody>
<tfoot><tr><th scope="row" colspan="4">${counted(runs.length, 'run')}</th><td class="n">${grouped(sumOf(runs, 'charged'))}</td><td class="n">${grouped(sumOf(runs, 'unknown'))}</td></tr></tfoot>
</table></div>
`;
}
