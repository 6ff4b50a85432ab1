import { counted, dateTime, grouped } from '../../format-numbers.ts';
import type { Facts } from '../facts.ts';
import { type Html, html, quoted } from './html.ts';
import { percent } from './numbers.ts';

/** What was found wrong with the rows of the input, with the lines to look at. */
export function qualitySection({ findings, unit, rows, figures }: Facts): Html {
  const located = figures.rows;
  return html`<section id="quality" aria-labelledby="quality-title">
<h2 id="quality-title">Data quality</h2>
<p class="says">${counted(located, 'row')} of ${grouped(rows)} (${percent(located, rows)}) have a location in the US that can be asked about. Nothing is corrected: what is wrong is said here and in the output.</p>
${
  findings.length === 0
    ? html`<p>Nothing was found wrong.</p>`
    : html`<div class="wide" role="region" tabindex="0" aria-label="Table: Data quality"><table>
<caption class="unseen">What was found, in how many rows, and on which ${unit}s</caption>
<thead><tr><th scope="col">Finding</th><th scope="col" class="n">Rows</th><th scope="col">${unit[0]!.toUpperCase()}${unit.slice(1)}s of the file</th></tr></thead>
<tbody>
${findings.map(
  (
    found,
  ) => html`<tr><th scope="row">${quoted(found.note)}</th><td class="n">${grouped(found.rows)}</td><td>${found.lines.map(grouped).join(' · ')}${found.rows > found.lines.length && ' …'}</td></tr>
`,
)}</tbody>
</table></div>
`
}</section>
`;
}

/** In the order of the statuses, what each means for the reader. */
const MEANINGS: Readonly<Record<string, string>> = {
  ok: 'complete: every topic has a fresh answer',
  partial: 'some topic is unavailable at the service',
  deferred: 'not bought yet, or stale: the next run goes on',
  failed: 'no answer could be had',
  rejected: 'the service refuses this place',
  outside_us: 'outside the US: no call was made',
  invalid: 'the location cannot be read',
};

const NOTES_SHOWN = 8;

/** Which rows are complete, which are not and why, and when the job goes on. */
export function missingSection({ figures, rows, invalid, outsideUs, missing }: Facts): Html {
  const counts: Readonly<Record<string, number>> = { ...figures.status, outside_us: outsideUs, invalid };
  const shown = Object.entries(MEANINGS).filter(([status]) => (counts[status] ?? 0) > 0);
  return html`<section id="missing" aria-labelledby="missing-title">
<h2 id="missing-title">What is missing, and when it goes on</h2>
<ul class="plain">
${missing.stopped !== null && html`<li>The last run stopped early: ${quoted(missing.stopped)}</li>`}
${
  missing.credits === 0
    ? html`<li>Nothing is left to buy.</li>`
    : html`<li><b>${counted(missing.credits, 'credit')}</b> for ${counted(missing.cells, 'place')} are still to be spent.${
        missing.resumeAfter !== null && html` The job can go on after <b>${dateTime(missing.resumeAfter)}</b>.`
      }</li>`
}
${missing.accounts.map(
  (
    one,
  ) => html`<li>Account ${quoted(one.account)}: ${grouped(one.left)} of ${counted(one.allowance, 'credit')} left; the quota resets at the next billing anniversary, ${dateTime(one.resetsAt)}.</li>
`,
)}</ul>
<div class="wide" role="region" tabindex="0" aria-label="Table: Rows by status"><table>
<caption class="unseen">Rows by status</caption>
<thead><tr><th scope="col">Status</th><th scope="col" class="n">Rows</th><th scope="col" class="n">Share</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${shown.map(
  ([
    status,
    meaning,
  ]) => html`<tr><th scope="row"><code>${status}</code></th><td class="n">${grouped(counts[status]!)}</td><td class="n">${percent(counts[status]!, rows)}</td><td>${meaning}</td></tr>
`,
)}</tbody>
</table></div>
${figures.notes.length > 0 && reasons(figures.notes)}</section>
`;
}

function reasons(notes: Facts['figures']['notes']): Html {
  const shown = notes.slice(0, NOTES_SHOWN);
  return html`<h3>The commonest reasons</h3>
<ul class="plain">
${shown.map(
  ({ note, rows }) => html`<li>${counted(rows, 'row')}: ${quoted(note)}</li>
`,
)}${notes.length > shown.length && html`<li>and ${counted(notes.length - shown.length, 'other reason')}</li>`}</ul>
`;
}
