import type { Field } from '../contract/answer.ts';
import { PerilbookError } from '../errors.ts';
import { printable } from '../printable.ts';
import { assertFieldCount, isWritten, type PlacedFields, type PlaceSink, type WriteRequest } from './port.ts';

/** Fields of places that a writer may hold, encoded: 8 bytes each at most, so 128 MB. */
const MOST_FIELDS = 2 ** 24;

/** Places that are held at once, where not all are: a Map of them takes 5 MB. It is emptied when it is full: to keep them all took 5 s of
 * garbage collections for a million rows that share nothing. */
const MOST_HELD = 131_072;

/** Whether a writer may encode the fields of all places before it writes the first row. */
export function fitsMemory({ placed, added }: Pick<WriteRequest, 'placed' | 'added'>): boolean {
  return placed.count * added.length <= MOST_FIELDS;
}

/** What is made of the fields of all places: once for all files of a run that write them alike.
 * @param how what it depends on */
export async function encodedOnce<T>({ encoded }: PlacedFields, how: string, encode: () => Promise<T>): Promise<T> {
  const made = (encoded?.get(how) as Promise<T> | undefined) ?? encode();
  encoded?.set(how, made);
  return await made;
}

/** Encodes the fields of places as their rows come, where they are too many to encode all before. */
export interface PlaceEntries {
  /** The entries of the next rows. The fields of places that have none yet are given to the sink: they are the next entries. */
  next(count: number): Promise<Int32Array<ArrayBuffer>>;
  /** Begins anew with entry 0: the sink has forgotten all. */
  clear(): void;
}

export function placeEntries({ placed }: Pick<WriteRequest, 'placed'>, sink: PlaceSink): PlaceEntries {
  const held = new Map<number, number>();
  let entries = 0;
  const counting = {
    ...sink,
    endPlace() {
      entries++;
      sink.endPlace();
    },
  };
  return {
    async next(count) {
      const places = placed.next(count);
      if (held.size > MOST_HELD) held.clear();
      const missing: number[] = [];
      for (const place of places) {
        if (held.has(place)) continue;
        held.set(place, entries + missing.length);
        missing.push(place);
      }
      const wanted = entries + missing.length;
      if (missing.length > 0) await placed.give(counting, missing);
      assertPlaceCount(wanted, entries);
      return places.map((place) => held.get(place)!);
    },
    clear() {
      held.clear();
      entries = 0;
    },
  };
}

/** @throws BUG unless each place has its fields */
export function assertPlaceCount(places: number, given: number): void {
  if (given === places) return;
  throw new PerilbookError('BUG', `${places} places have the fields of ${given}`, 'Please report this.');
}

/** A sink that gives the fields of each place as an array. */
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

/** Makes a function that gives the fields of the next rows as arrays; neighbours of one place share one.
 * @param finish what becomes of the fields of a place; left out: they are as they are written to a file (`writtenFields`) */
export function rowFields(
  request: Pick<WriteRequest, 'placed' | 'added'>,
  finish = (fields: readonly Field[]) => writtenFields(request, fields),
): (count: number) => Promise<readonly (readonly Field[])[]> {
  let made: (readonly Field[])[] = [];
  const sink = placeFields((_, fields) => {
    assertFieldCount(request, fields.length);
    made.push(finish(fields));
  });
  const entries = placeEntries(request, sink);
  return async (count) => {
    made = [];
    entries.clear();
    return Array.from(await entries.next(count), (entry) => made[entry]!);
  };
}

/** Fields with the control characters of texts as escapes: they come from a service, and a terminal that shows the file would obey
 * them. Kept columns and points stay as they are. */
function writtenFields({ added }: Pick<WriteRequest, 'added'>, fields: readonly Field[]): readonly Field[] {
  return fields.map((field, index) =>
    typeof field === 'string' && isWritten(added[index]!) ? printable(field) : field,
  );
}
