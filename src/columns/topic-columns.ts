import { memo } from '../base/memo.ts';
import { ownMember } from '../base/own-member.ts';
import type { Answer, Field } from '../contract/answer.ts';
import type { LayerDescription, PolygonLayer } from '../contract/layers/layer-description.ts';
import {
  AIR_QUALITY_DAYS,
  type AirQualityValue,
  type CountedResult,
  type FeatureCollection,
  type NaturalValue,
  type PollutantValue,
  RATINGS_WITHOUT_SCORE,
  type RadonValue,
  type TopicResult,
  type ZoneValue,
} from '../contract/topic-values.ts';
import {
  type MeasurementSlug,
  type NaturalSlug,
  ofPollutants,
  type PollutantSlug,
  type ProximitySlug,
  type Topic,
  type TopicSlug,
  topicOf,
} from '../contract/topics.ts';
import type { Location } from '../geo/coordinates.ts';
import { nearestMeters } from '../geo/nearest.ts';
import type { AddedColumn } from '../rows/port.ts';
import type { HazardColumn, SnakeCase } from './hazard-columns.ts';

/** A column of a topic: its name and type, and how its field is read from the topic's result. The one table that gives
 * both the header and the values. */
export interface TopicColumn extends AddedColumn {
  read(result: CountedResult): Field;
}

/** A name as columns have it: those of `coastalFlood` begin with `coastal_flood`. */
export const snakeCase = <Name extends string>(name: Name): SnakeCase<Name> =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as SnakeCase<Name>;

function column<Value>(
  name: HazardColumn | LayerColumn,
  type: AddedColumn['type'],
  read: (value: Value, result: CountedResult) => Field,
): TopicColumn {
  return { name, type, read: (result) => read(result.value as Value, result) };
}

/** A service may give 0 where the index has no score, because the contract allows only numbers. */
const isScored = ({ rating }: NaturalValue): boolean => !RATINGS_WITHOUT_SCORE.has(rating);

function naturalColumns(slug: NaturalSlug): TopicColumn[] {
  const stem = snakeCase(slug);
  return [
    column<NaturalValue>(`${stem}_rating`, 'text', (value) => value.rating),
    column<NaturalValue>(`${stem}_score`, 'number', (value) =>
      isScored(value) ? value.score : null,
    ),
    column<NaturalValue>(`${stem}_frequency`, 'number', (value) =>
      isScored(value) ? value.frequency : null,
    ),
    ...topicOf(slug).countColumns.map((name, index) =>
      column(name, 'count', (_, { counts }) => counts![index]!),
    ),
  ];
}

function proximityColumns(slug: ProximitySlug): TopicColumn[] {
  const stem = snakeCase(slug);
  return [
    column<number>(`${stem}_count`, 'count', (value) => value),
    // Whole metres: a cell is 11 m wide, so decimals would claim too much.
    column(`${stem}_nearest_m`, 'count', (_, { nearestMeters }) =>
      nearestMeters === null ? null : Math.round(nearestMeters),
    ),
  ];
}

function pollutantColumns(slug: PollutantSlug): TopicColumn[] {
  const stem = snakeCase(slug);
  return [
    column<PollutantValue>(`${stem}_value`, 'number', (value) => value.measurement.value),
    column<PollutantValue>(`${stem}_unit`, 'text', (value) => value.measurement.unit),
    column<PollutantValue>(`${stem}_rating`, 'text', (value) => value.rating),
    column<PollutantValue>(`${stem}_measured_at`, 'time', (value) => value.timestamp),
  ];
}

/** The name of a layer's column: it begins with the name of the layer. */
type LayerColumn = string & { readonly [isLayerColumn]: true };
declare const isLayerColumn: unique symbol;

function zoneColumns(layer: PolygonLayer): TopicColumn[] {
  const stem = snakeCase(layer.layer);
  const own = (
    name: string,
    type: AddedColumn['type'],
    read: (value: ZoneValue) => Field,
  ): TopicColumn =>
    column<ZoneValue>((name === '' ? stem : `${stem}_${name}`) as LayerColumn, type, read);
  const further = Object.entries(layer.columns ?? {}).map(([name, { type }]) =>
    own(snakeCase(name), type, ({ facts }) => ownMember(facts, name) ?? null),
  );
  return [
    own('', 'text', (value) => value.zone),
    ...(layer.class?.detail ? [own('subtype', 'text', (value) => value.subtype)] : []),
    ...(layer.class?.special
      ? [
          own('special_area', 'text', ({ specialArea }) =>
            specialArea === null ? null : String(specialArea),
          ),
        ]
      : []),
    ...further,
    ...(layer.count ? [own('count', 'count', (value) => value.facts.count ?? null)] : []),
    ...(layer.sheets
      ? [
          own('panel', 'text', (value) => value.panel),
          own('effective', 'text', (value) => value.effective),
        ]
      : []),
    ...(layer.distance_m ? [own('boundary_m', 'count', (value) => value.boundaryMeters)] : []),
  ];
}

