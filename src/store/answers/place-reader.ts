import { threadId } from 'node:worker_threads';
import { isoDay } from '../../base/format-numbers.ts';
import { isReplaced } from '../../contract/answer.ts';
import { damagedStore } from '../../formats/packed/damaged-store.ts';
import { NO_SET, setNumberer } from '../../formats/packed/number-sets.ts';
import { FieldPacker, skipFields, TAGS } from '../../formats/packed/packed-fields.ts';
import { placeWriter } from '../../formats/packed/place-table.ts';
import { cellNumber } from '../../geo/cell-slots.ts';
import { locationOf } from '../../geo/coordinates.ts';
import { type PackedFailures, parsedFailures } from './cell-answers.ts';
import {
  answerFinder,
  checksumOf,
  FOUND,
  type FoundAnswers,
  type SoughtAnswer,
} from './packed-answers.ts';
import type {
  CellLists,
  NumberedAnswer,
  PlaceReading,
  PlacesRead,
  StoredForm,
  ToldField,
  WrittenPlaces,
} from './port.ts';

/** A reading whose topics are known by their numbers in the store. */
export interface PreparedReading extends Omit<PlaceReading, 'wanted' | 'count'> {
  /** The wanted answers; the numbered one, if there is one, is the last. */
  readonly sought: readonly SoughtAnswer[];
}

/** What is read of a place beside its packed fields. */
interface PlaceFacts {
  size: number;
  /** When the oldest answer was given; infinite without one. */
  oldest: number;
  isComplete: boolean;
  /** Whether the status and note of a complete place may say more than that it is complete. */
  isPlain: boolean;
}

interface Told extends ToldField {
  /** Of its answer among the sought ones. */
  readonly index: number;
}

/** Rows and value for each tag of a rating. */
const SUMS_A_TOPIC = 512;

/** Puts stored rows of cells into a table of places. */
export interface PlaceReader {
  /** @param blocks of a part of the cells */
  read(blocks: AsyncIterable<CellLists>): Promise<PlacesRead>;
  /** Puts cells as they were written in place of what the table has of them. */
  take(written: CellLists): WrittenPlaces;
}

/** How many readers this thread has made. */
let readers = 0;

