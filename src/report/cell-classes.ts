import { addedColumns, LEADING_COLUMNS } from '../columns/row.ts';
import type { Field } from '../contract/answer.ts';
import { type TopicSlug, topicOf } from '../contract/topics.ts';
import type { Job } from '../run/settings/settings.ts';
import type { CellOfInput } from '../run/write/enriched-cells.ts';
import { type Scale, scaleOf } from './scales.ts';

export interface RatedTopic {
  readonly slug: TopicSlug;
  readonly scale: Scale;
  readonly natural: boolean;
  /** The index of its first field. */
  readonly from: number;
}

/** The topics of a job with their scales, in the job's order. */
export function ratedTopics({ topics, counts, units }: Pick<Job, 'topics' | 'counts' | 'units'>): RatedTopic[] {
  return topics.map((slug, index) => ({
    slug,
    scale: scaleOf(slug, units),
    natural: topicOf(slug).category === 'natural',
    from: addedColumns(topics.slice(0, index), '', counts).length,
  }));
}

/** The class of each topic in the fields of a cell, which begin at `start`. */
function classesOf(
  topics: readonly RatedTopic[],
  fields: readonly Field[],
  into: Uint8Array,
  at: number,
  start: number,
): void {
  for (let index = 0; index < topics.length; index++) {
    const { scale, from } = topics[index]!;
    into[at + index] = scale.classOf(fields, start + from);
  }
}

/** The classes of cells, a byte for each topic. The report takes the complete cells while the plan reads them: reading them again from the
 * store took a quarter of its time. */
export class CellClasses {
  readonly #topics: readonly RatedTopic[];
  readonly #classes: Uint8Array;
  readonly #isPut: Uint8Array;
  #oldest = Number.POSITIVE_INFINITY;
  #newest = Number.NEGATIVE_INFINITY;

  constructor(topics: readonly RatedTopic[], cells: number) {
    this.#topics = topics;
    this.#classes = new Uint8Array(cells * topics.length);
    this.#isPut = new Uint8Array(cells);
  }

  put(cell: number, fields: readonly Field[], from = 0): void {
    classesOf(this.#topics, fields, this.#classes, cell * this.#topics.length, from);
    this.#isPut[cell] = 1;
  }

  /** Adds a complete cell: the time of its oldest answer, and only the fields of its topics. */
  putComplete(cell: number, asOf: number, fields: readonly Field[]): void {
    this.put(cell, fields, -LEADING_COLUMNS.length);
    if (asOf < this.#oldest) this.#oldest = asOf;
    if (asOf > this.#newest) this.#newest = asOf;
  }

  has(cell: CellOfInput['number']): boolean {
    return this.#isPut[cell] === 1;
  }

  /** Copies one byte for each topic. */
  copy(cell: number, into: Uint8Array, at: number): void {
    const width = this.#topics.length;
    for (let index = 0; index < width; index++) into[at + index] = this.#classes[cell * width + index]!;
  }

  /** The class of one topic. */
  classOf(cell: number, topic: number): number {
    return this.#classes[cell * this.#topics.length + topic]!;
  }

  /** The times of the oldest and the newest answer of complete cells, ISO 8601. */
  get times(): readonly string[] {
    return [this.#oldest, this.#newest].filter(Number.isFinite).map((time) => new Date(time).toISOString());
  }
}
