/** fast-check with the same cases in each run: the gate must not refuse a change for a case that another run would not have drawn.
 * `npm run soak` draws new ones, and `PROPERTY_SEED` repeats those that fast-check named when they failed. */
import fc from 'fast-check';

const { PROPERTY_SEED, TEST_TIER } = process.env;

if (PROPERTY_SEED !== undefined || TEST_TIER !== 'soak') {
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(PROPERTY_SEED ?? 20_261_122) });
}

export { default as fc } from 'fast-check';