/** Makes what puts stored rows of cells into a table of places, for one thread. @param store its name, for messages */
export function placeReader(
  { source, cells, again, table, times, moments, dropsReplaced, rated, ...of }: PreparedReading,
  store: string,
): PlaceReader {
  const reader = `${threadId}/${readers++}`;
  const { numbered } = of;
  const asked = again?.asked ?? null;
  const find = answerFinder(of.sought);
  const sought = numbered === null ? of.sought : of.sought.slice(0, -1);
  const writer = placeWriter(table);
  const { room } = writer;
  const counts = sought.map(({ fields }) => fields);
  /** The fields of which a note may say something, each with the index of its answer. */
  const toldFields = sought.flatMap(({ told = [], fields }, index) =>
    told.filter(({ field }) => field < fields).map((told) => ({ index, ...told })),
  );
  const numbers = new FieldPacker({ numberOf: () => -1, textOf: () => '' });
  /** The forms that the caller knows, by their key. */
  const forms = new Map<string, number>();
  const setOf = numbered === null ? null : setNumberer(numbered.sets, numbered.answer.fields);
  const facts: PlaceFacts = { size: 0, oldest: 0, isComplete: true, isPlain: true };
  let words: DataView = new DataView(new ArrayBuffer(0));
  let target: Uint8Array | null = null;
  let into = words;
  let next = 0;

  /** The answers that a later look-up did not find again: their data was removed or replaced. */
  function dropReplaced(found: FoundAnswers, failures: PackedFailures): void {
    for (const [index, { topic }] of sought.entries()) {
      const isThere = found.states[index] !== FOUND.none;
      if (isThere && isReplaced(found.asOf[index]!, failures[topic]?.[2]))
        found.states[index] = FOUND.none;
    }
  }

  function readFacts(bytes: Buffer, { states, asOf, froms, tos, statedAt }: FoundAnswers): void {
    let [size, oldest, isComplete, isPlain] = [0, Number.POSITIVE_INFINITY, true, true];
    for (let index = 0; index < counts.length; index++) {
      const state = states[index]!;
      if (state !== FOUND.fresh) isComplete = false;
      if (state === FOUND.none || state === FOUND.short) {
        size += counts[index]!;
        continue;
      }
      const from = froms[index]!;
      size += tos[index]! - from;
      if (asOf[index]! < oldest) oldest = asOf[index]!;
      if (statedAt[index]! > 0 || (counts[index]! > 0 && bytes[from] === TAGS.null))
        isPlain = false;
    }
    facts.size = size;
    facts.oldest = oldest;
    facts.isComplete = isComplete;
    facts.isPlain = isPlain;
  }

  function putFields({ states, froms, tos }: FoundAnswers): void {
    writer.reserve(facts.size);
    const { bytes } = room;
    if (bytes !== target) {
      target = bytes;
      into = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    let at = room.at;
    for (let index = 0; index < counts.length; index++) {
      const state = states[index]!;
      if (state === FOUND.none || state === FOUND.short) {
        for (let left = counts[index]!; left > 0; left--) bytes[at++] = TAGS.null;
        continue;
      }
      const [from, to] = [froms[index]!, tos[index]!];
      // By words: what is copied beyond the end is overwritten. Some 12 bytes an answer: a call to `copy` costs more.
      for (let i = from; i < to; i += 4)
        into.setUint32(at + i - from, words.getUint32(i, true), true);
      at += to - from;
    }
  }

  /** Where a wanted field of an answer begins, in the bytes of a cell. */
  const fieldAt = (bytes: Buffer, found: FoundAnswers, index: number, field: number): number =>
    skipFields(bytes, found.froms[index]!, field);

  /** Whether a field of an answer has what its note tells: a value, or one of the present that has ended. */
  function isTold(
    bytes: Buffer,
    found: FoundAnswers,
    { index, field, atMost, endedBefore }: Told,
  ): boolean {
    const state = found.states[index]!;
    if (state === FOUND.none || state === FOUND.short) return false;
    if (endedBefore !== null && toldAsOf(found, index) >= endedBefore) return false;
    const at = fieldAt(bytes, found, index, field);
    if (bytes[at] === TAGS.null) return false;
    if (atMost === null) return true;
    const value = numbers.unpack(bytes, at, 1)[0];
    return typeof value === 'number' && value <= atMost;
  }

  /** The time of a complete place is that of its oldest answer. */
  const toldAsOf = (found: FoundAnswers, index: number): number =>
    facts.isComplete ? facts.oldest : found.asOf[index]!;

  function isAnythingTold(bytes: Buffer, found: FoundAnswers): boolean {
    for (const told of toldFields) if (isTold(bytes, found, told)) return true;
    return false;
  }

  /** What the note of a place says of its fields. Fields of the present that have ended are emptied: in `bytes`, before they are packed. */
  function tellFields(bytes: Buffer, found: FoundAnswers): string {
    let text = '';
    for (const told of toldFields) {
      if (!isTold(bytes, found, told)) continue;
      const { index, field, atMost } = told;
      const at = fieldAt(bytes, found, index, field);
      if (atMost !== null) text += `|${index}:${field}=${numbers.unpack(bytes, at, 1)[0]}`;
      else {
        emptyField(bytes, found, index, at);
        text += `|${index}:${field}<${isoDay(toldAsOf(found, index))}`;
      }
    }
    return text;
  }

  /** Makes a field null. Its bytes stay in the block, after those of the wanted fields. */
  function emptyField(bytes: Buffer, { froms }: FoundAnswers, index: number, at: number): void {
    const after = skipFields(bytes, at, 1);
    const removed = after - at - 1;
    // The fields before it move to its end: the answers before are read by their own positions.
    bytes.copyWithin(froms[index]! + removed, froms[index]!, at);
    bytes[after - 1] = TAGS.null;
    froms[index]! += removed;
    facts.size -= removed;
  }

  /** A text that is the same for places with the same status and note, but for the time and the origin of their answers. */
  function keyOf(bytes: Buffer, found: FoundAnswers, failures: PackedFailures | null): string {
    let key = facts.isComplete ? '+' : '-';
    for (let index = 0; index < counts.length; index++) {
      const state = found.states[index]!;
      const isNull =
        state !== FOUND.none &&
        isAllNull(
          bytes,
          found.froms[index]!,
          facts.isComplete ? counts[index]! : found.widths[index]!,
        );
      key += String.fromCharCode(48 + state + (isNull ? 4 : 0));
      if (state === FOUND.none || found.statedAt[index] === 0) continue;
      const at = found.statedAt[index]!;
      key += `(${bytes.toString('latin1', at, skipFields(bytes, at, 1))})`;
    }
    if (failures === null || facts.isComplete) return key;
    for (const [index, { topic }] of sought.entries()) {
      const failure = failures[topic];
      if (failure === undefined) continue;
      const [reason, note, at] = failure;
      const since = moments.map((moment) => (at >= moment ? 1 : 0)).join('');
      const isLater = isReplaced(found.asOf[index] ?? 0, at) ? 1 : 0;
      key += `|${index}${reason}${since}${isLater}${note}`;
    }
    return key;
  }

  /** Gives a place the number of its set. */
  function putNumber(
    { numberOf }: NumberedAnswer,
    bytes: Buffer,
    { states, froms }: FoundAnswers,
    place: number,
  ): void {
    const index = sought.length;
    numberOf[place] = states[index] === FOUND.fresh ? setOf!(bytes, words, froms[index]!) : NO_SET;
  }

  function take(
    bytes: Buffer,
    from: number,
    to: number,
    failures: string | null,
    number: number,
    result: MutableResult,
  ): void {
    const found = find(bytes, from, to);
    if (numbered !== null) putNumber(numbered, bytes, found, number);
    readFacts(bytes, found);
    const parsed = failures === null || facts.isComplete ? null : parsedFailures(failures);
    // The stored row, as it was before fields of the present are emptied.
    let row: StoredForm['row'] | null = null;
    let key = '';
    if (!facts.isPlain || !facts.isComplete || isAnythingTold(bytes, found)) {
      row = { answers: Buffer.from(bytes.subarray(from, to)), failures };
      key = keyOf(bytes, found, parsed);
      if (dropsReplaced && parsed !== null) {
        dropReplaced(found, parsed);
        readFacts(bytes, found);
      }
      key += tellFields(bytes, found);
    }
    putFields(found);
    writer.end(number, facts.size);
    times[number] = facts.oldest === Number.POSITIVE_INFINITY ? Number.NaN : facts.oldest;
    const isPlain = key === '' || key === plainKey;
    if (!isPlain) {
      let form = forms.get(key);
      if (form === undefined) {
        form = forms.size;
        forms.set(key, form);
        result.forms.push({ isComplete: facts.isComplete, row: row! });
      }
      result.pairs.push(number, form);
    }
    if (facts.isComplete) count(bytes, found, number, result);
  }

  /** The key of a complete place of which its note says nothing: topics that tell fields make keys of all places. */
  const plainKey = `+${String.fromCharCode(48 + FOUND.fresh).repeat(sought.length)}`;

  /** Adds the rows of a complete place to the sums of its ratings. */
  function count(
    bytes: Buffer,
    { froms }: FoundAnswers,
    number: number,
    result: MutableResult,
  ): void {
    const [rows, value] = [cells.rows[number]!, cells.values[number]!];
    for (let topic = 0; topic < rated.length; topic++) {
      const tag = bytes[froms[rated[topic]!]!]!;
      // A text without a number of its own is compared where all texts are known.
      if (tag < TAGS.firstText && tag !== TAGS.null) {
        result.uncounted.push(number, topic);
        continue;
      }
      const sum = topic * SUMS_A_TOPIC + 2 * tag;
      result.ratings[sum]! += rows;
      result.ratings[sum + 1]! += value;
    }
  }

  /** Puts the wanted ones of some cells into the table. @throws STORE_UNUSABLE */
  function takeLists(
    { answers, lats, lngs, lengths, checksums, failures }: CellLists,
    isWanted: (number: number) => boolean,
    result: MutableResult,
  ): void {
    words = new DataView(answers.buffer, answers.byteOffset, answers.length);
    let from = 0;
    for (let index = 0; index < lats.length; index++) {
      const [lat7, lng7] = [lats[index]!, lngs[index]!];
      // It was asked for and is not there.
      if (lat7 === null || lng7 === null) continue;
      const to = from + lengths[index]!;
      const isNext = cells.keys[2 * next] === lat7 && cells.keys[2 * next + 1] === lng7;
      const number = isNext ? next : cellNumber(cells, lat7, lng7);
      if (number >= 0 && isWanted(number)) {
        const checksum = checksums === null ? null : checksums[index]!;
        const failed = failures?.[index] ?? null;
        if (
          checksum !== null &&
          checksum !== checksumOf([source, lat7, lng7], answers.subarray(from, to), failed)
        ) {
          const { lat, lng } = locationOf({ lat7, lng7 });
          throw damagedStore(`what is stored at ${lat}, ${lng}`, store);
        }
        take(answers, from, to, failed, number, result);
        next = number + 1;
      }
      from = to;
    }
  }

  /** Whether a place was not read yet. It is read once. */
  function isUnread(number: number): boolean {
    if (asked === null) return table.entries[number] === 0;
    const isAsked = asked[number] === 1;
    asked[number] = 0;
    return isAsked;
  }

  const newResult = (): MutableResult => ({
    pairs: [],
    forms: [],
    ratings: new Float64Array(rated.length * SUMS_A_TOPIC),
    uncounted: [],
  });
  const readOf = (result: MutableResult): PlacesRead => ({
    ...result,
    reader,
    pairs: Int32Array.from(result.pairs),
    left: writer.flush(),
  });

  return {
    async read(blocks: AsyncIterable<CellLists>): Promise<PlacesRead> {
      const result = newResult();
      for await (const block of blocks) takeLists(block, isUnread, result);
      return readOf(result);
    },
    take(written: CellLists): WrittenPlaces {
      const result = newResult();
      const places: number[] = [];
      takeLists(written, (number) => places.push(number) > 0, result);
      return { ...readOf(result), places: Int32Array.from(places) };
    },
  };
}

interface MutableResult {
  readonly pairs: number[];
  readonly forms: StoredForm[];
  readonly ratings: Float64Array<ArrayBuffer>;
  readonly uncounted: number[];
}

/** Whether some fields are all null: each takes a byte. */
function isAllNull(bytes: Buffer, from: number, fields: number): boolean {
  if (fields === 0) return false;
  for (let at = from; at < from + fields; at++) if (bytes[at] !== TAGS.null) return false;
  return true;
}
