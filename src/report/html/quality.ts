import { counted, dateTime, grouped } from '../../base/format-numbers.ts';
import { type Facts, type LocalDataset, lineText, percent } from '../figures/facts.ts';
import { capital, type Html, html, isolateText, makeScrollable, section, table } from './html.ts';

/** The problems of the file's rows, with where they are. */
export function qualitySection({ problems, unit, rows, all }: Facts): Html {
  const located = all.locations;
  const heads = html`<th scope="col">Problem</th><th scope="col" class="n">Rows</th><th scope="col">${capital(unit)}s of the file</th>`;
  const lines = problems.map(
    (problem) =>
      html`<tr><th scope="row">${isolateText(problem.note)}</th><td class="n">${grouped(problem.rows)}</td><td>${problem.places.map(lineText).join(' · ')}${problem.rows > problem.places.length && ' …'}</td></tr>\n`,
  );
  const listed = makeScrollable(
    'Data quality',
    table(`Problems, by rows and ${unit}s`, heads, lines),
  );
  return section(
    'quality',
    'Data quality',
    html`<p class="says">${counted(located, 'row')} of ${grouped(rows)} (${percent(located, rows)}) have a usable location in the US. Perilbook corrects nothing: problems are listed here and in the output.</p>
${problems.length === 0 ? html`<p>No problems found.</p>` : listed}`,
  );
}

const MEANINGS: Readonly<Record<string, string>> = {
  ok: 'complete: every topic has a fresh answer',
  partial: 'the service reports a topic as unavailable',
  deferred: 'not bought yet, or stale: the next run buys it',
  failed: 'no answer after all retries',
  rejected: 'the service rejects this location',
  outside_us: 'outside the US: no call was made',
  invalid: 'the location is unusable',
};

/** The meanings that differ for answers from local data. */
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
export function missingSection({ rows, missing, credits }: Facts): Html {
  const local = credits === null;
  const counts = new Map(missing.status.map((counted) => [counted.status, counted.rows]));
  const { account } = missing;
  const shown = Object.entries(local ? LOCAL_MEANINGS : MEANINGS).filter(([status]) =>
    counts.has(status),
  );
  const title = 'Rows by status';
  const heads = html`<th scope="col">Status</th><th scope="col" class="n">Rows</th><th scope="col" class="n">Share</th><th scope="col">Meaning</th>`;
  const lines = shown.map(
    ([status, meaning]) =>
      html`<tr><th scope="row"><code>${status}</code></th><td class="n">${grouped(counts.get(status)!)}</td><td class="n">${percent(counts.get(status)!, rows)}</td><td>${meaning}</td></tr>\n`,
  );
  const foot = html`<th scope="row">All</th><td class="n">${grouped(rows)}</td><td class="n">${percent(rows, rows)}</td><td></td>`;
  return section(
    'missing',
    'Missing answers',
    html`<ul class="plain">
${missing.stopped !== null && html`<li>The last run stopped early: ${isolateText(missing.stopped)}</li>`}
${
  local
    ? html`<li>${missing.places === 0 ? 'Nothing left to look up.' : `${counted(missing.places, 'place')} left to look up.`}</li>`
    : missing.credits === 0
      ? html`<li>Nothing left to buy.</li>`
      : html`<li><b>${counted(missing.credits, 'credit')}</b> for ${counted(missing.places, 'place')} left to buy.${
          missing.resumeAfter !== null &&
          html` Resume after <b>${dateTime(Date.parse(missing.resumeAfter))}</b>.`
        }</li>`
}
${account !== null && html`<li>${isolateText(account.name)}: ${grouped(account.left)} of ${counted(account.allowance, 'credit')} left${account.assumed !== null && ` (${account.assumed})`}; the quota resets on ${dateTime(Date.parse(account.resetsAt))}.</li>`}
</ul>
${makeScrollable(title, table(title, heads, lines, '', foot))}${missing.reasons.length > 0 && reasons(missing.reasons)}`,
  );
}

function reasons(notes: Facts['missing']['reasons']): Html {
  const shown = notes.slice(0, NOTES_SHOWN);
  return html`<h3>Most common reasons</h3>
<ul class="plain">
${shown.map(
  ({ note, rows }) => html`<li>${counted(rows, 'row')}: ${isolateText(note)}</li>\n`,
)}${notes.length > shown.length && html`<li>and ${counted(notes.length - shown.length, 'other reason')}</li>`}</ul>
`;
}

/** The datasets of this machine that the answers come from, with their licences. */
export function sourcesSection(datasets: readonly LocalDataset[]): Html {
  const licences = new Map(
    datasets
      .filter(({ licence }) => licence !== '')
      .map(({ licence, source }) => [licence, source]),
  );
  const heads = ['Dataset', 'Vintage', 'States', 'Source'].map(
    (head) => html`<th scope="col">${head}</th>`,
  );
  const lines = datasets.map(
    ({ name, level, vintage, states, source }) =>
      html`<tr><th scope="row"><code>${name}</code>${level !== '' && html` (${level})`}</th><td>${isolateText(vintage)}</td><td>${states?.join(', ') ?? 'US'}</td><td>${isolateText(source)}</td></tr>\n`,
  );
  return section(
    'sources',
    'Sources',
    html`<p class="says">The answers come from public data on this machine, as it was when the report was made.</p>
${makeScrollable('Sources', table('Datasets with vintage and states', heads, lines))}${
  licences.size > 0 &&
  html`<h3>Licences</h3>
<ul class="plain">
${[...licences].map(([licence, source]) => html`<li>${isolateText(source)}: ${isolateText(licence)}</li>\n`)}</ul>
`
}`,
  );
}
