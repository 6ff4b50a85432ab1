import { bug } from '../../base/errors.ts';
import type { Field } from '../../contract/answer.ts';
import { damagedText } from './damaged-store.ts';
import { FieldPacker, isSharedText, skipFields, TAGS, type Texts } from './packed-fields.ts';
import { lossFields, lossWidth, type PlaceLosses } from './place-losses.ts';
import {
  clearPlaces,
  type FoundPlace,
  makePlaceTable,
  type PlaceTable,
  placeFinder,
  placeWriter,
  takenBytes,
  viewed,
} from './place-table.ts';

/** Packed fields of all places. */
export interface PackedFields {
  readonly table: PlaceTable;
  /** How many fields of a place come before these; none if left out. */
  readonly skip?: number;
  /** How many a place has. */
  readonly width: number;
}

/** The fields of all places of an output, for writers: plain data, which threads share. The fields of a place are those of its kind, the
 * time of its answers, then the packed ones. */
export interface OutputPlaces {
  /** The packed fields, which follow each other: a run of two sources has two tables, and answers by the rows' own codes
   * have another. */
  readonly tables: readonly PackedFields[];
  /** The first fields (status and note), by kind. Places have few. */
  readonly kinds: readonly (readonly Field[])[];
  /** The kind of each place. */
  readonly kindOf: Uint32Array<SharedArrayBuffer>;
  /** When the oldest answer of each place was given, in milliseconds since the epoch; NaN without an answer. Null: a place has no time. */
  readonly times: Float64Array<SharedArrayBuffer> | null;
  /** The loss rates of the places, whose fields follow; null: there are none. */
  readonly losses: PlaceLosses | null;
  /** How many fields after these are empty: a point, which is each row's own. */
  readonly empty: number;
  /** The texts of packed fields, by number; null for a damaged one. */
  readonly texts: readonly (string | null)[];
  /** The file or address of the store that the texts are from. */
  readonly store: string;
}

/** Texts by number that are only read. Reading a damaged one throws STORE_UNUSABLE. */
export function numberedTexts({ texts, store }: Pick<OutputPlaces, 'texts' | 'store'>): Texts {
  return {
    numberOf: () => -1,
    textOf(number) {
      const text = texts[number] ?? null;
      if (text === null) throw damagedText(number, store);
      return text;
    },
  };
}

/** How many fields come before the packed ones. */
export function leadingWidth({ kinds, times }: OutputPlaces): number {
  return (kinds[0]?.length ?? 0) + (times === null ? 0 : 1);
}

/** How many packed fields there are. */
export function packedWidth({ tables }: Pick<OutputPlaces, 'tables'>): number {
  return tables.reduce((sum, { width }) => sum + width, 0);
}

/** Makes what finds the packed fields of a place, one after the other: the result is valid until the next call. */
export function packedFinder({
  tables,
}: Pick<OutputPlaces, 'tables'>): (place: number) => FoundPlace {
  const finders = tables.map(({ table }) => placeFinder(table));
  if (finders.length === 1 && !tables[0]!.skip) return finders[0]!;
  let joined: FoundPlace = { ...viewed(Buffer.alloc(1024)), from: 0 };
  return (place) => {
    let used = 0;
    for (const [index, find] of finders.entries()) {
      const { bytes, from: first } = find(place);
      const { skip = 0, width } = tables[index]!;
      const from = skipFields(bytes, first, skip);
      const to = skipFields(bytes, from, width);
      if (used + to - from > joined.bytes.length) {
        const grown = viewed(Buffer.alloc(2 * (used + to - from)));
        joined.bytes.copy(grown.bytes, 0, 0, used);
        joined = { ...grown, from: 0 };
      }
      used += bytes.copy(joined.bytes, used, from, to);
    }
    return joined;
  };
}

/** How many fields a row has. */
export function outputWidth(places: OutputPlaces): number {
  const { losses, empty } = places;
  const ofLosses = losses === null ? 0 : lossWidth(losses);
  return leadingWidth(places) + packedWidth(places) + ofLosses + empty;
}

