import type { Field } from '../../contract/answer.ts';
import { type Location, locationOf } from '../../geo/coordinates.ts';
import type { RunContext } from '../frame/run-context.ts';
import type { Plan } from '../plan/planning.ts';
import type { CellTable } from '../scan/cell-table.ts';
import { fieldsOfPlaces } from './output-fields.ts';

export interface CellOfInput {
  readonly number: number;
  readonly location: Location;
  readonly rows: number;
  /** In units (`CellTable`). */
  readonly value: number;
}

/** A cell and the fields that the output adds to each of its rows, but its losses. */
export interface EnrichedCell extends CellOfInput {
  readonly fields: readonly Field[];
}

/** Cells of the input with their present fields of the output, in batches, but those that are skipped. Buys nothing, writes nothing. */
export async function* enrichedCells(
  prepared: RunContext & { readonly plan: Plan },
  isSkipped: (cell: number) => boolean = () => false,
): AsyncGenerator<EnrichedCell[], void> {
  const { plan } = prepared;
  const { cells } = plan.scan;
  function* numbers() {
    for (let number = 0; number < cells.size; number++) if (!isSkipped(number)) yield number;
  }
  for await (const batch of fieldsOfPlaces(prepared, plan, numbers()))
    yield batch.map(
      ([number, fields]): EnrichedCell => ({ ...cellOfInput(cells, number), fields }),
    );
}

export function cellOfInput(cells: CellTable, number: number): CellOfInput {
  return {
    number,
    location: locationOf(cells.cell(number)),
    rows: cells.rows(number),
    value: cells.value(number),
  };
}

/** The locations of the cells, in file order. */
export function* locationsOf(cells: CellTable): Generator<Location> {
  for (let number = 0; number < cells.size; number++) yield locationOf(cells.cell(number));
}
