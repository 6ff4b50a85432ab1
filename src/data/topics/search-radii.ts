import type { ProximitySlug } from '../../contract/topics.ts';
import type { EventKind } from '../tables/records.ts';

/** What is searched for around a location: a topic's sites, or events of a kind. */
export type Searched = ProximitySlug | EventKind;

type Radii = Readonly<Record<Searched, number>>;

const KM = 1_000;

/** The radius in metres within which a feature counts. The contract shows none; these are the service's own. 5 km is the neighbourhood
 * that a site's soil, water or air can reach; large plants, landfills and Superfund sites reach farther, a reactor farthest. Earthquakes
 * and hurricanes are felt at 100 km; tornadoes and fires matter within 50 km, hail within 25. */
export const SEARCH_RADII: Radii = {
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

/** Whether a name is in `Searched`. */
export function isSearched(name: string): name is Searched {
  return Object.hasOwn(SEARCH_RADII, name);
}
