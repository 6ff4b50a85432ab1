import { stateOf } from '../tables/states.ts';

/** A census code of 5 or 11 digits, or why there is none. */
export type CodeFinding = { readonly geoid: string } | { readonly problem: string };

/** What else a row says about its place; a repaired code must agree with it. */
export interface StatedPlace {
  /** Two digits, or one without its leading zero; '' when not given. */
  readonly stateFips: string;
  /** Two letters; '' when not given. */
  readonly stateAbbreviation: string;
}

const LENGTHS = { county: 5, tract: 11 } as const;

/**
 * Reads the code of a county or tract. A spreadsheet turns `06001400100` into the number 6001400100 (or 6001400100.0),
 * so codes of states 01 to 09 are one digit short. The zero is put back if the code is then in a state and the row
 * names no other; anything else is refused, because a wrong code would give a place another's risk.
 */
export function readGeoid(text: string, level: 'county' | 'tract', stated: StatedPlace): CodeFinding {
  const digits = text.trim().replace(/\.0+$/, '');
  const length = LENGTHS[level];
  if (!/^\d+$/.test(digits)) return { problem: `the code of the ${level} is not a number` };
  if (digits.length !== length && digits.length !== length - 1) {
    return { problem: `the code of the ${level} has neither ${length} nor ${length - 1} digits` };
  }
  const geoid = digits.padStart(length, '0');
  const state = stateOf(geoid);
  if (state === '') return { problem: `the code of the ${level} is not in any state` };
  const fips = stated.stateFips.trim().replace(/\.0+$/, '');
  const isOther =
    (fips !== '' && fips.padStart(2, '0') !== geoid.slice(0, 2)) ||
    (stated.stateAbbreviation.trim() !== '' && stated.stateAbbreviation.trim().toUpperCase() !== state);
  return isOther ? { problem: `the code of the ${level} is not in the state that the row names` } : { geoid };
}

/** The code of a tract from its county's code and its own. Only six digits are unambiguous: `201` may be tract 201
 * (020100) or have lost its zeros (000201). */
export function readTractOfCounty(county: string, tract: string, stated: StatedPlace): CodeFinding {
  const found = readGeoid(county, 'county', stated);
  if ('problem' in found) return found;
  if (!/^\d{6}$/.test(tract.trim())) return { problem: 'the tract is not written with six digits' };
  return { geoid: found.geoid + tract.trim() };
}
