import { bug } from '../base/errors.ts';
import { printable } from '../base/printable.ts';
import type { Field } from '../contract/answer.ts';
import { type OutputPlaces, outputWidth, placeUnpacker } from '../formats/packed/output-places.ts';
import { assertFieldCount, isWritten, type PlacedRows, type WriteRequest } from './port.ts';

/** The places of the next rows. @throws BUG unless each row has a place, and each place a field for each added column */
export async function nextPlaces(
  request: Pick<WriteRequest, 'placed' | 'added'>,
  count: number,
): Promise<PlacedRows> {
  const placed = await request.placed.next(count);
  const { numbers, places } = placed;
  if (numbers.length !== count) throw bug(`${count} rows have the places of ${numbers.length}`);
  assertFieldCount(request, outputWidth(places));
  return placed;
}

/** Makes a function that returns the fields of the next rows as arrays; rows of one place share one.
 * @param finish converts the fields of a place; default: their form in a file (`writtenFields`) */
export function rowFields(
  request: Pick<WriteRequest, 'placed' | 'added'>,
  finish = (fields: readonly Field[]) => writtenFields(request, fields),
): (count: number) => Promise<readonly (readonly Field[])[]> {
  let unpack: ((place: number, value?: number) => Field[]) | null = null;
  let of: OutputPlaces | null = null;
  return async (count) => {
    const { numbers, places, values } = await nextPlaces(request, count);
    if (unpack === null || of !== places) [unpack, of] = [placeUnpacker(places), places];
    const made = new Map<number, readonly Field[]>();
    return Array.from(numbers, (place, row) => {
      if (values) return finish(unpack!(place, values[row]!));
      let fields = made.get(place);
      if (fields === undefined) {
        fields = finish(unpack!(place));
        made.set(place, fields);
      }
      return fields;
    });
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
