import { computed, effect, signal } from '@preact/signals';
import { ErrorBox, Fold, html } from './html.js';
import { Again } from './price-step.js';
import { needsServer, post } from './server.js';
import * as state from './state.js';

/* Where answers come from, and whether one answer holds for an area. What cannot be chosen says why. */

const SOURCES = [
  ['local', 'Public data on this machine', 'free'],
  ['service', 'Paid service', 'metered in credits'],
  ['sample', 'Sample data', 'made up, to try Perilbook'],
];

const LEVELS = [
  ['place', 'Place', 'each distinct location'],
  ['tract', 'Census tract', 'without the columns that count records'],
  ['county', 'County', 'without the columns that count records'],
];

/** Where answers come from, public data to download, and the area that one answer holds for. */
export function SourceStep() {
  const level = state.chosen.value.areas;
  const name = SOURCES.find(([value]) => value === state.source.value)[1];
  const area = state.isArea.value
    ? `, one answer for each ${level === 'tract' ? 'census tract' : 'county'}`
    : '';
  const { service } = state.about.value;
  const titleOf = (value, title) =>
    value === 'service' && service !== null ? `${title} ${service}` : title;
  const sources = SOURCES.map(([value, title, what]) => [value, titleOf(value, title), what]);
  return html`<section id="source-step" aria-labelledby="source-title">
    <${Fold} name="source" title="Source" line=${name + area} isOpen=${state.folds.source}>
      <${Choices} id="sources" name="source" legend="Answers come from" values=${sources} chosen=${state.source.value}
        whyNot=${(value) => state.offered.value.sources[value] ?? null} onChoose=${(value) => state.choose({ source: value })} />
      <${PublicData} />
      <${Choices} id="areas" name="area" legend="One answer for each" values=${LEVELS} chosen=${level}
        whyNot=${state.whyNoArea} onChoose=${(value) => state.choose({ areas: value })} />
    <//>
    <${ErrorBox} id="source-error" error=${state.choicesError.value}><${Again} id="source-again" /><//>
  </section>`;
}

/** What public data the chosen topics lack: not asked for, in work, or `{ words }` of the offer and then of what was loaded. After an error the
 * words of the offer stay. */
const data = signal(null);
const topics = computed(() => state.chosen.value.topics);
effect(() => {
  // Other topics, or those of another file, lack other data.
  if (topics.value && state.file.value) data.value = null;
});

/** Sets `data` to the server's words or an error. @param path `offer` asks what there is; `download` loads it and prices again */
async function askForData(path) {
  const before = data.value;
  if (before?.isBusy) return;
  const words = path === 'offer' ? 'Looking for it…' : 'Downloading…';
  const asked = { words, isBusy: true, isOffer: path === 'download' };
  data.value = asked;
  // A late reply about other topics, or those of another file, is dropped.
  const show = (reply) => {
    if (data.value === asked) data.value = reply;
  };
  try {
    const reply = await post(`/api/files/${state.file.value.id}/${path}`, state.choice.value);
    const isOffer = path === 'offer' && reply.words !== null;
    show({ words: reply.words ?? 'Nothing can be downloaded for these topics.', isOffer });
    if (path === 'download') state.priceAgain();
  } catch (error) {
    show(path === 'offer' ? { words: '', error } : { ...before, error });
  }
}

/** Where chosen topics have no data here: what there is to download, and then a button that does. */
function PublicData() {
  const lacks = state.priced.value?.summary.source.topics_without_data ?? [];
  const isWhole = !state.offered.value.sources.local && lacks.length === 0;
  if (data.value === null && (state.choice.value === null || isWhole)) return null;
  const { words = '', isOffer = false, isBusy = false, error = null } = data.value ?? {};
  return html`<div id="data">
    <pre id="data-words" role="status" class="small scroll" tabindex=${words === '' ? undefined : 0}>${words}</pre>
    <${ErrorBox} id="data-error" error=${error} />
    ${(data.value === null || (error !== null && !isOffer)) && html`<button type="button" id="data-offer" class="button small" onClick=${() => askForData('offer')} ...${needsServer()}>Get the missing public data…</button>`}
    ${isOffer && html`<button type="button" id="data-download" class="button small primary" onClick=${() => askForData('download')} ...${needsServer(isBusy)}>Download</button>`}
  </div>`;
}

/** Radio buttons, each with why it cannot be chosen. The chosen one stays a stop of the Tab key. */
function Choices({ id, name, legend, values, chosen, whyNot, onChoose }) {
  return html`<fieldset id=${id} class="choices"><legend>${legend}</legend>
    ${values.map(([value, title, what]) => {
      const reason = whyNot(value);
      const words = `${name}-${value}-why`;
      return html`<p key=${value}>
        <label><input type="radio" name=${name} value=${value} checked=${value === chosen} disabled=${reason !== null && value !== chosen} aria-describedby=${words} onChange=${() => onChoose(value)} /><span id=${`${name}-${value}-name`}>${title}</span></label>
        <span id=${words} class="soft small">${withCommand(reason ?? what)}</span>
      </p>`;
    })}
  </fieldset>`;
}

/** A text whose command stands out, to be selected. */
function withCommand(text) {
  const command = /perilbook (?!ui\b).*?(?=\.(?:\s|$)|$)/.exec(text)?.[0];
  if (command === undefined) return text;
  const [before, after] = text.split(command);
  return html`${before}<code>${command}</code>${after}`;
}

/** The line below the page's title: what Perilbook does and, except for the sample, where answers come from. */
export function sourceWords() {
  const { service, account, subscription } = state.about.value;
  const from = {
    local: 'public data on this machine, free of charge, for topics whose data is here',
    // An account without a name of its own has the address.
    service: `${service}${account === service ? '' : `, account ${account}`} (${subscription})`,
  };
  // A banner above tells of made-up answers.
  if (state.source.value === 'sample') return 'Adds hazard columns to a file of US locations.';
  return `Adds hazard columns to a file of US locations. Answers come from ${from[state.source.value]}.`;
}
