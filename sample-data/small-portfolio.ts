import type { Land } from '../src/sample/land.ts';
import { makeRandom } from '../src/sample/random.ts';
import { cityNamed, placeNear } from './city-places.ts';
import { csvLine } from './csv.ts';

const HEADER = ['location_id', 'name', 'latitude', 'longitude'];
const CITIES = [
  'Houston',
  'Miami',
  'New Orleans',
  'Denver',
  'Seattle',
  'San Francisco',
  'Oklahoma City',
  'Chicago',
];

/** A dozen rows for the first try: eight cities, and a second tenant in four of the buildings. */
export function smallPortfolio(land: Land): string {
  const random = makeRandom(1, 'portfolio-small');
  const rows = CITIES.flatMap((name, index) => {
    const { lat, lng } = placeNear(cityNamed(name), 4, 4, land, random);
    const tenants = index % 2 === 0 ? ['ground floor', 'upper floors'] : ['whole building'];
    return tenants.map((tenant) => [`${name}, ${tenant}`, lat.toFixed(4), lng.toFixed(4)]);
  });
  return [HEADER, ...rows.map((row, index) => [index + 1, ...row])]
    .map((row) => `${csvLine(row)}\n`)
    .join('');
}
