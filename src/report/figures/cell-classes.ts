import { addedColumns } from '../../columns/row.ts';
import { saysUnstudied } from '../../columns/row-status.ts';
import type { Field } from '../../contract/answer.ts';
import { isZoneTopic, type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
import { type Scale, scaleOf } from './scales.ts';

/** A topic with its scale. */
export interface RatedTopic {
  readonly slug: TopicSlug;
  readonly scale: Scale;
  readonly natural: boolean;
  /** Whether its severe class is at risk: sites nearby and what monitors measure are not. */
  readonly isPeril: boolean;
  /** The index of its first field. */
  readonly from: number;
  /** Its index in the layers of sums and of the map, of which the first is the highest rating. */
  readonly layer: number;
}

/** The topics of a job with their scales, in the job's order. */
export function ratedTopics({
  topics,
  counts,
  units,
}: Pick<Job, 'topics' | 'counts' | 'units'>): RatedTopic[] {
  return topics.map((slug, index) => ({
    slug,
    scale: scaleOf(slug, units),
    natural: topicOf(slug).category === 'natural',
    isPeril: topicOf(slug).category === 'natural' || isZoneTopic(slug),
    from: addedColumns(topics.slice(0, index), '', counts).length,
    layer: index + 1,
  }));
}

/** The classes of cells. */
export interface CellClasses {
  /** Adds a cell by its fields in the output. */
  put(cell: number, fields: readonly Field[]): void;
  /** Adds a complete cell: the time of its oldest answer, and the fields that decide on the classes of its topics (`Scale.fields`). */
  putComplete(cell: number, asOf: number, fields: readonly Field[]): void;
  has(cell: number): boolean;
  /** Copies one byte for each topic. */
  copy(cell: number, into: Uint8Array, at: number): void;
  classOf(cell: number, topic: number): number;
  /** The times of the oldest and the newest answer of complete cells, ISO 8601. */
  times(): readonly string[];
}

/** The classes of cells, or of groups of rows (`RowGroups`), a byte for each topic. Complete cells are taken while the plan reads them: reading
 * them again took a quarter longer. */
export function makeCellClasses(topics: readonly RatedTopic[], cells: number): CellClasses {
  const width = topics.length;
  const classes = new Uint8Array(cells * width);
  const isPut = new Uint8Array(cells);
  /** The index of each topic's first field in a row of the output. */
  const inRow = topics.map(({ from }) => from);
  let next = 0;
  /** The same in the fields of `putComplete`. */
  const inComplete = topics.map(({ scale: { fields } }) => {
    next += fields;
    return next - fields;
  });
  let oldest = Number.POSITIVE_INFINITY;
  let newest = Number.NEGATIVE_INFINITY;
  const putFrom = (
    cell: number,
    fields: readonly Field[],
    froms: readonly number[],
    isAnswered: (slug: TopicSlug) => boolean,
  ): void => {
    for (let index = 0; index < width; index++) {
      const { slug, scale } = topics[index]!;
      classes[cell * width + index] = scale.classOf(fields, froms[index]!, isAnswered(slug));
    }
    isPut[cell] = 1;
  };
  return {
    put(cell: number, fields: readonly Field[]): void {
      // The fields of a place without a study are those of one without an answer: the note tells them apart.
      putFrom(cell, fields, inRow, (slug) => saysUnstudied(slug, fields[1]));
    },
    /** Adds a complete cell: the time of its oldest answer, and the fields that decide on the classes of its topics (`Scale.fields`). */
    putComplete(cell: number, asOf: number, fields: readonly Field[]): void {
      putFrom(cell, fields, inComplete, () => true);
      if (asOf < oldest) oldest = asOf;
      if (asOf > newest) newest = asOf;
    },
    has: (cell: number): boolean => isPut[cell] === 1,
    /** Copies one byte for each topic. */
    copy(cell: number, into: Uint8Array, at: number): void {
      for (let index = 0; index < width; index++) into[at + index] = classes[cell * width + index]!;
    },
    classOf: (cell: number, topic: number): number => classes[cell * width + topic]!,
    /** The times of the oldest and the newest answer of complete cells, ISO 8601. */
    times: (): readonly string[] =>
      [oldest, newest].filter(Number.isFinite).map((time) => new Date(time).toISOString()),
  };
}