/** Makes a function that gives the fields of a place, and of a row with a value: without one its losses are null. */
export function placeUnpacker(places: OutputPlaces): (place: number, value?: number) => Field[] {
  const { kinds, kindOf, times, losses, empty } = places;
  const packer = new FieldPacker(numberedTexts(places));
  const width = packedWidth(places);
  const find = packedFinder(places);
  let [last, lastText] = [Number.NaN, ''];
  return (place, value = Number.NaN) => {
    const fields: Field[] = [...kinds[kindOf[place]!]!];
    if (times !== null) {
      const time = times[place]!;
      // Places of one call follow each other.
      if (time !== last && !Number.isNaN(time))
        [last, lastText] = [time, new Date(time).toISOString()];
      fields.push(Number.isNaN(time) ? null : lastText);
    }
    const { bytes, from } = find(place);
    for (const field of packer.unpack(bytes, from, width)) fields.push(field);
    if (losses !== null) fields.push(...lossFields(losses, losses.numberOf[place]!, value));
    for (let left = empty; left > 0; left--) fields.push(null);
    return fields;
  };
}

/** Places whose fields are given as lists: rows with fields of their own, each a place. */
export interface ListedPlaces {
  readonly places: OutputPlaces;
  /** Takes the fields of some places in place of those before; they get the numbers from 0. @throws BUG for another number of fields */
  fill(rows: readonly (readonly Field[])[]): void;
}

const MEMORY_BYTES = 2 ** 20;
/** Unwritten pages take no memory. */
const MOST_MEMORY_BYTES = 2 ** 26;
const ROWS_AT_FIRST = 1024;
/** Texts with a tag of their own, which writers know as bytes; the others stand in each place. */
const MOST_SHORT_TEXTS = 256 - TAGS.firstText;

/** The places stay the same object while they have room: what writers make for them is kept.
 * @param width how many fields a place has
 * @param mostBytes of memory that is kept for later places */
export function listedPlaces(width: number, mostBytes = MOST_MEMORY_BYTES): ListedPlaces {
  const texts: string[] = [];
  const numbers = new Map<string, number>();
  const packer = new FieldPacker({
    numberOf(text) {
      const known = numbers.get(text);
      if (known !== undefined) return known;
      if (texts.length === MOST_SHORT_TEXTS || !isSharedText(text)) return -1;
      numbers.set(text, texts.length);
      return texts.push(text) - 1;
    },
    textOf: (number) => texts[number]!,
  });
  let memoryBytes = MEMORY_BYTES;
  let places = emptyPlaces(ROWS_AT_FIRST, width, memoryBytes, texts);

  function write(rows: readonly (readonly Field[])[], table: PlaceTable): void {
    clearPlaces(table);
    const writer = placeWriter(table);
    for (const [place, fields] of rows.entries()) {
      if (fields.length !== width)
        throw bug(`A row was given ${fields.length} fields for ${width}`);
      const packed = packer.pack(fields);
      writer.reserve(packed.length);
      writer.room.bytes.set(packed, writer.room.at);
      writer.end(place, packed.length);
    }
    writer.flush();
  }

  return {
    get places() {
      return places;
    },
    fill(rows) {
      if (rows.length > places.kindOf.length)
        places = emptyPlaces(2 * rows.length, width, memoryBytes, texts);
      for (;;) {
        const { table } = places.tables[0]!;
        // Finders that were made before do not know the blocks beyond the memory.
        const hadMore = table.more.size > 0;
        write(rows, table);
        if (table.more.size === 0 && !hadMore) return;
        if (memoryBytes === mostBytes) break;
        memoryBytes = Math.min(mostBytes, 2 * Math.max(memoryBytes, takenBytes(table)));
        places = emptyPlaces(places.kindOf.length, width, memoryBytes, texts);
      }
      places = { ...places };
    },
  };
}

function emptyPlaces(
  count: number,
  width: number,
  memoryBytes: number,
  texts: readonly string[],
): OutputPlaces {
  const kindOf = new Uint32Array(new SharedArrayBuffer(4 * count));
  const table = makePlaceTable(count, memoryBytes, null);
  const tables = [{ table, width }];
  const none = { times: null, losses: null, empty: 0, store: '' };
  return { tables, kinds: [[]], kindOf, texts, ...none };
}
