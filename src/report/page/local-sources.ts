import type { LocalDataset } from '../facts.ts';
import { type Html, html, quoted } from './html.ts';
import { scrolling, section } from './section.ts';

/** The datasets of this machine that the answers come from, with their licences. */
export function sourcesSection(datasets: readonly LocalDataset[]): Html {
  const licences = new Map(
    datasets.filter(({ licence }) => licence !== '').map(({ licence, source }) => [licence, source]),
  );
  return section(
    'sources',
    'Sources',
    html`<p class="says">The answers come from public data on this machine, as it was when the report was made.</p>
${scrolling(
  'Sources',
  html`<table>
<caption class="unseen">Datasets with vintage and states</caption>
<thead><tr><th scope="col">Dataset</th><th scope="col">Vintage</th><th scope="col">States</th><th scope="col">Source</th></tr></thead>
<tbody>
${datasets.map(
  ({ name, level, vintage, states, source }) =>
    html`<tr><th scope="row"><code>${name}</code>${level !== '' && html` (${level})`}</th><td>${quoted(vintage)}</td><td>${states?.join(', ') ?? 'US'}</td><td>${quoted(source)}</td></tr>
`,
)}</tbody>
</table>`,
)}${
  licences.size > 0 &&
  html`<h3>Licences</h3>
<ul class="plain">
${[...licences].map(
  ([licence, source]) => html`<li>${quoted(source)}: ${quoted(licence)}</li>
`,
)}</ul>
`
}`,
  );
}
