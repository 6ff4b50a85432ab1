import type { Random } from './random.ts';
import type { SitePlace } from './site-places.ts';

/** What the properties of a site are made from. */
export interface SiteDraft {
  /** "Sample power plant 00123": nobody can take it for a real one. */
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

/** The properties of a topic's sites, named as the publishers name them. */
export type SiteProperties = (draft: SiteDraft) => Record<string, unknown>;
