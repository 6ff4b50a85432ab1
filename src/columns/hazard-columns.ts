import type { AIR_QUALITY_DAYS, Rating, ZONE_FACTS } from '../contract/topic-values.ts';
import type {
  CountColumn,
  NaturalSlug,
  PollutantSlug,
  ProximitySlug,
  ZoneSlug,
} from '../contract/topics.ts';

/* The columns of the topics as types, for programs. `topic-columns.ts` makes them, under these names only;
 * test/package/installed-package-long.test.ts compiles a program that names each with its type, so the two cannot differ. */

/** `coastalFlood` is `coastal_flood`. */
export type SnakeCase<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${SnakeCase<Rest>}`
  : '';

/** The facts of a topic's zones that are of a type. */
type ZoneFact<Slug extends ZoneSlug, Type> = {
  [Name in keyof (typeof ZONE_FACTS)[Slug]]: (typeof ZONE_FACTS)[Slug][Name] extends Type
    ? Name
    : never;
}[keyof (typeof ZONE_FACTS)[Slug]];

type HazardText =
  | SnakeCase<ZoneSlug>
  | `${SnakeCase<ZoneSlug>}_${'subtype' | 'special_area' | 'panel' | 'effective' | SnakeCase<ZoneFact<ZoneSlug, 'text'>>}`
  | 'air_quality_metric'
  | `${SnakeCase<PollutantSlug>}_${'unit' | 'rating' | 'measured_at'}`
  | `radon_${'zone' | 'title' | 'caption'}`;
type HazardNumber =
  | `${SnakeCase<ZoneSlug>}_${'boundary_m' | SnakeCase<ZoneFact<ZoneSlug, 'number'>>}`
  | `${SnakeCase<NaturalSlug>}_${'score' | 'frequency'}`
  | CountColumn
  | `${SnakeCase<ProximitySlug>}_${'count' | 'nearest_m'}`
  | `${SnakeCase<PollutantSlug>}_value`
  | `air_quality_${'progress_value' | SnakeCase<(typeof AIR_QUALITY_DAYS)[number]>}`;

/** Answers by column. Null: no answer, or the publisher has no value. Columns of topics that were not asked for are missing. */
export type Hazards = {
  readonly [Column in `${SnakeCase<NaturalSlug>}_rating`]?: Rating | null;
} & { readonly [Column in HazardNumber]?: number | null } & {
  readonly [Column in HazardText]?: string | null;
};

/** The name of a topic's column. */
export type HazardColumn = keyof Hazards;
