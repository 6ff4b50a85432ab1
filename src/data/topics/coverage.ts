import { type ProximitySlug, radiusOfLayer, type TopicSlug } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import { needsOf } from '../tables/describe-data.ts';
import { isLayer } from '../tables/layers.ts';
import { type AskedPart, WHOLE_US } from '../tables/parts.ts';
import type { DatasetName, EventKind } from '../tables/records.ts';
import { TERRITORIES } from '../tables/states.ts';
import { statesWithin } from '../tables/states-near.ts';

/** The outlines of states are accurate to some hundred metres. */
export const OUTLINE_METERS = 500;

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
    return name.startsWith('sites:') ? [{ name, meters: searchMeters(topic as Searched) }] : [];
  });
}

export type CoveredPart = Pick<AskedPart, 'dataset' | 'state' | 'reach' | 'territories'>;

/** Which states the loaded parts of each dataset cover. Each level of a dataset may have its own parts. */
export class PartCoverage {
  /** By dataset, the reach of each state's part. */
  readonly #reaches: ReadonlyMap<DatasetName, ReadonlyMap<string, number>>;
  /** Of the datasets that cover the whole US, the territories that are not in it. */
  readonly #without: ReadonlyMap<DatasetName, ReadonlySet<string>>;
  #last: {
    readonly location: Location;
    readonly meters: number;
    readonly states: readonly string[];
  } | null = null;

  constructor(parts: readonly CoveredPart[]) {
    const byName = [...Map.groupBy(parts, ({ dataset }) => dataset)];
    this.#reaches = new Map(
      byName.map(([name, own]) => [name, new Map(own.map(({ state, reach }) => [state, reach]))]),
    );
    this.#without = new Map(
      byName.flatMap(([name, own]) => {
        const whole = own.filter(({ state }) => state === WHOLE_US);
        if (whole.length === 0) return [];
        // A county or a tract is in the records, or is not.
        const all = isLayer(name) ? [...TERRITORIES] : [];
        const isHere = (territory: string) =>
          own.some(({ state }) => state === territory) ||
          whole.every(({ territories }) => territories.includes(territory));
        return [[name, new Set(all.filter((territory) => !isHere(territory)))]];
      }),
    );
  }

  covers(name: DatasetName, state: string): boolean {
    const without = this.#without.get(name);
    return without === undefined
      ? this.#reaches.get(name)?.has(state) === true
      : !without.has(state);
  }

  /** Whether a search around a place of a state may need the parts of other states. */
  hasBorders(name: DatasetName, state: string, meters: number): boolean {
    const without = this.#without.get(name);
    if (without !== undefined) return without.size > 0 && TERRITORIES.has(state);
    return !((this.#reaches.get(name)?.get(state) ?? 0) >= meters);
  }

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

/** What is searched for around a location: a topic's sites, or events of a kind. */
export type Searched = ProximitySlug | EventKind;

const KM = 1_000;

/** The radius in metres within which a feature counts. The contract shows none; these are the service's own. 5 km is the neighbourhood
 * that a site's soil, water or air can reach; large plants, landfills and Superfund sites reach farther, a reactor farthest. Earthquakes
 * and hurricanes are felt at 100 km; tornadoes and fires matter within 50 km, hail within 25. */
export const SEARCH_RADII: Readonly<Record<Searched, number>> = {
  brownfield: 5 * KM,
  superfund: 10 * KM,
  toxicReleaseInventory: 5 * KM,
  solidWasteLandfill: 10 * KM,
  ustFacility: 5 * KM,
  ustRelease: 5 * KM,
  oilGasWell: 5 * KM,
  naturalGasPipeline: 5 * KM,
  powerPlant: 10 * KM,
  nuclearReactors: 50 * KM,
  highVoltageLine: 5 * KM,
  cellTower: 5 * KM,
  alternativeFuels: 5 * KM,
  park: 5 * KM,
  earthquake: 100 * KM,
  hail: 25 * KM,
  hurricane: 100 * KM,
  tornado: 50 * KM,
  'wildfire.current': 50 * KM,
  'wildfire.historical': 50 * KM,
  'wildfire.perimeters': 50 * KM,
};

/** The radius in metres of a topic's search, or of a kind of events: that of a layer is in its description. */
export function searchMeters(searched: Searched): number {
  return radiusOfLayer(searched) ?? SEARCH_RADII[searched];
}

/** Whether a name is in `Searched`. */
export function isSearched(name: string): name is Searched {
  return Object.hasOwn(SEARCH_RADII, name);
}
