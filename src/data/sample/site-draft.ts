import type { Random } from './random.ts';
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
