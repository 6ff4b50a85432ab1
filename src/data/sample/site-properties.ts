import type { ProximitySlug } from '../../contract/topics.ts';
import { ENERGY_SITES } from './energy-sites.ts';
import { POLLUTION_SITES } from './pollution-sites.ts';
import { PUBLIC_SITES } from './public-sites.ts';
import { chance, pick, type Random, whole } from './random.ts';
import type { SiteProperties } from './site-draft.ts';
import type { SitePlace } from './site-places.ts';

const PROPERTIES: Readonly<Record<ProximitySlug, readonly [noun: string, SiteProperties]>> = {
  ...POLLUTION_SITES,
  ...ENERGY_SITES,
  ...PUBLIC_SITES,
};

const STREETS = ['Main St', 'Oak Ave', 'Industrial Blvd', 'Railroad Ave', 'County Road 12', 'Harbor Dr', 'Elm St'];
const DAY_MS = 86_400_000;

/** The properties of the topic's site of this number. */
export function siteProperties(
  topic: ProximitySlug,
  place: SitePlace,
  index: number,
  now: number,
  random: Random,
): Record<string, unknown> {
  const [noun, properties] = PROPERTIES[topic];
  const number = String(index).padStart(5, '0');
  return properties({
    name: `Sample ${noun} ${number}`,
    number,
    street: `${whole(random, 1, 9899)} ${pick(random, STREETS)}`,
    city: place.city?.name ?? '',
    county: place.county.name,
    state: place.county.state,
    zip: place.city !== null && chance(random, 0.9) ? place.city.zip : '',
    place,
    day: (years) => new Date(now - random() * years * 365 * DAY_MS).toISOString().slice(0, 10),
    random,
  });
}
