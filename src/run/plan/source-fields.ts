import { closeSync } from 'node:fs';
import type { CellRecord, Field } from '../../contract/answer.ts';
import { REJECTION_HOLDS_MS } from '../../contract/answer.ts';
import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { PackedFields } from '../../formats/packed/output-places.ts';
import { OWN_TEXTS } from '../../formats/packed/packed-fields.ts';
import {
  makePlaceTable,
  type PlaceTable,
  type PlaceWriter,
  placeWriter,
  takeBlocks,
} from '../../formats/packed/place-table.ts';
import { openUnnamed } from '../../rows/files/temporary-files.ts';
import type {
  PlaceReading,
  PlacesRead,
  StoredForm,
  WantedAnswer,
  WrittenPlaces,
} from '../../store/answers/port.ts';
import { wantedAnswers } from '../frame/freshness.ts';
import type { RunContext } from '../frame/run-context.ts';
import type { Scan } from '../scan/scan-input.ts';
import type { PlaceRates } from './place-rates.ts';

/** Packed fields in memory; the others are in a temporary file. 250,000 places with 18 natural topics take as much. */
const BYTES_IN_MEMORY = 64 * 1024 * 1024;
/** Fewer places need no file: few have a kilobyte of fields. */
const LARGEST_PLACE = 1024;

/** What the store has of a place. */
export const NOTHING = -1;
/** The place has all answers, and there is nothing to say of them. Higher numbers are forms. */
export const PLAIN = 0;

/** Rows and value for each tag of a rating, by rated topic. */
export const SUMS_A_TOPIC = 512;

/** A form of places: whether these have all wanted answers, and the record that stands for them. */
export interface KnownForm extends Pick<StoredForm, 'isComplete'> {
  readonly record: CellRecord;
}

/** The fields that one source of a run gives its places, packed as the store has them: read once, kept for plan, sums and output. Beyond
 * some memory they are in a temporary file, which is closed with the scan. */
export class SourceFields implements Disposable {
  readonly wanted: readonly WantedAnswer[];
  readonly table: PlaceTable;
  /** When the oldest answer of each place was given; NaN without one. */
  readonly times: Float64Array<SharedArrayBuffer>;
  /** The wanted answers that begin with a rating, by index. */
  readonly rated: readonly number[];
  /** Rows and value of complete places by the tag of each rating (`SUMS_A_TOPIC`). */
  readonly ratings: Float64Array;
  /** Pairs of a complete place and the index of a rated topic that the sums leave out. */
  readonly uncounted: number[] = [];
  readonly #context: RunContext;
  readonly #scan: Scan;
  /** Those of this source; null where it has none, or nothing of its answers is kept. */
  readonly #rates: PlaceRates | null;
  /** By place: `NOTHING`, `PLAIN`, or the number of its form. */
  readonly #formOf: Int32Array;
  /** From `PLAIN` on. */
  readonly #forms: (KnownForm | null)[] = [null];
  /** The numbers of the forms that each reader has given, in its order. */
  readonly #formsOfReaders = new Map<string, number[]>();
  /** 1 for each place that is being read again. */
  #asked: Uint8Array<SharedArrayBuffer> | null = null;
  /** 1 for each place that was looked up. */
  #lookedUp: Uint8Array | null = null;
  readonly #writer: PlaceWriter;
  /** The entry of a place without fields; 0 before the first. */
  #emptyEntry = 0;
  #isDiskTold = false;
  #isLeftOut = false;

