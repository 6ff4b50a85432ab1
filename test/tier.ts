/**
 * How much of a long trial a run of the tests makes: a few cases in `npm test`, all of them in `npm run test:long`
 * (which also runs the files that import this one), and many more with SOAK=1.
 */
type Tier = 'short' | 'long' | 'soak';

const TIER: Tier = process.env.SOAK === '1' ? 'soak' : process.env.TEST_TIER === 'long' ? 'long' : 'short';

/** How often a trial is made in this run. Files of the long tier alone have no short count; without a count of its own, the soak makes as many as the long tier. */
export function times({ long, short = long, soak = long }: { short?: number; long: number; soak?: number }): number {
  return { short, long, soak }[TIER];
}

/** Options of a test that takes too long for `npm test`, in a file whose other tests do not. */
export const LONG = { skip: TIER === 'short' && 'a long trial: npm run test:long' };

/** The cases of a table that this run tries: all, or in `npm test` the first of each kind. */
export function casesOf<T>(cases: readonly T[], kindOf: (one: T) => string): readonly T[] {
  if (TIER !== 'short') return cases;
  const kinds = new Map<string, T>();
  for (const one of cases) if (!kinds.has(kindOf(one))) kinds.set(kindOf(one), one);
  return [...kinds.values()];
}
