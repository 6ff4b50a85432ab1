import type { ProximitySlug } from '../../contract/topics.ts';
import { ENERGY_SITES } from './energy-sites.ts';
import { POLLUTION_SITES } from './pollution-sites.ts';
import { PUBLIC_SITES } from './public-sites.ts';
import { chance, pick, type Random, whole } from './random.ts';
import type { SitePlace } from './site-places.ts';

/** What the properties of a site are generated from. */
export interface SiteDraft {
  /** "Sample power plant 00123", so that nobody takes it for a real one. */
  readonly name: string;
  /** The number of the name, five digits. */
  readonly number: string;
  readonly street: string;
  readonly city: string;
  readonly county: string;
  readonly state: string;
  readonly zip: string;
  readonly place: SitePlace;
  /** A day within the last `years` before the data was made, YYYY-MM-DD. */
  day(years: number): string;
  readonly random: Random;
}

/** Generates the properties of a topic's site, in its publisher's fields. */
export type SiteProperties = (draft: SiteDraft) => Record<string, unknown>;

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
