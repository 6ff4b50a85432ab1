import { decideLocation } from '../../src/rows/location/decide-location.ts';
import { readHead } from '../../src/rows/location/file-head.ts';
import type { LocationColumns } from '../../src/rows/location/location-columns.ts';
import type { NamedColumns } from '../../src/rows/location/named-columns.ts';
import type { OtherShapes, RowSource } from '../../src/rows/port.ts';

/** The columns of the location in a file of these names and no rows. */
export function locationByNames(
  names: readonly string[],
  named: NamedColumns = {},
  shapes?: OtherShapes,
): LocationColumns {
  return decideLocation({ columns: names, rows: [], asked: 0 }, names, named, { shapes }, 'in.csv');
}

/** The columns of the location in an opened file. */
export async function locationInFile(
  rowFile: RowSource,
  named: NamedColumns = {},
  file = 'in.csv',
): Promise<LocationColumns> {
  const head = await readHead(rowFile);
  return decideLocation(head, head.columns, named, rowFile, file);
}
