import { bug } from '../base/errors.ts';
import { printable } from '../base/printable.ts';
import type { Field } from '../contract/answer.ts';
import {
  type AllPlaces,
  assertFieldCount,
  isWritten,
  type PlaceSink,
  type WriteRequest,
} from './port.ts';

/** Most encoded fields of places in a writer's memory: at most 8 bytes each, so 128 MB. */
const MOST_FIELDS = 2 ** 24;

/** Places held at once, if not all are held: a Map of them takes 5 MB. A full Map is cleared: keeping all places took 5 s of garbage
 * collection for a million rows at different places. */
const MOST_HELD = 131_072;

/** Encodes the fields of all places first, once for all files of a run with the same form; null if there are too many, or each row is one.
 * @param how the parameters of the form */
export async function encodedOnce<T>(
  { placed, added }: Pick<WriteRequest, 'placed' | 'added'>,
  how: string,
  encode: (all: AllPlaces) => Promise<T>,
): Promise<T | null> {
  const { all } = placed;
  if (all === undefined || all.count * added.length > MOST_FIELDS) return null;
  const made = (all.encoded?.get(how) as Promise<T> | undefined) ?? encode(all);
  all.encoded?.set(how, made);
  return await made;
}

/** Encodes the fields of places when their rows come, for files with too many places to encode all first.
 * @param given the number of places that the sink holds */
export function placeEntries(
  { placed }: Pick<WriteRequest, 'placed'>,
  sink: PlaceSink,
  given: () => number,
) {
  const held = new Map<number, number>();
  return {
    /** The entries of the next rows. The fields of places without an entry go to the sink and become the next entries. */
    async next(count: number): Promise<Int32Array<ArrayBuffer>> {
      const places = placed.next(count);
      if (held.size > MOST_HELD) held.clear();
      const before = given();
      const missing: number[] = [];
      for (const place of places) {
        if (held.has(place)) continue;
        held.set(place, before + missing.length);
        missing.push(place);
      }
      if (missing.length > 0) await placed.give(sink, missing);
      assertPlaceCount(before + missing.length, given());
      return places.map((place) => held.get(place)!);
    },
    /** The sink is empty again. */
    clear: () => held.clear(),
  };
}

/** @throws BUG unless each place has its fields */
export function assertPlaceCount(places: number, given: number): void {
  if (given === places) return;
  throw bug(`${places} places have the fields of ${given}`);
}

/** A sink that passes on the fields of each place as an array. */
export function placeFields(take: (place: number, fields: readonly Field[]) => void): PlaceSink {
  let place = 0;
  let fields: Field[] = [];
  return {
    put: (field) => fields.push(field),
    putMillionths: (millionths) => fields.push(millionths / 1e6),
    putText: (text) => fields.push(text),
    endPlace() {
      take(place++, fields);
      fields = [];
    },
  };
}

/** Puts all fields of a place. */
export function putPlace(sink: PlaceSink, fields: readonly Field[]): void {
  putFields(sink, fields);
  sink.endPlace();
}

export function putFields(sink: PlaceSink, fields: readonly Field[]): void {
  for (const field of fields) sink.put(field);
}

/** Makes a function that returns the fields of the next rows as arrays; neighbouring rows of one place share one.
 * @param finish converts the fields of a place; default: their form in a file (`writtenFields`) */
export function rowFields(
  request: Pick<WriteRequest, 'placed' | 'added'>,
  finish = (fields: readonly Field[]) => writtenFields(request, fields),
): (count: number) => Promise<readonly (readonly Field[])[]> {
  let made: (readonly Field[])[] = [];
  const sink = placeFields((_, fields) => {
    assertFieldCount(request, fields.length);
    made.push(finish(fields));
  });
  const entries = placeEntries(request, sink, () => made.length);
  return async (count) => {
    made = [];
    entries.clear();
    return Array.from(await entries.next(count), (entry) => made[entry]!);
  };
}

/** Fields with the control characters of a service's texts as escapes: a terminal that shows the file would obey them. */
function writtenFields(
  { added }: Pick<WriteRequest, 'added'>,
  fields: readonly Field[],
): readonly Field[] {
  return fields.map((field, index) =>
    typeof field === 'string' && isWritten(added[index]!) ? printable(field) : field,
  );
}
