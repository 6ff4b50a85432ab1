import { type TopicSlug, topicOf } from '../contract/topics.ts';
import type { County } from '../geo/us-counties.ts';
import type { EnrichedCell } from '../job/enriched-cells.ts';
import type { WorstLocation } from './figures.ts';
import { HIGH, VERY_HIGH } from './scales.ts';

const KEPT = 100;

interface Candidate extends WorstLocation {
  readonly gravity: number;
}

/**
 * The hundred locations with the gravest natural ratings: the most hazards rated Very High first, among those the most
 * rated Relatively High, then the larger value, then the one that came first.
 */
export class WorstList {
  readonly #natural: readonly (readonly [index: number, slug: TopicSlug])[];
  /** Gravest first. */
  #kept: Candidate[] = [];

  constructor(topics: readonly TopicSlug[]) {
    this.#natural = [...topics.entries()].filter(([, slug]) => topicOf(slug).category === 'natural');
  }

  /** Offers a cell with the class of each topic. */
  add({ number, location, rows, value }: EnrichedCell, county: County | null, classes: Uint8Array): void {
    let gravity = 0;
    for (const [index] of this.#natural) {
      if (classes[index] === VERY_HIGH) gravity += 100;
      else if (classes[index] === HIGH) gravity += 1;
    }
    const last = this.#kept.length < KEPT ? undefined : this.#kept.at(-1)!;
    if (last && !isGraver({ gravity, value, cell: number }, last)) return;
    const rated = (wanted: number) =>
      this.#natural.filter(([index]) => classes[index] === wanted).map(([, slug]) => slug);
    const found: Candidate = {
      ...{ gravity, rows, value, cell: number, lat: location.lat, lng: location.lng },
      county: county === null ? '' : `${county.name}, ${county.state.name}`,
      veryHigh: rated(VERY_HIGH),
      high: rated(HIGH),
    };
    const at = this.#kept.findIndex((other) => isGraver(found, other));
    this.#kept.splice(at < 0 ? this.#kept.length : at, 0, found);
    this.#kept = this.#kept.slice(0, KEPT);
  }

  worst(): readonly WorstLocation[] {
    return this.#kept.map(({ gravity: _, ...location }) => location);
  }
}

type Rank = Pick<Candidate, 'gravity' | 'value' | 'cell'>;

function isGraver(a: Rank, b: Rank): boolean {
  if (a.gravity !== b.gravity) return a.gravity > b.gravity;
  return a.value === b.value ? a.cell < b.cell : a.value > b.value;
}
