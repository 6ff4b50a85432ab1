import type { Answer, CellRecord, Field, SampleMark, TopicFailure } from '../../contract/answer.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { Cell } from '../../geo/coordinates.ts';
import type { FieldPacker } from './packed-fields.ts';
import type { TopicSet } from './topic-set.ts';

/** A topic, and the oldest acceptable time of an answer. */
export interface Wanted {
  readonly topic: TopicSlug;
  readonly freshSince: number;
}

/** An answer to read, with its first `fields` fields. */
export interface WantedAnswer extends Wanted {
  readonly fields: number;
}

export interface CompleteCell {
  /** When the oldest of the wanted answers was given. */
  readonly asOf: number;
  /** Whether the first wanted field of an answer is null. */
  readonly hasNull: boolean;
  /** What the service states of the data behind each wanted answer (`statedText`), a line each; '' where it states nothing. */
  readonly stated: string;
  /** The wanted fields, in the order wanted. They may be unpacked here: call it only while the store is open. */
  readonly fields: () => readonly Field[];
  /** The same fields, packed: a cache of many cells keeps these bytes. */
  readonly packed: Uint8Array;
  readonly width: number;
  /** Unpacks them: one object for all cells of a store. */
  readonly packer: FieldUnpacker;
}

export type FieldUnpacker = Pick<FieldPacker, 'unpack' | 'put'>;

export interface CellAnswers {
  readonly cell: Cell;
  readonly answers: readonly Answer[];
  readonly failures: readonly (TopicFailure & { readonly topic: TopicSlug })[];
}

export interface StoredArea {
  readonly answers: ReadonlyMap<TopicSlug, Answer>;
  /** When two of its locations got different answers: then one answer does not hold for all. Null: never. */
  readonly mismatchedAt: number | null;
}

/** The answers at one location of an area, cut to the fields that hold for the area. */
export interface AreaAnswers {
  /** Level and census code, e.g. `tract 06037106111`. */
  readonly area: string;
  readonly answers: readonly Answer[];
  /** They are compared with the area's answers, and are none of its own: the place was bought to verify it. */
  readonly isComparison?: boolean;
  /** Older answers of the area may differ for good reason (a new release); they are replaced and not compared. */
  readonly comparableSince: number;
}

/** The topics that the standard and the enterprise bundle last returned; null if never bought. */
export interface BundleContents {
  readonly standard: readonly TopicSlug[] | null;
  readonly enterprise: readonly TopicSlug[] | null;
}

export interface AnswersPort {
  /** The record of each cell, in the given order; null for a cell without a record. */
  read(source: number, cells: readonly Cell[]): Promise<readonly (CellRecord | null)[]>;
  /** Like `read`, but returns only the wanted answers of complete cells. In a warm run nearly all cells are complete, and making their
   * records took most of the plan's time. */
  readWanted(
    source: number,
    cells: readonly Cell[],
    wanted: readonly WantedAnswer[],
  ): Promise<readonly (CompleteCell | CellRecord | null)[]>;
  /** Like `readWanted`, for all cells of a source, in pages, in any order; null if the store may have more than `most` cells. For many
   * cells it takes a third of the time.
   * @param numberOf the number by which the caller knows a cell; below 0 for one that it does not need */
  readAllWanted(
    source: number,
    wanted: readonly WantedAnswer[],
    numberOf: (cell: Cell) => number,
    most: number,
  ): Promise<AsyncIterable<
    readonly { readonly number: number; readonly record: CompleteCell | CellRecord }[]
  > | null>;
  /** The stored answers of each area, in the given order; null for an area without a record. */
  readAreas(source: number, areas: readonly string[]): Promise<readonly (StoredArea | null)[]>;
  /** Writes answers that cost nothing, in one transaction and without a ledger row: they are durable when this resolves. */
  putAnswers(source: number, cells: readonly CellAnswers[]): Promise<void>;
  /** Packs answers, and returns what writes them as `putAnswers` does: threads pack at the same time, and write one after the other. */
  packAnswers(source: number, cells: readonly CellAnswers[]): () => Promise<void>;
  /** When a source gave sample data; null where it never did. */
  sampleMark(source: number): Promise<SampleMark | null>;
  bundleContents(source: number): Promise<BundleContents>;
  /** The answers that `prune` would delete: by source, the number of cells for each set of topics answered before `before`. */
  countOlder(before: number): Promise<ReadonlyMap<string, ReadonlyMap<TopicSet, number>>>;
  /** Deletes answers older than `before`; returns the number of answers. The ledger is never pruned. */
  prune(before: number): Promise<number>;
  /** The places whose stored answers have changed since they were written (checksums): all of them, where `delete` also deleted. */
  damaged(options: { readonly delete: boolean }): Promise<number>;
  /** Deletes rejections of locations, so that the next run asks again; returns the number of locations. */
  forgetRejections(): Promise<number>;
}
