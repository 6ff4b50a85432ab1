import { addedColumns } from '../columns/row.ts';
import type { Field } from '../contract/answer.ts';
import { type TopicSlug, topicOf } from '../contract/topics.ts';
import type { CellOfInput } from '../job/enriched-cells.ts';
import type { Job } from '../job/settings/settings.ts';
import { type Scale, scaleOf } from './scales.ts';

export interface RatedTopic {
  readonly slug: TopicSlug;
  readonly scale: Scale;
  readonly natural: boolean;
  /** Where its fields begin. */
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

/** The class of each topic in the fields of a cell. */
export function classesOf(topics: readonly RatedTopic[], fields: readonly Field[], into: Uint8Array, at = 0): void {
  for (let index = 0; index < topics.length; index++) {
    const { scale, from } = topics[index]!;
    into[at + index] = scale.classOf(fields, from);
  }
}

/** The index of `hazard_as_of` among the fields. */
export const AS_OF = 2;

/** The classes of cells that were read, a byte for each topic. The report gets the complete ones as the plan reads them: a second
 * reading from the store took a quarter of its time. */
export class CellClasses {
  readonly #topics: readonly RatedTopic[];
  readonly #classes: Uint8Array;
  readonly #known: Uint8Array;
  #oldest: string | null = null;
  #newest: string | null = null;

  constructor(topics: readonly RatedTopic[], cells: number) {
    this.#topics = topics;
    this.#classes = new Uint8Array(cells * topics.length);
    this.#known = new Uint8Array(cells);
  }

  put(cell: number, fields: readonly Field[]): void {
    classesOf(this.#topics, fields, this.#classes, cell * this.#topics.length);
    this.#known[cell] = 1;
    const asOf = fields[AS_OF];
    if (typeof asOf !== 'string') return;
    if (this.#oldest === null || asOf < this.#oldest) this.#oldest = asOf;
    if (this.#newest === null || asOf > this.#newest) this.#newest = asOf;
  }

  has(cell: CellOfInput['number']): boolean {
    return this.#known[cell] === 1;
  }

  /** One byte for each topic; null for a cell that was not put. */
  classes(cell: number): Uint8Array | null {
    const width = this.#topics.length;
    return this.has(cell) ? this.#classes.subarray(cell * width, (cell + 1) * width) : null;
  }

  /** The times of the oldest and the newest answer. */
  get times(): readonly string[] {
    return [this.#oldest, this.#newest].filter((time) => time !== null);
  }
}
