import { counted } from './format.js';
import { html } from './html.js';
import { points } from './state.js';

/** Points as one path: 3,000 circles would take 3,000 elements. */
const dots = (list) => list.map(([x, y]) => `M${x} ${y}h0`).join('');

/** The locations of a file on a map, before anything is priced or bought. A failure hides the map: it is no step. */
export function PointMap() {
  const map = points.answer.value.value;
  if (map === null || map.good.length + map.bad.length === 0) return null;
  const words = [
    map.isPart ? `The map shows the first ${counted(map.rows, 'row')} only.` : '',
    map.bad.length > 0 ? 'Red: cannot be looked up.' : '',
    map.unseen > 0 ? `${counted(map.unseen, 'row')} ${map.unseen === 1 ? 'has' : 'have'} no place on this map.` : '',
  ].filter(Boolean);
  return html`<div id="map-box" class="map-box">
    <svg id="map" role="img" aria-label=${`Map of the locations: ${counted(map.good.length, 'point')}`} viewBox=${`0 0 ${map.width} ${map.height}`}>
      <path class="land" d=${map.land} />
      <path class="borders" d=${map.states} />
      <path class="good" d=${dots(map.good)} />
      <path class="bad" d=${dots(map.bad)} />
    </svg>
    <p id="map-words" class="soft small">${words.join(' ')}</p>
  </div>`;
}
