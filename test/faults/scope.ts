import type { TestContext } from 'node:test';

/** Runs work that takes things as a test does (a harness, a child process), outside of a test, and releases them after it.
 * Only `after` is there: it is all that what a test takes makes use of. */
export async function inScope<T>(work: (scope: TestContext) => Promise<T>): Promise<T> {
  const releases: (() => unknown)[] = [];
  const scope = { after: (release: () => unknown) => void releases.push(release) };
  try {
    return await work(scope as unknown as TestContext);
  } finally {
    for (const release of releases.toReversed()) await release();
  }
}
