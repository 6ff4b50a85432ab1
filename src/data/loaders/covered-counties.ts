import { censusNames } from '../../geo/us-atlas.ts';
import { partOfUs } from '../tables/describe-data.ts';
import { stateOf } from '../tables/states.ts';

/** The area that boundaries cover, by their counties. */
export interface CoveredCounties {
  readonly states: ReadonlySet<string>;
  /** States with fewer counties than they have: `1 of 133 counties of VA`. */
  readonly parts: readonly string[];
}

/** Null for boundaries of the whole US. */
export function coveredCounties(counties: ReadonlySet<string>): CoveredCounties | null {
  const here = Map.groupBy(counties, stateOf);
  if (partOfUs([...here.keys()]) === null) return null;
  const all = Map.groupBy(censusNames('counties').keys(), stateOf);
  const parts = [...here].flatMap(([state, codes]) => {
    const most = all.get(state)?.length ?? 0;
    return codes.length < most ? [`${codes.length} of ${most} counties of ${state}`] : [];
  });
  return { states: new Set(here.keys()), parts };
}

const SHOWN_STATES = 6;

/** `CA, NV`; of more than six states, the first six and the number of the others. */
export function listedStates(states: Iterable<string>): string {
  const all = [...states].sort();
  const rest = all.length - SHOWN_STATES;
  return rest > 1 ? `${all.slice(0, SHOWN_STATES).join(', ')} and ${rest} more` : all.join(', ');
}
