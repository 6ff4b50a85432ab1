import { censusNames } from '../../geo/us-atlas.ts';
import { stateNamed, stateOf } from '../tables/states.ts';

/** The county of a state's name and its own, or why there is none. */
export type CountyFinding = { readonly geoid: string } | { readonly problem: string };

/** Independent cities have county codes from 510 on; EPA writes their names with "City" behind. */
const FIRST_CITY = 510;

/** Names that EPA writes otherwise than the Census Bureau, and counties that came after the names were read (2021:
 * Valdez-Cordova became Chugach and Copper River; 2015 and 2008: Kusilvak, Prince of Wales-Hyder). */
const ALSO: readonly (readonly [state: string, name: string, geoid: string])[] = [
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
  /** The names of state and county as EPA writes them, by the county's code. */
  readonly names: ReadonlyMap<string, readonly [state: string, county: string]>;
  readonly counties: ReadonlyMap<string, string>;
}

let gazetteer: Gazetteer | undefined;

/**
 * The county that a table means which gives names and no codes. `state` is spelled in any of the ways of `stateNamed`. Case, spaces, accents
 * and "County", "Parish", "Borough" behind a name do not matter; a city and a county of the same name are told apart.
 */
export function countyNamed(state: string, name: string): CountyFinding {
  gazetteer ??= readGazetteer();
  const known = stateNamed(state);
  if (known === null) return { problem: `"${state.trim()}" is not a state of the US` };
  const county = plain(name);
  const geoid =
    gazetteer.counties.get(`${known}/${county}`) ??
    gazetteer.counties.get(
      `${known}/${county.replace(/(county|parish|borough|censusarea|municipality|municipio)$/, '')}`,
    );
  return geoid === undefined ? { problem: `there is no county of this name in ${state.trim()}` } : { geoid };
}

/** The names of a county and its state as EPA's tables write them; null for a code that is not known. */
export function namesOfCounty(geoid: string): readonly [state: string, county: string] | null {
  gazetteer ??= readGazetteer();
  return gazetteer.names.get(geoid) ?? null;
}

/** Names of the us-atlas package: the Census Bureau's. */
function readGazetteer(): Gazetteer {
  const states = censusNames('states');
  const counties = new Map<string, string>();
  const names = new Map<string, readonly [string, string]>();
  for (const [state, name, geoid] of ALSO) counties.set(`${state}/${plain(name)}`, geoid);
  // Cities last and only where the plain name is free, so that "Richmond" is the county and "Richmond City" the city.
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
