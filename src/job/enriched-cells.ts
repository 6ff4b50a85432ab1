import type { Field } from '../contract/answer.ts';
import { type Location, locationOf } from '../geo/coordinates.ts';
import type { Store } from '../store/port.ts';
import { cachedFields, cellReader } from './cell-fields.ts';
import type { Prepared } from './prepare.ts';
import type { CellTable } from './scan/cell-table.ts';

const CELLS_PER_READ = 250;

/** A cell with all its rows. */
export interface CellOfInput {
  readonly number: number;
  readonly location: Location;
  readonly rows: number;
  readonly value: number;
}

/** A cell and the fields that the output has behind each of its rows. */
export interface EnrichedCell extends CellOfInput {
  /** Null for a cell that the caller knows already. */
  readonly fields: readonly Field[] | null;
}

/** Where the cells lie, in the order of the file. */
export function* locationsOf(cells: CellTable): Generator<Location> {
  for (let number = 0; number < cells.size; number++) yield locationOf(cells.cell(number));
}

/** Every cell of the input as the output shows it now, in batches. Buys nothing, writes nothing. Cells that are known already are
 * not read. */
export async function* enrichedCells(
  prepared: Prepared,
  store: Store,
  isKnown: (cell: number) => boolean = () => false,
): AsyncGenerator<readonly EnrichedCell[]> {
  const { plan, cells: cache } = prepared;
  const { cells } = plan.scan;
  const readCells = await cellReader({ ...prepared, scan: plan.scan, store });
  for (let from = 0; from < cells.size; from += CELLS_PER_READ) {
    const numbers = Array.from({ length: Math.min(CELLS_PER_READ, cells.size - from) }, (_, index) => from + index);
    const fields = await cachedFields(
      numbers.filter((number) => !isKnown(number)),
      cache,
      readCells,
    );
    let next = 0;
    yield numbers.map((number) => ({
      number,
      location: locationOf(cells.cell(number)),
      rows: cells.rows(number),
      value: cells.value(number),
      fields: isKnown(number) ? null : fields[next++]!(),
    }));
  }
}
