import { bug } from '../../base/errors.ts';
import type { Field } from '../../contract/answer.ts';
import { damagedText } from './damaged-store.ts';
import { FieldPacker, type Texts } from './packed-fields.ts';
import { makePlaceTable, type PlaceTable, placeFinder, placeWriter } from './place-table.ts';

/** The fields of all places of an output, for writers: plain data, which threads share. The fields of a place are those of its kind, the
 * time of its answers, then the packed ones. */
export interface OutputPlaces {
  readonly table: PlaceTable;
  /** The first fields (status and note), by kind. Places have few. */
  readonly kinds: readonly (readonly Field[])[];
  /** The kind of each place. */
  readonly kindOf: Uint32Array<SharedArrayBuffer>;
  /** When the oldest answer of each place was given, in milliseconds since the epoch; NaN without an answer. Null: a place has no time. */
  readonly times: Float64Array<SharedArrayBuffer> | null;
  /** How many packed fields there are. */
  readonly width: number;
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

/** Makes a function that gives the fields of a place. */
export function placeUnpacker(places: OutputPlaces): (place: number) => Field[] {
  const { table, kinds, kindOf, times, width, empty } = places;
  const packer = new FieldPacker(numberedTexts(places));
  const find = placeFinder(table);
  let [last, lastText] = [Number.NaN, ''];
  return (place) => {
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

const NO_TEXTS = { texts: [], store: '' };
const MEMORY_BYTES = 2 ** 20;
const ROWS_AT_FIRST = 1024;

/** @param width how many fields a place has */
export function listedPlaces(width: number): ListedPlaces {
  const packer = new FieldPacker(numberedTexts(NO_TEXTS));
  let places = emptyPlaces(ROWS_AT_FIRST, width);
  return {
    get places() {
      return places;
    },
    fill(rows) {
      // A new table: of an old one, a finder may have kept what it has read.
      places = emptyPlaces(Math.max(ROWS_AT_FIRST, rows.length), width);
      const writer = placeWriter(places.table);
      for (const [place, fields] of rows.entries()) {
        if (fields.length !== width)
          throw bug(`A row was given ${fields.length} fields for ${width}`);
        const packed = packer.pack(fields);
        writer.reserve(packed.length);
        writer.room.bytes.set(packed, writer.room.at);
        writer.end(place, packed.length);
      }
      writer.flush();
    },
  };
}

function emptyPlaces(count: number, width: number): OutputPlaces {
  const kindOf = new Uint32Array(new SharedArrayBuffer(4 * count));
  const table = makePlaceTable(count, MEMORY_BYTES, null);
  return { table, kinds: [[]], kindOf, times: null, width, empty: 0, ...NO_TEXTS };
}
