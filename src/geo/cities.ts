import { distanceMeters, type Location } from './coordinates.ts';

/** A big city: its centre, the approximate population of its metropolitan area, and the ZIP of its centre. */
export interface City extends Location {
  readonly name: string;
  /** Two letters. */
  readonly state: string;
  /** Thousands of people. */
  readonly people: number;
  readonly zip: string;
}

type CityRow = readonly [
  name: string,
  state: string,
  lat: number,
  lng: number,
  people: number,
  zip: string,
];

const ROWS: readonly CityRow[] = [
  ['New York', 'NY', 40.7128, -74.006, 19500, '10007'],
  ['Los Angeles', 'CA', 34.0522, -118.2437, 12900, '90012'],
  ['Chicago', 'IL', 41.8781, -87.6298, 9300, '60602'],
  ['Dallas', 'TX', 32.7767, -96.797, 8100, '75201'],
  ['Houston', 'TX', 29.7604, -95.3698, 7500, '77002'],
  ['Atlanta', 'GA', 33.749, -84.388, 6300, '30303'],
  ['Washington', 'DC', 38.9072, -77.0369, 6300, '20001'],
  ['Philadelphia', 'PA', 39.9526, -75.1652, 6250, '19107'],
  ['Miami', 'FL', 25.7617, -80.1918, 6200, '33130'],
  ['Phoenix', 'AZ', 33.4484, -112.074, 5100, '85003'],
  ['Boston', 'MA', 42.3601, -71.0589, 4900, '02108'],
  ['Riverside', 'CA', 33.9806, -117.3755, 4700, '92501'],
  ['San Francisco', 'CA', 37.7749, -122.4194, 4600, '94103'],
  ['Detroit', 'MI', 42.3314, -83.0458, 4350, '48226'],
  ['Seattle', 'WA', 47.6062, -122.3321, 4050, '98104'],
  ['Minneapolis', 'MN', 44.9778, -93.265, 3700, '55415'],
  ['Tampa', 'FL', 27.9506, -82.4572, 3350, '33602'],
  ['San Diego', 'CA', 32.7157, -117.1611, 3300, '92101'],
  ['Denver', 'CO', 39.7392, -104.9903, 3000, '80202'],
  ['Baltimore', 'MD', 39.2904, -76.6122, 2850, '21202'],
  ['Orlando', 'FL', 28.5384, -81.3789, 2800, '32801'],
  ['Charlotte', 'NC', 35.2271, -80.8431, 2800, '28202'],
  ['St. Louis', 'MO', 38.627, -90.1994, 2800, '63101'],
  ['San Antonio', 'TX', 29.4241, -98.4936, 2700, '78205'],
  ['Portland', 'OR', 45.5152, -122.6784, 2500, '97204'],
  ['Austin', 'TX', 30.2672, -97.7431, 2450, '78701'],
  ['Pittsburgh', 'PA', 40.4406, -79.9959, 2400, '15222'],
  ['Sacramento', 'CA', 38.5816, -121.4944, 2400, '95814'],
  ['Las Vegas', 'NV', 36.1699, -115.1398, 2350, '89101'],
  ['Cincinnati', 'OH', 39.1031, -84.512, 2270, '45202'],
  ['Kansas City', 'MO', 39.0997, -94.5786, 2220, '64106'],
  ['Columbus', 'OH', 39.9612, -82.9988, 2180, '43215'],
  ['Cleveland', 'OH', 41.4993, -81.6944, 2160, '44113'],
  ['Indianapolis', 'IN', 39.7684, -86.1581, 2140, '46204'],
  ['Nashville', 'TN', 36.1627, -86.7816, 2100, '37201'],
  ['San Juan', 'PR', 18.4655, -66.1057, 2050, '00901'],
  ['San Jose', 'CA', 37.3382, -121.8863, 1950, '95113'],
  ['Virginia Beach', 'VA', 36.8529, -75.978, 1790, '23451'],
  ['Jacksonville', 'FL', 30.3322, -81.6557, 1710, '32202'],
  ['Providence', 'RI', 41.824, -71.4128, 1680, '02903'],
  ['Milwaukee', 'WI', 43.0389, -87.9065, 1560, '53202'],
  ['Raleigh', 'NC', 35.7796, -78.6382, 1510, '27601'],
  ['Oklahoma City', 'OK', 35.4676, -97.5164, 1480, '73102'],
  ['Louisville', 'KY', 38.2527, -85.7585, 1365, '40202'],
  ['Richmond', 'VA', 37.5407, -77.436, 1350, '23219'],
  ['Memphis', 'TN', 35.1495, -90.049, 1335, '38103'],
  ['Salt Lake City', 'UT', 40.7608, -111.891, 1270, '84111'],
  ['Birmingham', 'AL', 33.5186, -86.8104, 1180, '35203'],
  ['Fresno', 'CA', 36.7378, -119.7871, 1180, '93721'],
  ['Buffalo', 'NY', 42.8864, -78.8784, 1155, '14202'],
  ['Hartford', 'CT', 41.7658, -72.6734, 1150, '06103'],
  ['Tucson', 'AZ', 32.2226, -110.9747, 1065, '85701'],
  ['Tulsa', 'OK', 36.154, -95.9928, 1045, '74103'],
  ['Honolulu', 'HI', 21.3069, -157.8583, 990, '96813'],
  ['Omaha', 'NE', 41.2565, -95.9345, 985, '68102'],
  ['New Orleans', 'LA', 29.9511, -90.0715, 960, '70112'],
  ['Albuquerque', 'NM', 35.0844, -106.6504, 920, '87102'],
  ['El Paso', 'TX', 31.7619, -106.485, 875, '79901'],
  ['Charleston', 'SC', 32.7765, -79.9311, 850, '29401'],
  ['Boise', 'ID', 43.615, -116.2023, 825, '83702'],
  ['Des Moines', 'IA', 41.5868, -93.625, 730, '50309'],
  ['Spokane', 'WA', 47.6588, -117.426, 600, '99201'],
  ['Anchorage', 'AK', 61.2181, -149.9003, 400, '99501'],
  ['Billings', 'MT', 45.7833, -108.5007, 190, '59101'],
];

export const CITIES: readonly City[] = ROWS.map((row) => {
  const [name, state, lat, lng, people, zip] = row;
  return { name, state, lat, lng, people, zip };
});

/** How urban a location is, 0 to 1: 1 in the middle of the largest city. */
export function findUrbanity(location: Location): number {
  const sum = CITIES.reduce(
    (total, city) =>
      total + Math.sqrt(city.people / 20_000) * Math.exp(-distanceMeters(location, city) / 50_000),
    0,
  );
  return Math.min(1, sum);
}
