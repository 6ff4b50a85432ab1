import type { FLOOD_ZONES } from '../contract/layers/flood-zones.ts';
import type { AIR_QUALITY_DAYS, Rating } from '../contract/topic-values.ts';
import type { CountColumn, NaturalSlug, PollutantSlug, ProximitySlug } from '../contract/topics.ts';

/* The columns of the topics as types, for programs. `topic-columns.ts` makes them, under these names only;
 * test/package/installed-package-long.test.ts compiles a program that names each with its type, so the two cannot differ. */

/** `coastalFlood` is `coastal_flood`. */
export type SnakeCase<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${SnakeCase<Rest>}`
  : '';

type FloodColumns = (typeof FLOOD_ZONES)['columns'];

/** The further columns of flood zones that are of a type. */
type FloodColumn<Type> = {
  [Name in keyof FloodColumns]: FloodColumns[Name]['type'] extends Type ? Name : never;
}[keyof FloodColumns];

type HazardText =
  | 'flood_zone'
  | `flood_zone_${'subtype' | 'special_area' | 'panel' | 'effective' | SnakeCase<FloodColumn<'text'>>}`
  | 'air_quality_metric'
  | `${SnakeCase<PollutantSlug>}_${'unit' | 'rating' | 'measured_at'}`
  | `radon_${'zone' | 'title' | 'caption'}`;
type HazardNumber =
  | `flood_zone_${'boundary_m' | SnakeCase<FloodColumn<'number'>>}`
  | `${SnakeCase<NaturalSlug>}_${'score' | 'frequency' | 'loss_rate'}`
  | `annual_loss_${'rate' | 'topics'}`
  | CountColumn
  | `${SnakeCase<ProximitySlug>}_${'count' | 'nearest_m'}`
  | `${SnakeCase<PollutantSlug>}_value`
  | `air_quality_${'progress_value' | SnakeCase<(typeof AIR_QUALITY_DAYS)[number]>}`;

type TopicColumns = {
  readonly [Column in `${SnakeCase<NaturalSlug>}_rating`]?: Rating | null;
} & { readonly [Column in HazardNumber]?: number | null } & {
  readonly [Column in HazardText]?: string | null;
};

/** Answers by column. Null: no answer, or the publisher has no value. Columns of topics that were not asked for are missing. Those of layers
 * of a user's own have any name. */
export type Hazards = TopicColumns & {
  readonly [Column: string]: string | number | null | undefined;
};

/** The name of a topic's column. */
export type HazardColumn = keyof TopicColumns;
