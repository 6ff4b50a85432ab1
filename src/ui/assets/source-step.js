import { ErrorBox, Fold, html, Options } from './html.js';
import {
  about,
  area,
  areaKnown,
  areaOptions,
  choicesError,
  folds,
  offered,
  SHARES,
  source,
  whyNoArea,
} from './state.js';

/* Where answers come from, and whether one answer holds for an area. What cannot be chosen says why. */

const SOURCES = [
  ['local', 'Public data on this machine', 'free'],
  ['service', 'Paid service', 'metered in credits'],
  ['sample', 'Sample data', 'made up, to try Perilbook'],
];

const LEVELS = [
  ['place', 'Place', 'each distinct location'],
  ['tract', 'Census tract', ''],
  ['county', 'County', ''],
];

const VERIFIED = SHARES.map((share) => [share, share === 0 ? 'none' : `${100 * share} % of the places saved`]);

export function SourceStep() {
  const { level, verify } = area.value;
  const isArea = level !== 'place' && whyNoArea(level) === null;
  const name = SOURCES.find(([value]) => value === source.value)[1];
  const line = isArea ? `${name}, one answer for each ${level === 'tract' ? 'census tract' : 'county'}` : name;
  const { service } = about.value;
  const sources = SOURCES.map(([value, title, what]) => [
    value,
    value === 'service' && service !== null ? `${title} ${service}` : title,
    what,
  ]);
  const change = (part) => {
    area.value = { ...area.value, ...part };
  };
  return html`<section id="source-step" aria-labelledby="source-title">
    <${Fold} name="source" title="Source" line=${line} isOpen=${folds.source}>
      <${ErrorBox} id="source-error" error=${choicesError.value} />
      <${Choices} id="sources" name="source" legend="Answers come from" values=${sources} chosen=${source.value}
        whyNot=${(value) => offered.value.sources[value] ?? null} onChoose=${(value) => {
          source.value = value;
        }} />
      <${Choices} id="areas" name="area" legend="One answer for each" values=${LEVELS} chosen=${level}
        whyNot=${whyNoArea} onChoose=${(value) => change({ level: value })} />
      ${
        isArea &&
        html`<p id="area-details" class="pair">
        <span><label for="area-column">Area known by</label><select id="area-column" onChange=${({ currentTarget }) => change({ known: currentTarget.value })}><${Options} values=${areaOptions.value} chosen=${areaKnown.value} /></select></span>
        <span><label for="area-verify">Bought anyway, to verify</label><select id="area-verify" onChange=${({ currentTarget }) => change({ verify: Number(currentTarget.value) })}><${Options} values=${VERIFIED} chosen=${verify} /></select></span>
      </p>`
      }
    <//>
  </section>`;
}

/** Radio buttons, each with why it cannot be chosen. The chosen one stays a stop of the Tab key. */
function Choices({ id, name, legend, values, chosen, whyNot, onChoose }) {
  return html`<fieldset id=${id} class="choices"><legend>${legend}</legend>
    ${values.map(([value, title, what]) => {
      const reason = whyNot(value);
      const words = `${name}-${value}-why`;
      return html`<p key=${value}>
        <label><input type="radio" name=${name} value=${value} checked=${value === chosen} disabled=${reason !== null && value !== chosen} aria-describedby=${words} onChange=${() => onChoose(value)} /><span id=${`${name}-${value}-name`}>${title}</span></label>
        <span id=${words} class="soft small">${reason ?? what}</span>
      </p>`;
    })}
  </fieldset>`;
}

/** Says where answers come from. */
export function sourceWords() {
  const { service, account, subscription } = about.value;
  const from = {
    local: 'public data on this machine, free of charge, for topics whose data is here',
    service: `${service}, account ${account} (${subscription})`,
    sample: 'made-up sample data',
  };
  return `Adds hazard columns to a file of US locations. Answers come from ${from[source.value]}.`;
}
