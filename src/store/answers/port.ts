import type {
  Answer,
  CellRecord,
  FreshTimes,
  SampleMark,
  TopicFailure,
} from '../../contract/answer.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { NumberSets } from '../../formats/packed/number-sets.ts';
import type { BlocksLeft, PlaceTable } from '../../formats/packed/place-table.ts';
import type { CellSlots } from '../../geo/cell-slots.ts';
import type { Cell } from '../../geo/coordinates.ts';
import type { ThreadPool } from '../../threads/thread-pool.ts';

import type { TopicSet } from './topic-set.ts';

/** A topic, and the acceptable times of an answer. */
export interface Wanted extends FreshTimes {
  readonly topic: TopicSlug;
}

/** A field of which the note of a row speaks. */
export interface ToldField {
  /** Its number among the fields of the topic. */
  readonly field: number;
  /** The note tells numbers up to this; null: none. */
  readonly atMost: number | null;
  /** The field speaks of the moment of its answer: one given before this time is empty, and the note says so. Null: it does not. */
  readonly endedBefore: number | null;
}

/** An answer to read, with its first `fields` fields. */
export interface WantedAnswer extends Wanted {
  readonly fields: number;
  readonly told?: readonly ToldField[];
}

/** An answer of numbers that many places share, as those of a tract do: each fresh one gets the number of its set. */
export interface NumberedAnswer {
  readonly answer: WantedAnswer;
  /** By place; `NO_SET` without a fresh answer. */
  readonly numberOf: Uint32Array<SharedArrayBuffer>;
  readonly sets: NumberSets;
}

/** What is read of the stored answers of places, and where it goes: plain data, whose arrays threads share. */
export interface PlaceReading {
  readonly source: number;
  readonly wanted: readonly WantedAnswer[];
  /** The wanted answers whose first field is a rating, by their index. */
  readonly rated: readonly number[];
  /** The places, with the rows and the value of each. */
  readonly cells: CellSlots & { readonly rows: Uint32Array; readonly values: Float64Array };
  /** How many places are asked for. */
  readonly count: number;
  /** The places to read, with 1 for each of them that was not read yet; null: all that the table does not have. */
  readonly again: {
    readonly numbers: Int32Array;
    readonly asked: Uint8Array<SharedArrayBuffer>;
  } | null;
  readonly table: PlaceTable;
  /** By place, when its oldest answer was given; NaN without one. */
  readonly times: Float64Array<SharedArrayBuffer>;
  /** Failures before and after one of these times differ. */
  readonly moments: readonly number[];
  /** Whether an answer is left out that is older than a failure of its topic. */
  readonly dropsReplaced: boolean;
  /** An answer that is none of the place's own, and says nothing of whether it is complete; null for none. */
  readonly numbered: NumberedAnswer | null;
}

/** A stored row of a cell that stands for all places whose status and note are the same but for the time and the origin of their answers. */
export interface StoredForm {
  /** Whether it has all wanted answers, none of them too old. */
  readonly isComplete: boolean;
  readonly row: { readonly answers: Uint8Array; readonly failures: string | null };
}

/** What was read of some places, beside their fields in the table. */
export interface PlacesRead {
  /** The reader that read them: each counts its forms on its own. */
  readonly reader: string;
  /** Pairs of a place and the number of its form, for all but complete places of which there is nothing to say. */
  readonly pairs: Int32Array;
  /** The forms that this reader has not given before. */
  readonly forms: readonly StoredForm[];
  /** Of complete places, for each rated topic and each tag of a rating the rows and their value. */
  readonly ratings: Float64Array;
  /** Pairs of a place and the index of a rated topic that the sums leave out: its rating has no tag of its own. */
  readonly uncounted: readonly number[];
  readonly left: BlocksLeft;
}

/** Stored rows of many cells, as lists. */
export interface CellLists {
  /** The answers of all cells, one after the other, and `SPARE_BYTES` more. */
  readonly answers: Buffer;
  /** Null in each list for a cell that was asked for and is not there. */
  readonly lats: readonly (number | null)[];
  readonly lngs: readonly (number | null)[];
  /** How many bytes the answers of each cell take. */
  readonly lengths: readonly (number | null)[];
  /** Null: this process has written them. */
  readonly checksums: readonly (number | null)[] | null;
  /** Null: no cell has failures. */
  readonly failures: readonly (string | null)[] | null;
}

/** Places that were written, and put into a table at once. */
export interface WrittenPlaces extends PlacesRead {
  readonly places: Int32Array;
}

export interface CellAnswers {
  readonly cell: Cell;
  readonly answers: readonly Answer[];
  /** Further answers, to other topics: one object for all cells that have the same, which is packed once. */
  readonly shared?: readonly Answer[];
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
  /** Reads the stored answers of places into a table, in parts, in any order. Places without a record stay as they are.
   * @param pool threads that read at the same time, where the database is a file
   * @throws STORE_UNUSABLE for an answer that has changed since it was written */
  readPlaces(reading: PlaceReading, pool: ThreadPool | null): AsyncIterable<PlacesRead>;
  /** The records of forms. */
  recordsOf(forms: readonly StoredForm[]): Promise<readonly CellRecord[]>;
  /** The texts of packed fields by number, null for a damaged one, and the name of the store for its error. */
  texts(): Promise<{ readonly texts: readonly (string | null)[]; readonly store: string }>;
  /** The stored answers of each area, in the given order; null for an area without a record. */
  readAreas(source: number, areas: readonly string[]): Promise<readonly (StoredArea | null)[]>;
  /** Writes answers that cost nothing, in one transaction and without a ledger row: no kill takes them when this has resolved, nor a power cut
   * unless the store was opened for such answers alone. */
  putAnswers(source: number, cells: readonly CellAnswers[]): Promise<void>;
  /** Packs answers, and returns what writes them as `putAnswers` does, once: threads pack at the same time, and write one after the other.
   * It gives the cells as they are stored now, in memory that is valid until the next ones are packed. */
  packAnswers(source: number, cells: Iterable<CellAnswers>): () => Promise<CellLists>;
  /** Makes what puts cells that were written into a table, as `readPlaces` does those that are stored: they are not read again. */
  placeTaker(reading: PlaceReading): (written: CellLists) => Promise<WrittenPlaces>;
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