const MEASUREMENT_COLUMNS: Readonly<Record<MeasurementSlug, readonly TopicColumn[]>> = {
  airQuality: [
    column<AirQualityValue>('air_quality_metric', 'text', (value) => value.metric),
    column<AirQualityValue>('air_quality_progress_value', 'number', (value) => value.progressValue),
    ...AIR_QUALITY_DAYS.map((name) =>
      column<AirQualityValue>(
        `air_quality_${snakeCase(name)}`,
        'number',
        (value) => value.additionalInfo[name],
      ),
    ),
  ],
  ...ofPollutants(pollutantColumns),
  radon: [
    column<RadonValue>('radon_zone', 'text', (value) => value.value),
    column<RadonValue>('radon_title', 'text', (value) => value.title),
    column<RadonValue>('radon_caption', 'text', (value) => value.caption),
  ],
};

/** The columns of a topic, in their order in the output. */
export const columnsOf = (slug: TopicSlug): readonly TopicColumn[] => columnsOfTopic(topicOf(slug));

const columnsOfTopic = memo(({ slug, category, layer }: Topic): readonly TopicColumn[] => {
  if (category === 'natural') return naturalColumns(slug as NaturalSlug);
  if (category === 'proximity') return proximityColumns(slug as ProximitySlug);
  if (layer !== null) return columnsOfLayer(layer);
  return MEASUREMENT_COLUMNS[slug as MeasurementSlug];
});

/** The columns of a layer, which need not be declared. */
export const columnsOfLayer = (layer: LayerDescription): readonly TopicColumn[] =>
  layer.kind === 'points' ? proximityColumns(layer.layer as ProximitySlug) : zoneColumns(layer);

/** The fields of a result, in the order of the topic's columns. Without counts they end before the columns that count records. */
export function answerFields(slug: TopicSlug, result: CountedResult): Field[] {
  const columns = columnsOf(slug);
  const width = columns.length - (result.counts === null ? topicOf(slug).countColumns.length : 0);
  const fields: Field[] = [];
  for (let i = 0; i < width; i++) fields.push(columns[i]!.read(result));
  return fields;
}

/** The fields of a result as a service sends it: the records of its `details` are counted and measured. `location` is the cell's. */
export function flatten(
  slug: TopicSlug,
  { value, details }: TopicResult,
  location: Location,
): Field[] {
  const topic = topicOf(slug);
  // `wildfire_current` counts the records of the member `current`.
  const isByMember = topic.details === 'wildfire';
  const counts = topic.countColumns.map((column) =>
    countRecords(details, isByMember ? column.slice(slug.length + 1) : null),
  );
  const features =
    topic.category === 'proximity'
      ? (details as FeatureCollection | null | undefined)?.features
      : undefined;
  return answerFields(slug, {
    value,
    counts,
    nearestMeters: features ? nearestMeters(location, features) : null,
  });
}

/** The part of an answer that is valid for its whole area: all but the counts of `details`. */
export function areaAnswer(answer: Answer): Answer {
  const shared = columnsOf(answer.topic).length - topicOf(answer.topic).countColumns.length;
  return { ...answer, fields: answer.fields.slice(0, shared) };
}

/** Whether an area's answer has all wanted columns of a topic. */
export function areaSuffices(slug: TopicSlug, counts: boolean): boolean {
  return topicOf(slug).area !== null && (!counts || topicOf(slug).countColumns.length === 0);
}

/** How many records `details` holds. Its records are opaque (docs/developer/service-api.md, 4.4), so only lengths are read: of an array, of
 * a FeatureCollection's features, of a named member, else of all array members together. An object without any is 0 (the contract's empty
 * wildfire object). Null or absent `details` are `null`: unknown. So is a member that is absent beside others.
 * @param member the member to count alone (wildfire's `current`, `historical`, `perimeters`), or null */
function countRecords(details: unknown, member: string | null): number | null {
  if (typeof details !== 'object' || details === null) return null;
  if (Array.isArray(details)) return details.length;
  const object = details as Record<string, unknown>;
  if (member !== null) return Object.keys(object).length === 0 ? 0 : lengthOrNull(object[member]);
  if (Array.isArray(object.features)) return object.features.length;
  return Object.values(object).reduce<number>((sum, value) => sum + (lengthOrNull(value) ?? 0), 0);
}

const lengthOrNull = (value: unknown): number | null =>
  Array.isArray(value) ? value.length : null;

/** A natural topic's rating, score and frequency come first; the counts of its details follow. */
export function wantedColumns(slug: TopicSlug, counts: boolean): readonly TopicColumn[] {
  const columns = columnsOf(slug);
  return counts ? columns : columns.slice(0, columns.length - topicOf(slug).countColumns.length);
}
