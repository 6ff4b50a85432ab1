/**
 * How much of a long trial a run of the tests makes: a few seeds and cases in `npm test`, all of them in
 * `npm run test:faults` (which runs the files that import this one), and many more with SOAK=1.
 */
type Tier = 'short' | 'faults' | 'soak';

const TIER: Tier = process.env.SOAK === '1' ? 'soak' : process.env.TEST_TIER === 'faults' ? 'faults' : 'short';

/** How often a trial is made in this run. Without a number of its own, the soak makes as many as the faults tier. */
export function times({ short, faults, soak = faults }: { short: number; faults: number; soak?: number }): number {
  return { short, faults, soak }[TIER];
}

/** Options of a test that is too long for `npm test`. */
export const LONG = { skip: TIER === 'short' && 'a long trial: npm run test:faults' };

/** The cases of a table that this run tries: all, or in `npm test` the first of each kind. */
export function casesOf<T>(cases: readonly T[], kindOf: (one: T) => string): readonly T[] {
  if (TIER !== 'short') return cases;
  const kinds = new Map<string, T>();
  for (const one of cases) if (!kinds.has(kindOf(one))) kinds.set(kindOf(one), one);
  return [...kinds.values()];
}

/** The ways to try one of many cases: all, or in `npm test` one of them, another for each case. */
export function waysOf<T>(ways: readonly T[], nthCase: number): readonly T[] {
  return TIER === 'short' ? [ways[nthCase % ways.length]!] : ways;
}
