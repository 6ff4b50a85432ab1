/** The kinds of area that values are given for. */
export type AreaLevel = 'tract' | 'county';

/** Digits of a census code: state 2, county 3, tract 6; a block group adds 1 more, a block 4. */
const TRACT_DIGITS = 11;
const COUNTY_DIGITS = 5;

/** State codes (FIPS 5-2) run from 01 to 56 with gaps; the territories are 60, 66, 69, 72 and 78. */
const STATE = /^(0[1-9]|[1-4]\d|5[0-6]|6[069]|7[28])/;

/**
 * The 11 digits of a census tract, from any form that files carry: `06037106111`, without its leading zero (as
 * spreadsheets save it), with the summary level (`1400000US06037106111`), or the code of a block group or block. Null
 * for anything else.
 */
export function tractCode(text: string): string | null {
  const digits = digitsOf(text);
  if (digits === null || digits.length < TRACT_DIGITS - 1 || digits.length > 15) return null;
  // 10 or 14 digits: a leading zero was lost. A block group that lost its zero has 11 digits and looks like a tract,
  // whose state would be its second digit; the check of states catches that only sometimes, so 11 digits are taken as
  // given.
  const whole = digits.length === 10 || digits.length === 14 ? `0${digits}` : digits;
  return valid(whole.slice(0, TRACT_DIGITS));
}

/**
 * The tract of a state's, a county's and a tract's own code: `6`, `37` and `210900`, `2109` or `2109.00`; null for
 * anything else. A whole number of five or six digits lost its leading zero. A shorter one, or one with a point, is the
 * tract's name, whose decimals are the last two digits.
 */
export function composedTract(state: string, county: string, tract: string): string | null {
  const [stateDigits, countyDigits] = [digitsOf(state), digitsOf(county)];
  const [, whole, decimals] = /^(\d{1,6})(?:\.(\d{1,2}))?$/.exec(tract.trim()) ?? [];
  if (stateDigits === null || countyDigits === null || whole === undefined) return null;
  if (stateDigits.length > 2 || countyDigits.length > 3) return null;
  const isName = whole.length <= 4;
  if (!isName && Number(decimals ?? '0') !== 0) return null;
  const own = isName ? whole.padStart(4, '0') + (decimals ?? '').padEnd(2, '0') : whole.padStart(6, '0');
  return valid(stateDigits.padStart(2, '0') + countyDigits.padStart(3, '0') + own);
}

/** True for a tract's own code or name, without its state and county. */
export function isTractAlone(text: string): boolean {
  return /^(?:\d{3,6}|\d{1,4}\.\d{1,2})$/.test(text.trim());
}

/** The 5 digits of a county (`06037`, `6037`, `0500000US06037`), or null. */
export function countyCode(text: string): string | null {
  const digits = digitsOf(text);
  if (digits === null || digits.length < COUNTY_DIGITS - 1 || digits.length > COUNTY_DIGITS) return null;
  return valid(digits.padStart(COUNTY_DIGITS, '0'));
}

/** The county of a tract. */
export function countyOfTract(tract: string): string {
  return tract.slice(0, COUNTY_DIGITS);
}

function digitsOf(text: string): string | null {
  const [, digits] = /^(?:\d{7}US)?(\d+)(?:\.0+)?$/.exec(text.trim()) ?? [];
  return digits ?? null;
}

function valid(code: string): string | null {
  return STATE.test(code) ? code : null;
}
