import { CITIES } from '../src/geo/cities.ts';
import type { Land } from '../src/sample/land.ts';
import { drawWhole, makeRandom, pick } from '../src/sample/random.ts';
import { placeNear } from './city-places.ts';
import { csvLine } from './csv.ts';

const HEADER = ['id', 'address', 'city', 'state', 'zip', 'price', 'beds', 'lat', 'lng'];
const LISTINGS = 40;
const BYTE_ORDER_MARK = '\ufeff';

const STREETS = [
  'Maple Dr',
  'Cañada Rd',
  'Peña Blvd',
  'José Martí Way',
  'Rue Fauré',
  'Cedar Ln',
  'Sunset Ter',
  'Piñon Ct',
];
const UNITS = ['', '', '', ', Apt 4B', ', Unit 12', ' "The Pines"'];

/** A real-estate list as a spreadsheet saves it: byte order mark, CRLF, prices with commas, accents, units in quotes. */
export function listings(land: Land): string {
  const random = makeRandom(1, 'listings');
  const lines = [csvLine(HEADER)];
  let home = { lat: 0, lng: 0 };
  for (let index = 0; index < LISTINGS; index += 1) {
    // Every eighth is a second flat in the house before it.
    const sameHouse = index % 8 === 7;
    const city = CITIES[((sameHouse ? index - 1 : index) * 11) % CITIES.length]!;
    if (!sameHouse) home = placeNear(city, 9, 5, land, random);
    lines.push(
      csvLine([
        1001 + index,
        `${drawWhole(random, 1, 4800)} ${pick(random, STREETS)}${pick(random, UNITS)}`,
        city.name === 'San Jose' ? 'San José' : city.name,
        city.state,
        city.zip,
        (drawWhole(random, 140, 2400) * 1000).toLocaleString('en-US'),
        drawWhole(random, 1, 6),
        home.lat.toFixed(5),
        home.lng.toFixed(5),
      ]),
    );
  }
  return BYTE_ORDER_MARK + lines.map((line) => `${line}\r\n`).join('');
}
