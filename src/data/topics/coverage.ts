import type { ProximitySlug, TopicSlug } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import { needsOf } from '../tables/describe-data.ts';
import { type DatasetPart, WHOLE_US } from '../tables/parts.ts';
import type { DatasetName } from '../tables/records.ts';
import { statesWithin } from '../tables/states-near.ts';
import { SEARCH_RADII } from './search-radii.ts';

/** The outlines of states are accurate to some hundred metres. */
const OUTLINE_METERS = 500;

export interface Search {
  readonly name: DatasetName;
  readonly meters: number;
}

/** A monitor farther away does not describe the air at a location. */
export const MONITOR_METERS = 80_000;

/** The searches without which a topic has no answer: those for its sites, or for the nearest monitor. */
export function neededSearches(topic: TopicSlug): readonly Search[] {
  return needsOf(topic).flatMap((name): readonly Search[] => {
    if (name === 'readings') return [{ name, meters: MONITOR_METERS }];
    return name.startsWith('sites:') ? [{ name, meters: SEARCH_RADII[topic as ProximitySlug] }] : [];
  });
}

export interface CoveredPart extends Pick<DatasetPart, 'state' | 'reach'> {
  readonly dataset: DatasetName;
}

/** Which states the loaded parts of each dataset cover. Each level of a dataset may have its own parts. */
export class PartCoverage {
  /** By dataset, the reach of each state's part; null for the whole US. */
  readonly #reaches: ReadonlyMap<DatasetName, ReadonlyMap<string, number> | null>;
  #last: { readonly location: Location; readonly meters: number; readonly states: readonly string[] } | null = null;

  constructor(parts: readonly CoveredPart[]) {
    this.#reaches = new Map(
      [...Map.groupBy(parts, ({ dataset }) => dataset)].map(([name, own]) => {
        const reaches = new Map(own.map(({ state, reach }) => [state, reach]));
        return [name, reaches.has(WHOLE_US) ? null : reaches];
      }),
    );
  }

  covers(name: DatasetName, state: string): boolean {
    const reaches = this.#reaches.get(name);
    return reaches === null || reaches?.has(state) === true;
  }

  /** Whether a search around a place of a state may need the parts of other states. */
  hasBorders(name: DatasetName, state: string, meters: number): boolean {
    const reaches = this.#reaches.get(name);
    return reaches !== null && !((reaches?.get(state) ?? 0) >= meters);
  }

  /** The states without a part that a search around a location reaches. */
  lacking(name: DatasetName, location: Location, meters: number): string[] {
    return this.#statesWithin(location, meters).filter((state) => !this.covers(name, state));
  }

  /** The topics of a location share their radii. */
  #statesWithin(location: Location, meters: number): readonly string[] {
    if (this.#last?.location !== location || this.#last.meters !== meters) {
      this.#last = { location, meters, states: statesWithin(location, meters + OUTLINE_METERS) };
    }
    return this.#last.states;
  }
}
