import { needsServer } from './connection.js';
import { grouped, localTime } from './format.js';
import { html } from './html.js';
import { stateWords } from './run-step.js';
import { runs } from './state.js';

/** Earlier runs. `onOpen` gets the file of the run that the user opens. */
export function RunsList({ onOpen }) {
  const isFree = runs.value.every(({ is_local }) => is_local);
  return html`<section id="runs-step" aria-labelledby="runs-title">
    <h2 id="runs-title">Earlier runs</h2>
    ${runs.value.length === 0 && html`<p id="runs-none" class="soft">None yet.</p>`}
    ${
      runs.value.length > 0 &&
      html`<div id="runs-table" class=${`scroll ${isFree ? 'free' : ''}`} role="region" aria-label="Runs" tabindex="0">
      <table>
        <thead><tr><th scope="col">Started</th><th scope="col">File</th><th scope="col">State</th><th scope="col" class="number wide">Credits</th><th scope="col" class="number wide">Planned</th><th scope="col">Action</th></tr></thead>
        <tbody id="runs">${runs.value.map((run) => html`<${Run} key=${run.run} ...${run} onOpen=${onOpen} />`)}</tbody>
      </table>
    </div>`
    }
  </section>`;
}

/** Only the latest run of a file can be resumed; those of the command line are resumed there. */
function Run({ job, book, state, status, started_at, charged, planned, is_local, is_latest, onOpen }) {
  const word = state === 'complete' || state === 'running' ? 'Open' : 'Resume';
  return html`<tr>
    <td class="when">${localTime(started_at)}</td>
    <th scope="row">${job}</th>
    <td>${stateWords(state, status)}</td>
    <td class="number wide">${is_local ? 'free' : grouped(charged)}</td>
    <td class="number wide">${is_local ? '' : grouped(planned)}</td>
    <td>${
      book === null
        ? html`<span class="soft">command line</span>`
        : is_latest &&
          html`<button type="button" class="button small" aria-label=${`${word}: ${job}`} onClick=${() => onOpen(book)} ...${needsServer()}>${word}</button>`
    }</td>
  </tr>`;
}
