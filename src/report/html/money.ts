import { counted, dateTime, grouped } from '../../base/format-numbers.ts';
import { percent } from '../figures/facts.ts';
import type { Credits } from '../figures/spending.ts';
import { bar, type Html, html, makeScrollable, section, table } from './html.ts';

/** What was planned, spent and may have been spent. */
export function creditsSection(
  { isMadeUp, planned, charged, unknown, inFlight, allowed, saved, ledger }: Credits,
  runAt: string | null,
): Html {
  const pairs: (readonly [string, string])[] = [
    ['Planned', grouped(planned)],
    [isMadeUp ? 'A paid service would charge' : 'Spent', grouped(charged)],
  ];
  if (allowed !== null) pairs.push(['Allowed', grouped(allowed)]);
  if (unknown > 0) pairs.push(['Unknown', `${grouped(unknown)}, counted as spent`]);
  if (inFlight > 0) pairs.push(['In flight', `${grouped(inFlight)}, not settled yet`]);
  return section(
    'credits',
    'Credits',
    html`<p class="says">Of ${runAt === null ? 'the plan (no run yet)' : `the run of ${dateTime(Date.parse(runAt))}`}.</p>
<dl class="facts">${pairs.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${savings(planned, saved)}
<h3>The ledger</h3>
<p class="says">All calls of this job, over all runs (<code>perilbook status</code> lists them). Failed calls are free; calls without an answer are unknown and count as spent.</p>
${ledger.length === 0 ? html`<p>No calls were made.</p>` : ledgerTable(ledger)}`,
  );
}

/** Shows columns for calls in flight if there are any: then another run is active. */
function ledgerTable(ledger: Credits['ledger']): Html {
  const hasOpen = ledger.some(({ calls }) => calls.inFlight > 0);
  const columns: readonly (readonly [name: string, of: (line: LedgerLine) => number])[] = [
    ['Charged', ({ calls }) => calls.charged],
    ['Failed, free', ({ calls }) => calls.free],
    ['Unknown', ({ calls }) => calls.unknown],
    ...(hasOpen ? [['In flight', ({ calls }: LedgerLine) => calls.inFlight] as const] : []),
    ['Credits charged', ({ credits }) => credits.charged],
    ['Credits unknown', ({ credits }) => credits.unknown],
    ...(hasOpen
      ? [['Credits in flight', ({ credits }: LedgerLine) => credits.inFlight] as const]
      : []),
  ];
  const cells = (of: (column: (line: LedgerLine) => number) => number) =>
    columns.map(([, column]) => html`<td class="n">${grouped(of(column))}</td>`);
  const heads = html`<th scope="col">Kind of call</th>${columns.map(([name]) => html`<th scope="col" class="n">${name}</th>`)}`;
  const lines = ledger.map(
    (line) =>
      html`<tr><th scope="row">${KINDS[line.kind]}</th>${cells((column) => column(line))}</tr>\n`,
  );
  const foot = html`<th scope="row">All</th>${cells((column) => ledger.reduce((sum, line) => sum + column(line), 0))}`;
  return makeScrollable(
    'The ledger',
    table('Calls and credits by kind of call', heads, lines, '', foot),
  );
}

type LedgerLine = Credits['ledger'][number];

const KINDS = {
  single: 'Single topic',
  standard: 'Standard bundle',
  enterprise: 'Enterprise bundle',
} as const;

function savings(planned: number, { byCells, byCache, byAreas }: Credits['saved']): Html {
  const all = planned + byCells + byCache + byAreas;
  const lines: (readonly [string, number])[] = [
    ['Planned', planned],
    ['Saved: rows at the same place', byCells],
    ['Saved at most: answers in the store', byCache],
    ['Saved: one answer per area', byAreas],
  ];
  const shown = lines.filter(([, credits], index) => index === 0 || credits !== 0);
  return html`<table class="savings">
<caption>${counted(all, 'credit')} would be the price without savings</caption>
<thead><tr><th scope="col">Part</th><th scope="col" class="n">Credits</th><th scope="col" class="n">Share</th><td></td></tr></thead>
<tbody>
${shown.map(
  ([name, credits]) =>
    html`<tr><th scope="row">${name}</th><td class="n">${grouped(credits)}</td><td class="n">${percent(credits, all)}</td><td class="long">${bar(credits, all, 'plain')}</td></tr>\n`,
)}</tbody>
<tfoot><tr><th scope="row">Price without savings</th><td class="n">${grouped(all)}</td><td class="n">${percent(all, all)}</td><td></td></tr></tfoot>
</table>
`;
}
