import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

/** How large a made-up portfolio is. The same numbers always give the same file. */
export interface PortfolioSize {
  readonly rows: number;
  /** How many different places the rows stand at; each is used about `rows / places` times, scattered over the file. */
  readonly places: number;
  readonly seed?: number;
  /** The first row of the file, where it is a part of a larger portfolio. */
  readonly from?: number;
}

/** The columns of the portfolio: 16 of Open Exposure Data's, numbers and quoted text. */
const COLUMNS = [
  ...['PortNumber', 'AccNumber', 'LocNumber', 'LocName', 'StreetAddress', 'City'],
  ...['AreaCode', 'PostalCode', 'CountryCode', 'Latitude', 'Longitude', 'BuildingTIV'],
  ...['ContentsTIV', 'OccupancyCode', 'ConstructionCode', 'YearBuilt'],
] as const;

export const LATITUDE = COLUMNS.indexOf('Latitude');
export const LONGITUDE = COLUMNS.indexOf('Longitude');

const STREETS = ['Oak', 'Main', 'Lake', 'Hill', 'Mill', 'Pine', 'Park', 'Elm'];
const CITIES = ['Austin', 'Tulsa', 'Omaha', 'Denver', 'Fresno', 'Mobile', 'Toledo', 'Peoria'];
const STATES = ['TX', 'OK', 'NE', 'CO', 'CA', 'AL', 'OH', 'IL'];
const KINDS = ['Warehouse', 'Office', 'Dwelling', 'Store'];
const ROWS_A_WRITE = 5000;

/** Writes a portfolio of any number of rows, a few thousand at a time. */
export async function writePortfolio(
  file: string,
  { rows, places, seed = 1, from: first = 0 }: PortfolioSize,
): Promise<void> {
  const stream = createWriteStream(file);
  stream.write(`${COLUMNS.join()}\n`);
  const end = first + rows;
  for (let from = first; from < end; from += ROWS_A_WRITE) {
    let text = '';
    for (let row = from; row < Math.min(end, from + ROWS_A_WRITE); row++)
      text += rowText(row, places, seed);
    if (!stream.write(text)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'close');
}

function rowText(row: number, places: number, seed: number): string {
  const place = mixed(row + seed) % places;
  const [a, b] = [mixed(place * 2 + seed + 7), mixed(place * 2 + seed + 8)];
  const town = a % CITIES.length;
  const latitude = (30 + (a % 16_000_000) / 1e6).toFixed(6);
  const longitude = (-118 + (b % 40_000_000) / 1e6).toFixed(6);
  const [name, value] = [KINDS[b % KINDS.length]!, 50_000 + (mixed(row) % 4_000_000)];
  const address = `"${1 + (b % 9000)} ${STREETS[a % STREETS.length]} St, Unit ${1 + (row % 40)}"`;
  return (
    `1,A${10_000 + (row >> 5)},${row + 1},"${name} ${b % 1000}",${address},${CITIES[town]},${STATES[town]},` +
    `${10_000 + (b % 89_999)},US,${latitude},${longitude},${value},${(value * 0.2).toFixed(2)},` +
    `${1050 + (b % 60)},${5050 + (a % 60)},${1900 + (b % 124)}\n`
  );
}

/** A well-stirred whole number below 2^32 for each number (the finalizer of MurmurHash3). */
function mixed(number: number): number {
  let h = number >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
