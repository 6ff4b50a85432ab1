import { type TopicSlug, topicOf } from '../contract/topics.ts';
import type { County } from '../geo/us-counties.ts';
import type { EnrichedCell } from '../job/enriched-cells.ts';
import type { WorstLocation } from './figures.ts';
import { HIGH, VERY_HIGH } from './scales.ts';

const KEPT = 100;

interface Candidate extends WorstLocation {
  readonly severity: number;
}

/**
 * The hundred locations with the most severe natural ratings: by the number of hazards rated Very High, then Relatively
 * High, then by value, then by their order in the input.
 */
export class WorstList {
  readonly #natural: readonly (readonly [index: number, slug: TopicSlug])[];
  /** Most severe first. */
  #kept: Candidate[] = [];

  constructor(topics: readonly TopicSlug[]) {
    this.#natural = [...topics.entries()].filter(([, slug]) => topicOf(slug).category === 'natural');
  }

  /** Offers a cell with the class of each topic. */
  add({ number, location, rows, value }: EnrichedCell, county: County | null, classes: Uint8Array): void {
    let severity = 0;
    for (const [index] of this.#natural) {
      if (classes[index] === VERY_HIGH) severity += 100;
      else if (classes[index] === HIGH) severity += 1;
    }
    const last = this.#kept.length < KEPT ? undefined : this.#kept.at(-1)!;
    if (last && !isWorse({ severity, value, cell: number }, last)) return;
    const rated = (wanted: number) =>
      this.#natural.filter(([index]) => classes[index] === wanted).map(([, slug]) => slug);
    const found: Candidate = {
      ...{ severity, rows, value, cell: number, lat: location.lat, lng: location.lng },
      county: county === null ? '' : `${county.name}, ${county.state.name}`,
      veryHigh: rated(VERY_HIGH),
      high: rated(HIGH),
    };
    const at = this.#kept.findIndex((other) => isWorse(found, other));
    this.#kept.splice(at < 0 ? this.#kept.length : at, 0, found);
    this.#kept = this.#kept.slice(0, KEPT);
  }

  worst(): readonly WorstLocation[] {
    return this.#kept.map(({ severity: _, ...location }) => location);
  }
}

type Rank = Pick<Candidate, 'severity' | 'value' | 'cell'>;

function isWorse(a: Rank, b: Rank): boolean {
  if (a.severity !== b.severity) return a.severity > b.severity;
  return a.value === b.value ? a.cell < b.cell : a.value > b.value;
}
