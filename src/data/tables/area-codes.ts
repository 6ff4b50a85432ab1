import { stateOf } from './states.ts';

/** The kinds of areas that have codes: counties (5 digits), census tracts (11), ZIP codes (5). */
export type CodeLevel = 'county' | 'tract' | 'zip';

/** The code of an area, or why there is none. */
export type CodeFinding = { readonly geoid: string } | { readonly problem: string };

/** The state that a row gives, '' if it gives none; a repaired code must agree with it. */
interface StatedArea {
  /** Two digits, or one without its leading zero. */
  readonly stateFips?: string;
  /** Two letters. */
  readonly stateAbbreviation?: string;
}

/** How many digits a code has. */
export const CODE_DIGITS: Readonly<Record<CodeLevel, number>> = { county: 5, tract: 11, zip: 5 };

/** As messages name it. */
export const CODE_NAMES: Readonly<Record<CodeLevel, string>> = {
  county: 'code of a county',
  tract: 'code of a tract',
  zip: 'ZIP code',
};

/** Reads the code of a county, a tract or a ZIP code. */
export function readAreaCode(text: string, level: CodeLevel): CodeFinding {
  return level === 'zip' ? readZip(text) : readGeoid(text, level);
}

/** Reads the code of a county or tract. A spreadsheet turns `06001400100` into the number 6001400100 (or 6001400100.0), so codes of
 * states 01 to 09 are one digit short. The zero is put back if the code is then in a state and the row names no other; anything else is
 * refused, because a wrong code would give a place another's risk. */
export function readGeoid(
  text: string,
  level: 'county' | 'tract',
  { stateFips = '', stateAbbreviation = '' }: StatedArea = {},
): CodeFinding {
  const digits = text.trim().replace(/\.0+$/, '');
  const length = CODE_DIGITS[level];
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

/** The ZIP code with the lowest number, 00501. */
const LOWEST_ZIP = 501;
/** With the four digits of ZIP+4. */
const LONG_DIGITS = 9;

/** A ZIP code, also of ZIP+4. Where a spreadsheet has made it a number, the zeros that it took from the front are put back: 2108 is 02108,
 * 21081234 is 02108-1234. */
function readZip(text: string): CodeFinding {
  const plain = text.trim().replace(/\.0+$/, '');
  const [, short] = /^(\d{3,5})(?:[- ](?:\d{4})?)?$/.exec(plain) ?? [];
  const zip =
    short?.padStart(CODE_DIGITS.zip, '0') ??
    (/^\d{7,9}$/.test(plain) ? plain.padStart(LONG_DIGITS, '0').slice(0, CODE_DIGITS.zip) : null);
  if (zip === null) return { problem: 'it has no ZIP code of 5 digits' };
  return Number(zip) < LOWEST_ZIP
    ? { problem: 'there is no ZIP code below 00501' }
    : { geoid: zip };
}

/** Connecticut replaced its counties with nine planning regions (Federal Register 87 FR 34235, June 2022), and EPA still publishes by
 * county. A region is answered from the county where most of its people live, by the towns of each (Connecticut Office of Policy and
 * Management, Councils of Governments). */
export const CONNECTICUT_REGIONS: readonly (readonly [
  name: string,
  region: string,
  county: string,
])[] = [
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
  const regions = CONNECTICUT_REGIONS.filter(([, , old]) => old === county).map(
    ([, region]) => region,
  );
  return FORMER_COUNTIES[county] ?? [county, ...regions];
}
