/** How much of a long trial a run of the tests makes: a few cases in `npm test`, all of them in `npm run test:long`
 * (which also runs the files that import this one), and many more in `npm run soak`. */
type Tier = 'short' | 'long' | 'soak';

const { TEST_TIER, SOAK_SEED } = process.env;
const TIER: Tier = TEST_TIER === 'soak' || TEST_TIER === 'long' ? TEST_TIER : 'short';

/** How often a trial is made in this run. Files of the long tier alone have no short count; without a count of its own, the soak makes as many as the long tier. */
export function times({
  long,
  short = long,
  soak = long,
}: {
  short?: number;
  long: number;
  soak?: number;
}): number {
  return { short, long, soak }[TIER];
}

/** The seed of the first trial: this one, and in the soak that of the day. */
export function firstSeed(usual: number): number {
  return TIER === 'soak' ? Number(SOAK_SEED ?? usual) : usual;
}

/** Options of a test that takes too long for `npm test`, in a file whose other tests do not. */
export const LONG = { skip: TIER === 'short' && 'a long trial: npm run test:long' };

/** Options of a test that `npm test` makes whole, in a file whose other tests make more in the long tier: there it would only be made again. */
export const SHORT = { skip: TIER !== 'short' && 'made by npm test' };

/** Options of a test that takes too long for `npm run test:long`. */
export const SOAK = { skip: TIER !== 'soak' && 'an hour: npm run soak' };