  /** @param context of the source
   * @param rates are read with the answers, if they are of this source
   * @param fieldsOf how many fields of each topic's answers are kept; left out: those of the output */
  constructor(
    context: RunContext,
    scan: Scan,
    rates: PlaceRates | null,
    fieldsOf?: (topic: TopicSlug) => number,
  ) {
    this.#context = context;
    this.#scan = scan;
    this.wanted = wantedAnswers(context.job, context.freshness).map((answer) => ({
      ...answer,
      fields: fieldsOf?.(answer.topic) ?? answer.fields,
    }));
    const isRated = ({ topic, fields }: WantedAnswer) =>
      fields > 0 && topicOf(topic).category === 'natural';
    this.rated = [...this.wanted.keys()].filter((index) => isRated(this.wanted[index]!));
    this.#rates = rates?.source === context.source && this.width > 0 ? rates : null;
    this.ratings = new Float64Array(this.rated.length * SUMS_A_TOPIC);
    const { cells, places } = scan;
    const count = cells.size + places.unlocated.length;
    const { placeBytes = BYTES_IN_MEMORY } = context.effects;
    const mayExceed = this.width > 0 && cells.size * LARGEST_PLACE > placeBytes;
    this.table = makePlaceTable(count, placeBytes, mayExceed ? this.#openFile() : null);
    this.times = new Float64Array(new SharedArrayBuffer(8 * count)).fill(Number.NaN);
    this.#formOf = new Int32Array(cells.size).fill(NOTHING);
    this.#writer = placeWriter(this.table);
  }

  /** How many fields a place has. */
  get width(): number {
    return this.wanted.reduce((sum, { fields }) => sum + fields, 0);
  }

  /** Whether these are the fields of an output. */
  get isOutput(): boolean {
    const { job, freshness } = this.#context;
    return wantedAnswers(job, freshness).every(
      ({ fields }, index) => fields === this.wanted[index]!.fields,
    );
  }

  /** `NOTHING`, `PLAIN`, or the number of its form. */
  formOf(place: number): number {
    return this.#formOf[place]!;
  }

  /** Its forms by number; null for `PLAIN`. */
  get forms(): readonly (KnownForm | null)[] {
    return this.#forms;
  }

  /** Whether nothing of it is shown. */
  get isLeftOut(): boolean {
    return this.#isLeftOut;
  }

  /** The packed fields, for writers. */
  get packed(): PackedFields {
    return { table: this.table, width: this.width };
  }

  /** Takes all answers of this source away: nothing of it is shown, and nothing read again. */
  leaveOut(): void {
    this.#isLeftOut = true;
    this.#formOf.fill(NOTHING);
    this.table.entries.fill(0);
    this.times.fill(Number.NaN);
    this.ratings.fill(0);
    this.uncounted.length = 0;
    this.#emptyEntry = 0;
  }

  /** Whether the store has all answers of a place. */
  isComplete(place: number): boolean {
    const form = this.#formOf[place]!;
    return form === PLAIN || (form > PLAIN && this.#forms[form]!.isComplete);
  }

  /** Reads what the store has of all places. */
  async readAll(): Promise<void> {
    const { cells } = this.#scan;
    if (cells.size > 0) await this.#read(null, cells.size);
    this.#rates?.wereRead();
    for (let place = 0; place < cells.size; place++) this.#settleForm(place);
  }

  /** Reads what the store has now of some places, in place of what it had; without a list, of all. Of places that are complete or were
   * looked up the fields stay. */
  async readAgain(places?: readonly number[]): Promise<void> {
    if (this.#isLeftOut) return;
    this.#asked ??= new Uint8Array(new SharedArrayBuffer(this.#formOf.length));
    const asked = this.#asked;
    const most = places?.length ?? this.#formOf.length;
    const lacking = new Int32Array(most);
    let count = 0;
    for (let index = 0; index < most; index++) {
      const place = places?.[index] ?? index;
      if (asked[place] === 1 || this.#lookedUp?.[place] === 1 || this.isComplete(place)) continue;
      asked[place] = 1;
      lacking[count++] = place;
      this.#formOf[place] = NOTHING;
      this.table.entries[place] = 0;
    }
    if (count === 0) return;
    const numbers = lacking.slice(0, count);
    await this.#read({ asked, numbers }, count);
    for (const place of numbers) {
      asked[place] = 0;
      this.#settleForm(place);
    }
  }

  /** Replaces the fields of a place. */
  put(place: number, fields: readonly Field[], oldest: number): void {
    const packed = OWN_TEXTS.pack(fields);
    this.#writer.reserve(packed.length);
    const { room } = this.#writer;
    room.bytes.set(packed, room.at);
    this.#writer.end(place, packed.length);
    this.times[place] = oldest;
  }

  /** Makes the fields of places that have none empty, and all that were put readable. */
  fillEmpty(places: ArrayLike<number>): void {
    const { entries } = this.table;
    for (let index = 0; index < places.length; index++) {
      const place = places[index]!;
      if (entries[place] !== 0) continue;
      if (this.#emptyEntry === 0) {
        this.put(place, new Array<null>(this.width).fill(null), Number.NaN);
        this.#emptyEntry = entries[place]!;
      }
      entries[place] = this.#emptyEntry;
    }
    this.flush();
  }

  /** Makes all that was read or put readable. */
  flush(): void {
    this.#tellDisk(this.#writer.flush().problem);
  }

  [Symbol.dispose](): void {
    if (this.table.file !== null) closeSync(this.table.file);
  }

  /** Begins to take places as a look-up writes them. @returns what its threads need for it */
  beginWritten(): PlaceReading {
    this.#lookedUp ??= new Uint8Array(this.#formOf.length);
    return this.#begin(null, this.#formOf.length);
  }

  /** Takes places that were written, in place of what the store had of them. */
  async takeWritten(written: WrittenPlaces): Promise<void> {
    for (const place of written.places) {
      this.#lookedUp![place] = 1;
      this.#formOf[place] = NOTHING;
    }
    await this.#take(written);
    for (const place of written.places) this.#settleForm(place);
  }

  async #read(again: PlaceReading['again'], count: number): Promise<void> {
    const pool = this.#scan.inThreads?.pool ?? null;
    const reading = this.#begin(again, count);
    for await (const read of this.#context.store.readPlaces(reading, pool)) await this.#take(read);
  }

  #begin(again: PlaceReading['again'], count: number): PlaceReading {
    const { source, freshness, connection } = this.#context;
    const { startedAt, rejectedSince } = freshness;
    // Each reading has readers of its own.
    this.#formsOfReaders.clear();
    return {
      source,
      wanted: this.wanted,
      rated: this.rated,
      cells: this.#scan.cells.shared,
      count,
      again,
      table: this.table,
      times: this.times,
      moments: [startedAt, rejectedSince, startedAt - REJECTION_HOLDS_MS],
      dropsReplaced: connection.kind === 'local',
      numbered: this.#rates?.numbered ?? null,
    };
  }

  async #take({ reader, pairs, forms, ratings, uncounted, left }: PlacesRead): Promise<void> {
    const numbers = this.#formsOfReaders.get(reader) ?? [];
    this.#formsOfReaders.set(reader, numbers);
    const records = await this.#context.store.recordsOf(forms);
    for (const [index, { isComplete }] of forms.entries())
      numbers.push(this.#forms.push({ isComplete, record: records[index]! }) - 1);
    for (let at = 0; at < pairs.length; at += 2)
      this.#formOf[pairs[at]!] = numbers[pairs[at + 1]!]!;
    const sums = this.ratings;
    for (let at = 0; at < sums.length; at++) sums[at]! += ratings[at]!;
    for (const number of uncounted) this.uncounted.push(number);
    takeBlocks(this.table, left);
    this.#tellDisk(left.problem);
  }

  #settleForm(place: number): void {
    if (this.#formOf[place] === NOTHING && this.table.entries[place] !== 0)
      this.#formOf[place] = PLAIN;
  }

  #openFile(): number | null {
    try {
      const file = openUnnamed();
      this.#scan.adopt(this);
      return file;
    } catch (error) {
      this.#tellDisk(error instanceof Error ? error.message : String(error));
      return null;
    }
  }

  #tellDisk(problem: string | null): void {
    if (problem === null || this.#isDiskTold) return;
    this.#isDiskTold = true;
    this.#context.effects.notice(
      `The temporary folder has no room for the fields of the places (${problem}): they stay in memory. Set TMPDIR to a folder with more space to use less.`,
    );
  }
}
