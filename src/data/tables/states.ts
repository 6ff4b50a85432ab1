/** The 50 states, DC and the territories: census code, postal code, name as the Census Bureau writes it. */
const STATE_ROWS = (
  '01 AL Alabama, 02 AK Alaska, 04 AZ Arizona, 05 AR Arkansas, 06 CA California, 08 CO Colorado, ' +
  '09 CT Connecticut, 10 DE Delaware, 11 DC District of Columbia, 12 FL Florida, 13 GA Georgia, 15 HI Hawaii, ' +
  '16 ID Idaho, 17 IL Illinois, 18 IN Indiana, 19 IA Iowa, 20 KS Kansas, 21 KY Kentucky, 22 LA Louisiana, ' +
  '23 ME Maine, 24 MD Maryland, 25 MA Massachusetts, 26 MI Michigan, 27 MN Minnesota, 28 MS Mississippi, ' +
  '29 MO Missouri, 30 MT Montana, 31 NE Nebraska, 32 NV Nevada, 33 NH New Hampshire, 34 NJ New Jersey, ' +
  '35 NM New Mexico, 36 NY New York, 37 NC North Carolina, 38 ND North Dakota, 39 OH Ohio, 40 OK Oklahoma, ' +
  '41 OR Oregon, 42 PA Pennsylvania, 44 RI Rhode Island, 45 SC South Carolina, 46 SD South Dakota, ' +
  '47 TN Tennessee, 48 TX Texas, 49 UT Utah, 50 VT Vermont, 51 VA Virginia, 53 WA Washington, 54 WV West Virginia, ' +
  '55 WI Wisconsin, 56 WY Wyoming, 60 AS American Samoa, 66 GU Guam, 69 MP Northern Mariana Islands, ' +
  '72 PR Puerto Rico, 78 VI Virgin Islands'
)
  .split(', ')
  .map((row) => [row.slice(0, 2), row.slice(3, 5), row.slice(6)] as const);

const POSTAL_CODES: ReadonlyMap<string, string> = new Map(
  STATE_ROWS.map(([code, postal]) => [code, postal]),
);

export const STATES: ReadonlySet<string> = new Set(POSTAL_CODES.values());

export const TERRITORIES: ReadonlySet<string> = new Set(['AS', 'GU', 'MP', 'PR', 'VI']);

/** Other spellings of agencies and us-atlas. */
const OTHER_NAMES = [
  ['commonwealthofthenorthernmarianaislands', 'MP'],
  ['usvirginislands', 'VI'],
  ['unitedstatesvirginislands', 'VI'],
  ['washingtondc', 'DC'],
] as const;

const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ...STATE_ROWS.flatMap(([code, postal, name]) =>
    [code, postal, name].map((text) => [plain(text), postal] as const),
  ),
  ...OTHER_NAMES,
]);

/** How agencies spell a state that is known by its two letters: 51, Virginia. */
export function spellingsOf(postal: string): { readonly fips: string; readonly name: string } {
  const [fips = '', , name = ''] = STATE_ROWS.find((row) => row[1] === postal) ?? [];
  return { fips, name };
}

/** The postal code of the state of a county or tract code. */
export function stateOf(countyGeoid: string): string {
  return POSTAL_CODES.get(countyGeoid.slice(0, 2)) ?? '';
}

/** The postal code of a state in an agency's spelling: VA, va, Virginia, VIRGINIA, 51, US-VA. A census code without its
 * leading zero counts too (5 is Arkansas). Null when it is no state. */
export function stateNamed(text: string): string | null {
  const spelling = plain(text.trim().replace(/^US-/i, '').replace(/\.0+$/, ''));
  return SPELLINGS.get(/^\d$/.test(spelling) ? `0${spelling}` : spelling) ?? null;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '');
}
