import { addedColumns } from '../../columns/row.ts';
import type { Field } from '../../contract/answer.ts';
import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
import type { CellOfInput } from '../../run/write/enriched-cells.ts';
import { type Scale, scaleOf } from './scales.ts';

export interface RatedTopic {
  readonly slug: TopicSlug;
  readonly scale: Scale;
  readonly natural: boolean;
  /** The index of its first field. */
  readonly from: number;
  /** Its index in the layers of sums and of the map, of which the first is the highest rating. */
  readonly layer: number;
}

/** The topics of a job with their scales, in the job's order. */
export function ratedTopics({ topics, counts, units }: Pick<Job, 'topics' | 'counts' | 'units'>): RatedTopic[] {
  return topics.map((slug, index) => ({
    slug,
    scale: scaleOf(slug, units),
    natural: topicOf(slug).category === 'natural',
    from: addedColumns(topics.slice(0, index), '', counts).length,
    layer: index + 1,
  }));
}

/** The classes of cells, a byte for each topic. The report takes the complete cells while the plan reads them: reading them again from the
 * store took a quarter of its time. */
export class CellClasses {
  readonly #topics: readonly RatedTopic[];
  readonly #classes: Uint8Array;
  readonly #isPut: Uint8Array;
  /** The index of each topic's first field in a row of the output. */
  readonly #inRow: readonly number[];
  /** The same in the fields of `putComplete`. */
  readonly #inComplete: readonly number[];
  #oldest = Number.POSITIVE_INFINITY;
  #newest = Number.NEGATIVE_INFINITY;

  constructor(topics: readonly RatedTopic[], cells: number) {
    this.#topics = topics;
    this.#classes = new Uint8Array(cells * topics.length);
    this.#isPut = new Uint8Array(cells);
    this.#inRow = topics.map(({ from }) => from);
    let next = 0;
    this.#inComplete = topics.map(({ scale: { fields } }) => {
      next += fields;
      return next - fields;
    });
  }

  /** Adds a cell by its fields in the output. */
  put(cell: number, fields: readonly Field[]): void {
    this.#put(cell, fields, this.#inRow);
  }

  /** Adds a complete cell: the time of its oldest answer, and the fields that decide on the classes of its topics (`Scale.fields`). */
  putComplete(cell: number, asOf: number, fields: readonly Field[]): void {
    this.#put(cell, fields, this.#inComplete);
    if (asOf < this.#oldest) this.#oldest = asOf;
    if (asOf > this.#newest) this.#newest = asOf;
  }

  #put(cell: number, fields: readonly Field[], froms: readonly number[]): void {
    const at = cell * this.#topics.length;
    for (let index = 0; index < froms.length; index++) {
      this.#classes[at + index] = this.#topics[index]!.scale.classOf(fields, froms[index]!);
    }
    this.#isPut[cell] = 1;
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
