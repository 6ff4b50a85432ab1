type Release = () => unknown;

/** Runs work that releases what it took when it ends, as a test does, outside of a test. */
export async function inScope<T>(work: (scope: { after(release: Release): void }) => Promise<T>): Promise<T> {
  const releases: Release[] = [];
  try {
    return await work({ after: (release) => void releases.push(release) });
  } finally {
    for (const release of releases.reverse()) await release();
  }
}
