/** Stands where a test's context stands, for what is opened outside of any test: the soak. */
export interface Scope {
  after(release: () => unknown): void;
  /** Releases what was taken, in the order in which a test would. */
  close(): Promise<void>;
}

export function closedLater(): Scope {
  const releases: (() => unknown)[] = [];
  return {
    after: (release) => void releases.push(release),
    async close() {
      for (const release of releases.splice(0).reverse()) await release();
    },
  };
}
