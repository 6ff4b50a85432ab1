import type { City } from '../src/geo/cities.ts';
import type { Land } from '../src/sample/land.ts';
import { drawWhole, makeRandom, pick, type Random } from '../src/sample/random.ts';
import { cityNamed, placeNear } from './city-places.ts';
import { csvLine } from './csv.ts';

const HEADER = [
  'PortNumber',
  'AccNumber',
  'LocNumber',
  'LocName',
  'CountryCode',
  'Latitude',
  'Longitude',
  'StreetAddress',
  'City',
  'AreaCode',
  'PostalCode',
  'OccupancyCode',
  'ConstructionCode',
  'BuildingTIV',
  'ContentsTIV',
  'BITIV',
  'LocPerilsCovered',
  'LocCurrency',
];

/** Buildings by city: a book that leans towards the coasts, as books do. */
const BUILDINGS: Readonly<Record<string, number>> = {
  Houston: 8,
  Miami: 7,
  'Los Angeles': 6,
  'New York': 5,
  'New Orleans': 4,
  Tampa: 4,
  'San Francisco': 4,
  Chicago: 3,
  Charleston: 3,
  Seattle: 3,
  'Oklahoma City': 3,
  Denver: 3,
  'Virginia Beach': 2,
  Memphis: 2,
  Phoenix: 2,
  Honolulu: 2,
  'San Juan': 1,
  Anchorage: 1,
  Boston: 1,
  Billings: 1,
};

/** Rows of good buildings; the faulty ones come on top. */
const GOOD_ROWS = 113;
const STREETS = [
  'Commerce St',
  'Harbor Blvd',
  'W 4th St',
  'Industrial Pkwy',
  'Bay Ave',
  'Market St',
  'Mill Rd',
];
const KINDS = [
  'Warehouse',
  'Office tower',
  'Store',
  'Clinic',
  'Hotel',
  'Apartments',
  'Plant',
  'Data center',
];

interface Building {
  readonly city: City;
  readonly number: number;
  readonly lat: number;
  readonly lng: number;
  readonly street: string;
}

type Row = readonly (string | number)[];

/** A property insurer's book in the location form of Open Exposure Data: several rows for most buildings (one a storey,
 * a lessee or a policy), coordinates of four decimals or six, and the faults that such books have. */
export function oedPortfolio(land: Land): string {
  const random = makeRandom(1, 'portfolio-oed');
  const buildings = Object.entries(BUILDINGS).flatMap(([name, count]) =>
    Array.from({ length: count }, () => buildingIn(cityNamed(name), land, random)),
  );
  const rows = rowsOf(buildings, random);
  for (const [index, fault] of FAULTS.entries()) {
    const at = 9 + index * 17;
    const row = [...rows[at]!];
    row[2] = `F${index + 1}`;
    row[3] = 'Location to check';
    for (const [column, value] of Object.entries(fault(row))) row[HEADER.indexOf(column)] = value;
    rows.splice(at, 0, row);
  }
  return [HEADER, ...rows].map((row) => `${csvLine(row)}\n`).join('');
}

/** What goes wrong with coordinates on their way into a book. */
const FAULTS: readonly ((row: Row) => Record<string, string>)[] = [
  () => ({ Latitude: '', Longitude: '' }),
  (row) => ({ Latitude: String(row[6]), Longitude: String(row[5]) }),
  (row) => ({ Longitude: String(row[6]).replace('-', '') }),
  () => ({ Latitude: '0', Longitude: '0' }),
  () => ({
    CountryCode: 'CA',
    Latitude: '43.6532',
    Longitude: '-79.3832',
    StreetAddress: '100 Queen St W',
    City: 'Toronto',
    AreaCode: 'ON',
    PostalCode: 'M5H 2N2',
    LocCurrency: 'CAD',
  }),
  () => ({
    Latitude: `29°45'37"N`,
    Longitude: `95°22'11"W`,
    City: 'Houston',
    AreaCode: 'TX',
    PostalCode: '77002',
  }),
  () => ({ Latitude: 'n/a', Longitude: 'n/a' }),
];

function buildingIn(city: City, land: Land, random: Random): Building {
  const { lat, lng } = placeNear(city, 14, 4, land, random);
  return { city, number: drawWhole(random, 10, 9800), lat, lng, street: pick(random, STREETS) };
}

/** Every building once, then more rows for some, in the order of the buildings. */
function rowsOf(buildings: readonly Building[], random: Random): Row[] {
  const counts = buildings.map(() => 1);
  for (let extra = buildings.length; extra < GOOD_ROWS; extra += 1) {
    // The lower of two draws: the first buildings of the book are its campuses.
    const index = Math.min(
      drawWhole(random, 0, buildings.length - 1),
      drawWhole(random, 0, buildings.length - 1),
    );
    counts[index]! += 1;
  }
  let location = 0;
  return buildings.flatMap((building, index) =>
    Array.from({ length: counts[index]! }, (_, storey) => {
      location += 1;
      return rowOf(building, index, storey, location, random);
    }),
  );
}

function rowOf(
  building: Building,
  index: number,
  storey: number,
  location: number,
  random: Random,
): Row {
  const { city, number, lat, lng, street } = building;
  const value = drawWhole(random, 20, 4000) * 10_000;
  // A second survey of the same roof: another place by less than the five metres that four decimals keep.
  const surveyed = storey > 0 && random() < 0.35;
  const shift = () => drawWhole(random, -40, 40) / 1e6;
  return [
    'P2026-01',
    `A${String(1 + Math.floor(index / 4)).padStart(3, '0')}`,
    `L${String(location).padStart(4, '0')}`,
    `${pick(random, KINDS)} ${index + 1}${storey === 0 ? '' : `-${storey + 1}`}`,
    'US',
    surveyed ? (lat + shift()).toFixed(6) : lat.toFixed(4),
    surveyed ? (lng + shift()).toFixed(6) : lng.toFixed(4),
    storey === 0 ? `${number} ${street}` : `${number} ${street}, Unit ${storey + 1}`,
    city.name,
    city.state,
    city.zip,
    pick(random, [1050, 1101, 1103, 1104, 1123, 1150]),
    pick(random, [5000, 5050, 5101, 5150, 5200]),
    value,
    Math.round(value * 0.3),
    Math.round(value * 0.12),
    pick(random, ['AA1', 'AA1', 'WW1;OO1', 'QQ1;WW1']),
    'USD',
  ];
}
