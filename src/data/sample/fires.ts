import type { EventKind, EventRecord } from '../tables/records.ts';
import type { Land, SampleCounty } from './land.ts';
import type { SamplePlace } from './places.ts';
import { round } from './places.ts';
import { between, chance, digits, pick, type Random, whole } from './random.ts';
import { pointAt, roundOutline } from './site-shapes.ts';
import { weightedPlaces } from './weighted-places.ts';

const DAY_MS = 86_400_000;
const ACRES_PER_SQUARE_KM = 247.105;

export type FireEvent = Extract<EventKind, `wildfire.${string}`>;

/** How many fires of each kind there are, and how many days ago the first and the last were discovered. */
const FIRES = {
  'wildfire.current': { fires: 140, oldest: 40, newest: 0 },
  'wildfire.historical': { fires: 5000, oldest: 20 * 365, newest: 60 },
  'wildfire.perimeters': { fires: 900, oldest: 5 * 365, newest: 20 },
} as const;

/** West of the plains: the East burns too, but the agencies' lists are mostly western. */
const isWestern = (county: SampleCounty) => county.centre.lng < -102;

/** The fires of one kind in the fields of the interagency lists: points, and outlines for the perimeters. */
export function* wildfires(event: FireEvent, land: Land, now: number, random: Random): Generator<EventRecord> {
  const { fires, oldest, newest } = FIRES[event];
  const place = weightedPlaces('wildfire', land, 1.5, isWestern);
  for (let index = 0; index < fires; index += 1) {
    const fire = place(random);
    const radius = between(random, 0.2, 1) ** 3 * 9;
    const found = Math.floor(now - between(random, newest, oldest) * DAY_MS);
    const name = `Sample fire ${String(index).padStart(5, '0')}`;
    const properties = incident(
      event,
      name,
      fire,
      found,
      round(Math.PI * radius * radius * ACRES_PER_SQUARE_KM, 1),
      random,
    );
    yield {
      geometry: event === 'wildfire.perimeters' ? roundOutline(fire, radius, random) : pointAt(fire),
      properties,
    };
  }
}

function incident(
  event: FireEvent,
  name: string,
  { county }: SamplePlace,
  found: number,
  acres: number,
  random: Random,
) {
  const contained = event === 'wildfire.current' ? whole(random, 0, 95) : 100;
  const common = {
    attr_IncidentName: name,
    // New fires have no size yet.
    attr_IncidentSize: event === 'wildfire.current' && chance(random, 0.1) ? null : acres,
    attr_PercentContained: contained,
    attr_FireDiscoveryDateTime: found,
    attr_FireCause: pick(random, ['Natural', 'Human', 'Human', 'Undetermined']),
    attr_POOState: `US-${county.state}`,
    attr_POOCounty: county.name,
    attr_IncidentTypeCategory: 'WF',
    attr_UniqueFireIdentifier: `${new Date(found).getUTCFullYear()}-${county.state}SMP-${digits(random, 6)}`,
  };
  if (event !== 'wildfire.perimeters') return common;
  return {
    ...common,
    poly_IncidentName: name,
    poly_GISAcres: acres,
    poly_MapMethod: 'Sample',
    poly_DateCurrent: found,
  };
}
