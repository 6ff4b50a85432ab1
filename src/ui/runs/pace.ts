/** How far the spending was at a moment. */
export interface Sample {
  readonly at: number;
  readonly credits: number;
}

const WINDOW_MS = 60_000;
/** Two samples so close together say more about bursts than about a pace. */
const LEAST_MS = 3_000;

/** Credits over the last minute, as a run goes; by credits, not by cells, because credits are what the service limits. */
export class Pace {
  readonly #samples: Sample[] = [];

  add(sample: Sample): void {
    const last = this.#samples.at(-1);
    if (last && sample.at - last.at < 250) return;
    this.#samples.push(sample);
    while (this.#samples.length > 2 && sample.at - this.#samples[1]!.at >= WINDOW_MS) this.#samples.shift();
  }

  /** Credits a minute; null until enough was seen. */
  perMinute(): number | null {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (!first || !last || last.at - first.at < LEAST_MS) return null;
    return ((last.credits - first.credits) * 60_000) / (last.at - first.at);
  }
}

/**
 * Minutes until so many credits are spent: at the pace seen, at most at the limit of the service. A first burst is faster than
 * the limit lets it go on. Null where nothing can be said.
 */
export function minutesLeft(creditsLeft: number, perMinute: number | null, limit: number): number | null {
  if (creditsLeft <= 0) return 0;
  if (perMinute === null || perMinute <= 0) return creditsLeft / limit;
  return creditsLeft / Math.min(perMinute, limit);
}
