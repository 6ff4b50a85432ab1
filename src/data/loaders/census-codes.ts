import { stateOf } from '../tables/states.ts';

/** A census code as 5 or 11 digits, or why it cannot be told. */
export type CodeFinding = { readonly geoid: string } | { readonly problem: string };

/** What else a row says of where it lies: it decides whether a code that was repaired is the right one. */
export interface StatedPlace {
  /** Two digits, or one whose leading zero was lost; '' when the row does not say. */
  readonly stateFips: string;
  /** Two letters; '' when the row does not say. */
  readonly stateAbbreviation: string;
}

const LENGTHS = { county: 5, tract: 11 } as const;

/**
 * Reads the code of a county or tract. A spreadsheet turns `06001400100` into the number 6001400100 (or 6001400100.0):
 * codes of states 01 to 09 are then one digit short. One digit is put back, when the code is that of a state and the row
 * does not say another; anything else is refused, for a wrong code would rate a place by another's risk.
 */
export function readGeoid(text: string, level: 'county' | 'tract', stated: StatedPlace): CodeFinding {
  const digits = text.trim().replace(/\.0+$/, '');
  const length = LENGTHS[level];
  if (!/^\d+$/.test(digits)) return { problem: `the code of the ${level} is no number` };
  if (digits.length !== length && digits.length !== length - 1) {
    return { problem: `the code of the ${level} has neither ${length} digits nor one less` };
  }
  const geoid = digits.padStart(length, '0');
  const state = stateOf(geoid);
  if (state === '') return { problem: `the code of the ${level} is in no state` };
  const fips = stated.stateFips.trim().replace(/\.0+$/, '');
  const isOther =
    (fips !== '' && fips.padStart(2, '0') !== geoid.slice(0, 2)) ||
    (stated.stateAbbreviation.trim() !== '' && stated.stateAbbreviation.trim().toUpperCase() !== state);
  return isOther ? { problem: `the code of the ${level} is not in the state that the row names` } : { geoid };
}

/**
 * The code of a tract from that of its county and its own. Only six digits are unmistakable: `201` may be tract 201
 * (020100) as well as one whose zeros were lost (000201).
 */
export function readTractOfCounty(county: string, tract: string, stated: StatedPlace): CodeFinding {
  const found = readGeoid(county, 'county', stated);
  if ('problem' in found) return found;
  if (!/^\d{6}$/.test(tract.trim())) return { problem: 'the tract is not written with six digits' };
  return { geoid: found.geoid + tract.trim() };
}
