import { censusNames } from '../../geo/us-atlas.ts';
import { isIndependentCity } from '../../geo/us-counties.ts';
import { CONNECTICUT_REGIONS, type CodeFinding } from '../tables/area-codes.ts';
import { stateNamed, stateOf } from '../tables/states.ts';

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
];

/** County codes by state and name. */
let gazetteer: ReadonlyMap<string, string> | undefined;

/** The county of a table without codes. `state` is spelled in any way that `stateNamed` reads. Case, spaces, accents
 * and a final "County", "Parish", "Borough" or "Planning Region" do not matter; a city and a county of the same name are distinct. */
export function countyNamed(state: string, name: string): CodeFinding {
  gazetteer ??= readGazetteer();
  const abbreviation = stateNamed(state);
  if (abbreviation === null) return { problem: `"${state.trim()}" is not a US state` };
  const county = plain(name);
  const bare = county.replace(
    /(county|parish|borough|censusarea|municipality|municipio|planningregion|cityandborough)$/,
    '',
  );
  const geoid =
    gazetteer.get(`${abbreviation}/${county}`) ?? gazetteer.get(`${abbreviation}/${bare}`);
  return geoid === undefined
    ? { problem: `${state.trim()} has no county of this name` }
    : { geoid };
}

/** From the us-atlas package: the Census Bureau's names. */
function readGazetteer(): ReadonlyMap<string, string> {
  const counties = new Map<string, string>();
  const regions = CONNECTICUT_REGIONS.map(([name, region]) => ['CT', name, region] as const);
  for (const [state, name, geoid] of [...OTHER_SPELLINGS, ...regions])
    counties.set(`${state}/${plain(name)}`, geoid);
  // Cities last, and only where the plain name is free: "Richmond" is the county and "Richmond City" the city.
  const byCode = [...censusNames('counties')].sort(
    ([a], [b]) => Number(isIndependentCity(a)) - Number(isIndependentCity(b)),
  );
  for (const [id, name] of byCode) {
    // EPA writes the names of cities with "City" at the end.
    const keys = [name, ...(isIndependentCity(id) ? [`${name} city`] : [])];
    for (const key of keys.map((text) => `${stateOf(id)}/${plain(text)}`)) {
      if (!counties.has(key)) counties.set(key, id);
    }
  }
  return counties;
}

function plain(name: string): string {
  return name
    .normalize('NFD')
    .toLowerCase()
    .replace(/\bsaint\b/g, 'st')
    .replace(/\bsainte\b/g, 'ste')
    .replace(/[^a-z0-9]/g, '');
}

export const CONNECTICUT_NOTE =
  "Connecticut's planning regions are answered from the former county where most of their people live.";
