import { counted, dateTime, grouped } from '../../format-numbers.ts';
import { isSampleAccount } from '../../job/settings/account-settings.ts';
import type { Facts } from '../facts.ts';
import { type Html, html, quoted } from './html.ts';
import { percent, placeText } from './numbers.ts';
import { section } from './section.ts';

/** Problems in the rows of the input, with their lines. */
export function qualitySection({ findings, unit, rows, figures }: Facts): Html {
  const located = figures.rows;
  return section(
    'quality',
    'Data quality',
    html`<p class="says">${counted(located, 'row')} of ${grouped(rows)} (${percent(located, rows)}) have a usable location in the US. Perilbook corrects nothing: problems are listed here and in the output.</p>
${
  findings.length === 0
    ? html`<p>No problems found.</p>`
    : html`<div class="wide" role="region" tabindex="0" aria-label="Table: Data quality"><table>
<caption class="unseen">Problems, by rows and ${unit}s</caption>
<thead><tr><th scope="col">Problem</th><th scope="col" class="n">Rows</th><th scope="col">${unit[0]!.toUpperCase()}${unit.slice(1)}s of the file</th></tr></thead>
<tbody>
${findings.map(
  (
    found,
  ) => html`<tr><th scope="row">${quoted(found.note)}</th><td class="n">${grouped(found.rows)}</td><td>${found.places.map(placeText).join(' · ')}${found.rows > found.places.length && ' …'}</td></tr>
`,
)}</tbody>
</table></div>
`
}`,
  );
}

/** The statuses and their meanings. */
const MEANINGS: Readonly<Record<string, string>> = {
  ok: 'complete: every topic has a fresh answer',
  partial: 'the service reports a topic as unavailable',
  deferred: 'not bought yet, or stale: the next run buys it',
  failed: 'no answer after all retries',
  rejected: 'the service rejects this location',
  outside_us: 'outside the US: no call was made',
  invalid: 'the location is unusable',
};

/** The same of answers from local data, where they differ. */
const LOCAL_MEANINGS: typeof MEANINGS = {
  ...MEANINGS,
  partial: 'a topic has no data on this machine',
  deferred: 'not looked up yet, or stale: the next run looks it up',
  failed: 'no topic has data on this machine',
  rejected: 'no area of the local data holds this location',
  outside_us: 'outside the US: not looked up',
};

const NOTES_SHOWN = 8;

/** Which rows are complete, which are not and why, and when to resume. */
export function missingSection({ figures, rows, invalid, outsideUs, missing, local }: Facts): Html {
  const counts: Readonly<Record<string, number>> = { ...figures.status, outside_us: outsideUs, invalid };
  const shown = Object.entries(local ? LOCAL_MEANINGS : MEANINGS).filter(([status]) => (counts[status] ?? 0) > 0);
  return section(
    'missing',
    'Missing answers',
    html`<ul class="plain">
${missing.stopped !== null && html`<li>The last run stopped early: ${quoted(missing.stopped)}</li>`}
${
  local
    ? html`<li>${missing.cells === 0 ? 'Nothing left to look up.' : `${counted(missing.cells, 'place')} left to look up.`}</li>`
    : missing.credits === 0
      ? html`<li>Nothing left to buy.</li>`
      : html`<li><b>${counted(missing.credits, 'credit')}</b> for ${counted(missing.cells, 'place')} left to buy.${
          missing.resumeAfter !== null && html` Resume after <b>${dateTime(missing.resumeAfter)}</b>.`
        }</li>`
}
${missing.accounts.map(
  (
    one,
  ) => html`<li>${isSampleAccount(one.account) ? 'Sample account' : html`Account ${quoted(one.account)}`}: ${grouped(one.left)} of ${counted(one.allowance, 'credit')} left; the quota resets on ${dateTime(one.resetsAt)}.</li>
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
<tfoot><tr><th scope="row">All</th><td class="n">${grouped(rows)}</td><td class="n">${percent(rows, rows)}</td><td></td></tr></tfoot>
</table></div>
${figures.notes.length > 0 && reasons(figures.notes)}`,
  );
}

function reasons(notes: Facts['figures']['notes']): Html {
  const shown = notes.slice(0, NOTES_SHOWN);
  return html`<h3>Most common reasons</h3>
<ul class="plain">
${shown.map(
  ({ note, rows }) => html`<li>${counted(rows, 'row')}: ${quoted(note)}</li>
`,
)}${notes.length > shown.length && html`<li>and ${counted(notes.length - shown.length, 'other reason')}</li>`}</ul>
`;
}
