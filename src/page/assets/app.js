import { effect } from '@preact/signals';
import { render } from 'preact';
import { BudgetStep, Confirmation, goOn } from './budget-step.js';
import { ColumnsStep } from './columns-step.js';
import { FileStep, openAgain } from './file-step.js';
import { ErrorBox, html } from './html.js';
import { PriceStep } from './price-step.js';
import { Report } from './report-view.js';
import { watch } from './run.js';
import { RunStep } from './run-step.js';
import { connectionWords, get, goneError, isLost, watchConnection } from './server.js';
import { SourceStep, sourceWords } from './source-step.js';
import { about, chosen, file, keepReport, priceAgain, source } from './state.js';
import { TopicsStep } from './topics-step.js';

/* All steps are on one page; each depends on the ones above. */

/** Without the reply to `/api/about`: the header and the error. Without an open file: the first step alone. */
function Page() {
  const isOpen = file.value !== null;
  return html`
    <${ErrorBox} id="gone" kind="gone" error=${goneError.value} />
    <p id="connection-words" class="unseen" role="status">${connectionWords.value}</p>
    ${source.value === 'sample' && html`<aside id="sample" class="sample small" aria-label="Sample data">Sample data: made up, do not base decisions on it</aside>`}
    <header>
      <a class="skip" href="#file-step">Skip to the first step</a>
      <h1>Perilbook</h1>
      <p id="about" class="soft">${about.value === null ? 'Adds hazard columns to a file of US locations.' : sourceWords()}</p>
    </header>
    ${
      about.value !== null &&
      html`<main>
      <${RunStep} onGoOn=${goOn} />
      <div id="setup">
        <div id="steps">
          <${FileStep} />
          ${isOpen && html`<${ColumnsStep} /><${TopicsStep} /><${SourceStep} />`}
        </div>
        <div id="overview">${isOpen && html`<${PriceStep} />`}</div>
      </div>
      ${isOpen && html`<${BudgetStep} />`}
      <${Report} />
    </main>
    <${Confirmation} />`
    }`;
}

/** The server is there again, or another one. */
async function onBack() {
  about.value = await get('/api/about');
  if (file.value === null) return;
  watch();
  priceAgain();
}

/** The id of the file in the address, `#file=ID`; undefined where there is none. */
const fileOfAddress = () => /^#file=([0-9a-f]+)$/.exec(window.location.hash)?.[1];

/** Sets what the style sheets need, and the title of the window: the name of the file, after an error if the server is gone. */
effect(() => {
  document.documentElement.toggleAttribute('data-dock', file.value !== null);
  document.documentElement.toggleAttribute('data-offline', isLost.value);
  const name = file.value === null ? 'Perilbook' : `${file.value.name} · Perilbook`;
  document.title = goneError.value === null ? name : `Error: ${goneError.value.message} · ${name}`;
});

addEventListener('pagehide', keepReport);
/** Back and Forward open the file of the address; without one, the page is loaded again. */
addEventListener('popstate', () => {
  const id = fileOfAddress();
  if (id === undefined) window.location.reload();
  else if (id !== file.value?.id) void openAgain(id);
});

try {
  about.value = await get('/api/about');
  chosen.value = { source: about.value.source };
} catch (error) {
  goneError.value = error;
}
// What stood there until the script ran.
document.body.replaceChildren();
render(html`<${Page} />`, document.body);
watchConnection(onBack);
const wanted = fileOfAddress() ?? about.value?.first;
if (wanted) await openAgain(wanted);
document.documentElement.dataset.ready = 'yes';
