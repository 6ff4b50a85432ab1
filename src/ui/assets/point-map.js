import { post } from './api.js';
import { byId, say, show } from './dom.js';
import { counted, grouped } from './format.js';

const SVG = 'http://www.w3.org/2000/svg';

function shape(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** Points as one path: 3,000 circles would take 3,000 elements. */
const dots = (points) => points.map(([x, y]) => `M${x} ${y}h0`).join('');

let asked = 0;

/** Shows the locations of a file on a map, before anything is priced or bought. A failure hides the map: it is no step. */
export async function drawMap(book, choice) {
  const mine = ++asked;
  if (choice === null) {
    show('map-box', false);
    return;
  }
  const map = await post(`/api/books/${book}/points`, choice).catch(() => null);
  if (mine !== asked) return;
  show('map-box', map !== null && map.good.length + map.bad.length > 0);
  if (map === null) return;
  const box = byId('map');
  box.setAttribute('viewBox', `0 0 ${map.width} ${map.height}`);
  box.replaceChildren(
    shape('path', { class: 'land', d: map.land }),
    shape('path', { class: 'borders', d: map.states }),
    shape('path', { class: 'good', d: dots(map.good) }),
    shape('path', { class: 'bad', d: dots(map.bad) }),
  );
  const what = [
    map.isPart ? `The first ${counted(map.rows, 'row')}.` : '',
    map.bad.length > 0 ? 'Red: cannot be looked up.' : '',
    map.unseen > 0 ? `${counted(map.unseen, 'row')} ${map.unseen === 1 ? 'has' : 'have'} no place on this map.` : '',
  ].filter(Boolean);
  box.setAttribute('aria-label', `Map of the locations: ${grouped(map.good.length)} points`);
  say('map-words', what.join(' '));
}
