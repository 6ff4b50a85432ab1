import type { ProximitySlug } from '../../contract/topics.ts';
import { CITIES, type City, DENSE_CENTRES } from './cities.ts';
import { type Land, placeIn } from './land.ts';
import { anyDirection, awayFrom, landPlace, type SamplePlace } from './places.ts';
import { about, chance, type Random } from './random.ts';

/** The place of a site, and the big city near it, if any. */
export interface SitePlace extends SamplePlace {
  readonly city: City | null;
}

/** How many sites of a topic there are. */
interface Spread {
  /** In each of the dense centres. */
  readonly dense: number;
  /** Around all cities together, by population. */
  readonly metro: number;
  /** In each county, on average. */
  readonly rural: number;
}

const SPREADS: Readonly<Record<ProximitySlug, Spread>> = {
  brownfield: { dense: 900, metro: 4500, rural: 0.35 },
  superfund: { dense: 60, metro: 700, rural: 0.2 },
  toxicReleaseInventory: { dense: 900, metro: 4500, rural: 0.6 },
  solidWasteLandfill: { dense: 40, metro: 700, rural: 0.4 },
  ustFacility: { dense: 2450, metro: 12000, rural: 1.1 },
  ustRelease: { dense: 2150, metro: 10000, rural: 0.7 },
  oilGasWell: { dense: 700, metro: 1200, rural: 0.2 },
  naturalGasPipeline: { dense: 500, metro: 2200, rural: 0.4 },
  powerPlant: { dense: 60, metro: 900, rural: 0.35 },
  nuclearReactors: { dense: 0, metro: 54, rural: 0 },
  highVoltageLine: { dense: 400, metro: 2200, rural: 0.35 },
  cellTower: { dense: 1600, metro: 8000, rural: 0.9 },
  alternativeFuels: { dense: 1600, metro: 8500, rural: 0.25 },
  park: { dense: 900, metro: 5000, rural: 0.5 },
};

/** The sites of a dense centre are nearer than this, so that a search of 5 km finds them all. */
const DENSE_REACH_KM = 4.6;
/** The least distance of reactors from the cities that they serve. */
const REACTOR_DISTANCE_KM = 35;

/** Oil and gas basins: wells are there whether people are or not. */
const BASINS = [
  { lat: 31.9, lng: -102.3, reachKm: 90, wells: 1500 },
  { lat: 47.9, lng: -103.3, reachKm: 70, wells: 800 },
  { lat: 28.6, lng: -98.6, reachKm: 90, wells: 800 },
  { lat: 35.4, lng: -119.3, reachKm: 30, wells: 600 },
  { lat: 35.9, lng: -98.0, reachKm: 110, wells: 800 },
  { lat: 40.3, lng: -104.6, reachKm: 40, wells: 500 },
  { lat: 40.2, lng: -80.0, reachKm: 110, wells: 700 },
  { lat: 36.7, lng: -107.7, reachKm: 50, wells: 300 },
] as const;

/** The places of a topic's sites: the dense centres first, then the cities, the basins, the country. */
export function* sitePlaces(topic: ProximitySlug, land: Land, random: Random): Generator<SitePlace> {
  const { dense, metro, rural } = SPREADS[topic];
  for (const city of DENSE_CENTRES) {
    // Sites are sparser outwards: an exponent of one half would spread them evenly over the disc.
    const randomPlace = () => awayFrom(city, DENSE_REACH_KM * random() ** 0.6, anyDirection(random));
    for (let site = 0; site < dense; site += 1) yield* onLand(land, city, randomPlace);
  }
  const weights = CITIES.map((city) => city.people ** 0.8);
  const sum = weights.reduce((a, b) => a + b, 0);
  for (const [index, city] of CITIES.entries()) {
    const randomPlace = () => awayFrom(city, metroDistance(topic, random), anyDirection(random));
    const sites = about(random, (metro * weights[index]!) / sum);
    for (let site = 0; site < sites; site += 1) yield* onLand(land, city, randomPlace);
  }
  for (const basin of topic === 'oilGasWell' ? BASINS : []) {
    const randomPlace = () => awayFrom(basin, basin.reachKm * Math.sqrt(random()), anyDirection(random));
    for (let well = 0; well < basin.wells; well += 1) yield* onLand(land, null, randomPlace);
  }
  for (const county of land.counties) {
    const sites = about(random, rural);
    for (let site = 0; site < sites; site += 1) yield* onLand(land, null, () => placeIn(county, random));
  }
}

function* onLand(land: Land, city: City | null, randomPlace: Parameters<typeof landPlace>[1]): Generator<SitePlace> {
  const place = landPlace(land, randomPlace);
  if (place) yield { ...place, city };
}

/** A core and a wide belt of suburbs, both normally distributed. */
function metroDistance(topic: ProximitySlug, random: Random): number {
  const reach = chance(random, 0.6) ? 8 : 26;
  const bell = reach * Math.sqrt(-2 * Math.log(1 - random()));
  return topic === 'nuclearReactors' ? REACTOR_DISTANCE_KM + bell : bell;
}
