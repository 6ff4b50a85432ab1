import { censusNames } from '../../geo/us-atlas.ts';
import { stateNamed, stateOf } from '../tables/states.ts';

/** The code of a named county, or why there is none. */
export type CountyFinding = { readonly geoid: string } | { readonly problem: string };

/** Independent cities have county codes from 510; EPA writes their names with "City" at the end. */
const FIRST_CITY = 510;

/** EPA's other spellings, and counties newer than us-atlas or renamed (2021: Valdez-Cordova became Chugach and Copper
 * River; 2015 and 2008: Kusilvak, Prince of Wales-Hyder). */
const OTHER_SPELLINGS: readonly (readonly [state: string, name: string, geoid: string])[] = [
  ['VA', 'Charles', '51036'],
  ['AK', 'Chugach', '02063'],
  ['AK', 'Copper River', '02066'],
  ['AK', 'Wade Hampton', '02158'],
  ['AK', 'Prince of Wales-Outer Ketchikan', '02198'],
  ['SD', 'Shannon', '46102'],
  ['FL', 'Dade', '12086'],
  ['PR', 'Mayagnez', '72097'],
  ['CT', 'Capitol', '09110'],
  ['CT', 'Greater Bridgeport', '09120'],
  ['CT', 'Lower Connecticut River Valley', '09130'],
  ['CT', 'Naugatuck Valley', '09140'],
  ['CT', 'Northeastern Connecticut', '09150'],
  ['CT', 'Northwest Hills', '09160'],
  ['CT', 'South Central Connecticut', '09170'],
  ['CT', 'Southeastern Connecticut', '09180'],
  ['CT', 'Western Connecticut', '09190'],
];

interface Gazetteer {
  /** The names of state and county in EPA's spelling, by county code. */
  readonly names: ReadonlyMap<string, readonly [state: string, county: string]>;
  readonly counties: ReadonlyMap<string, string>;
}

let gazetteer: Gazetteer | undefined;

/** The county of a table without codes. `state` is spelled in any way that `stateNamed` reads. Case, spaces, accents
 * and a final "County", "Parish" or "Borough" do not matter; a city and a county of the same name are distinct. */
export function countyNamed(state: string, name: string): CountyFinding {
  gazetteer ??= readGazetteer();
  const known = stateNamed(state);
  if (known === null) return { problem: `"${state.trim()}" is not a US state` };
  const county = plain(name);
  const geoid =
    gazetteer.counties.get(`${known}/${county}`) ??
    gazetteer.counties.get(
      `${known}/${county.replace(/(county|parish|borough|censusarea|municipality|municipio)$/, '')}`,
    );
  return geoid === undefined ? { problem: `${state.trim()} has no county of this name` } : { geoid };
}

/** The names of a county and its state in EPA's tables; null for an unknown code. */
export function namesOfCounty(geoid: string): readonly [state: string, county: string] | null {
  gazetteer ??= readGazetteer();
  return gazetteer.names.get(geoid) ?? null;
}

/** From the us-atlas package: the Census Bureau's names. */
function readGazetteer(): Gazetteer {
  const states = censusNames('states');
  const counties = new Map<string, string>();
  const names = new Map<string, readonly [string, string]>();
  for (const [state, name, geoid] of OTHER_SPELLINGS) counties.set(`${state}/${plain(name)}`, geoid);
  // Cities last, and only where the plain name is free: "Richmond" is the county and "Richmond City" the city.
  const byCode = [...censusNames('counties')].sort(([a], [b]) => Number(isCity(a)) - Number(isCity(b)));
  for (const [id, name] of byCode) {
    names.set(id, [states.get(id.slice(0, 2))!, isCity(id) ? `${name} City` : name]);
    const keys = [name, ...(isCity(id) ? [`${name} city`] : [])];
    for (const key of keys.map((text) => `${stateOf(id)}/${plain(text)}`)) {
      if (!counties.has(key)) counties.set(key, id);
    }
  }
  return { counties, names };
}

function isCity(geoid: string): boolean {
  return Number(geoid.slice(2)) >= FIRST_CITY && /^(24|29|32|51)/.test(geoid);
}

function plain(name: string): string {
  return name
    .normalize('NFD')
    .toLowerCase()
    .replace(/\bsaint\b/g, 'st')
    .replace(/\bsainte\b/g, 'ste')
    .replace(/[^a-z0-9]/g, '');
}
