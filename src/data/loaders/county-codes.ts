import { censusNames } from '../../geo/us-atlas.ts';
import { stateNamed, stateOf } from '../tables/states.ts';

/** The census code of a county (5 digits) or a tract (11), or why there is none. */
export type CodeFinding = { readonly geoid: string } | { readonly problem: string };

/** The state that a row gives, '' if it gives none; a repaired code must agree with it. */
interface StatedArea {
  /** Two digits, or one without its leading zero. */
  readonly stateFips?: string;
  /** Two letters. */
  readonly stateAbbreviation?: string;
}

const LENGTHS = { county: 5, tract: 11 } as const;

/** Reads the code of a county or tract. A spreadsheet turns `06001400100` into the number 6001400100 (or 6001400100.0), so codes of
 * states 01 to 09 are one digit short. The zero is put back if the code is then in a state and the row names no other; anything else is
 * refused, because a wrong code would give a place another's risk. */
export function readGeoid(
  text: string,
  level: 'county' | 'tract',
  { stateFips = '', stateAbbreviation = '' }: StatedArea = {},
): CodeFinding {
  const digits = text.trim().replace(/\.0+$/, '');
  const length = LENGTHS[level];
  if (!/^\d+$/.test(digits)) return { problem: `the code of the ${level} is not a number` };
  if (digits.length !== length && digits.length !== length - 1) {
    return { problem: `the code of the ${level} has neither ${length} nor ${length - 1} digits` };
  }
  const geoid = digits.padStart(length, '0');
  const state = stateOf(geoid);
  if (state === '') return { problem: `the code of the ${level} is not in any state` };
  const fips = stateFips.trim().replace(/\.0+$/, '');
  const isOther =
    (fips !== '' && fips.padStart(2, '0') !== geoid.slice(0, 2)) ||
    (stateAbbreviation.trim() !== '' && stateAbbreviation.trim().toUpperCase() !== state);
  return isOther
    ? { problem: `the code of the ${level} is not in the state that the row names` }
    : { geoid };
}

/** Independent cities have county codes from 510; EPA writes their names with "City" at the end. */
const FIRST_CITY = 510;

/** Connecticut replaced its counties with nine planning regions (Federal Register 87 FR 34235, June 2022), and EPA still publishes by
 * county. A region is answered from the county where most of its people live, by the towns of each (Connecticut Office of Policy and
 * Management, Councils of Governments). */
const REGIONS: readonly (readonly [name: string, region: string, county: string])[] = [
  ['Capitol', '09110', '09003'], // Hartford, and half of Tolland
  ['Greater Bridgeport', '09120', '09001'], // Fairfield
  ['Lower Connecticut River Valley', '09130', '09007'], // Middlesex, and two towns of New London
  ['Naugatuck Valley', '09140', '09009'], // New Haven, and towns of Litchfield, Hartford and Fairfield
  ['Northeastern Connecticut', '09150', '09015'], // Windham, and one town of Tolland
  ['Northwest Hills', '09160', '09005'], // Litchfield, and two towns of Hartford
  ['South Central Connecticut', '09170', '09009'], // New Haven
  ['Southeastern Connecticut', '09180', '09011'], // New London, and one town of Windham
  ['Western Connecticut', '09190', '09001'], // Fairfield, and two towns of Litchfield
];

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
  const regions = REGIONS.map(([name, region]) => ['CT', name, region] as const);
  for (const [state, name, geoid] of [...OTHER_SPELLINGS, ...regions])
    counties.set(`${state}/${plain(name)}`, geoid);
  // Cities last, and only where the plain name is free: "Richmond" is the county and "Richmond City" the city.
  const byCode = [...censusNames('counties')].sort(
    ([a], [b]) => Number(isCity(a)) - Number(isCity(b)),
  );
  for (const [id, name] of byCode) {
    const keys = [name, ...(isCity(id) ? [`${name} city`] : [])];
    for (const key of keys.map((text) => `${stateOf(id)}/${plain(text)}`)) {
      if (!counties.has(key)) counties.set(key, id);
    }
  }
  return counties;
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

export const CONNECTICUT_NOTE =
  "Connecticut's planning regions are answered from the former county where most of their people live.";

/** Codes that a table of 1993 has and today's boundaries have not: renamed or divided (Census Bureau, "Substantial Changes to Counties").
 * Counties that joined another are left out: the other has a row of its own. */
const FORMER_COUNTIES: Readonly<Record<string, readonly string[]>> = {
  '12025': ['12086'], // Dade: Miami-Dade
  '46113': ['46102'], // Shannon: Oglala Lakota
  '02270': ['02158'], // Wade Hampton: Kusilvak
  '02201': ['02198'], // Prince of Wales-Outer Ketchikan: Prince of Wales-Hyder
  '02231': ['02105', '02230', '02282'], // Skagway-Yakutat-Angoon: Hoonah-Angoon, Skagway, Yakutat
  '02232': ['02105', '02230'], // Skagway-Hoonah-Angoon
  '02261': ['02063', '02066'], // Valdez-Cordova: Chugach, Copper River
  '02280': ['02195', '02275'], // Wrangell-Petersburg: Petersburg, Wrangell
};

/** The codes that a county's row serves: its own, or those that followed it, and those of Connecticut's planning regions. */
export function countiesServedBy(county: string): readonly string[] {
  const regions = REGIONS.filter(([, , old]) => old === county).map(([, region]) => region);
  return FORMER_COUNTIES[county] ?? [county, ...regions];
}
