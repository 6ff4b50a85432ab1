import type { Field } from '../../contract/answer.ts';
import { type Location, locationOf } from '../../geo/coordinates.ts';
import type { RunContext } from '../frame/run-context.ts';
import type { Plan } from '../plan/planning.ts';
import type { CellTable } from '../scan/cell-table.ts';
import type { Scan } from '../scan/scan-input.ts';
import { fieldsOfPlaces } from './output-fields.ts';

export interface CellOfInput {
  readonly number: number;
  /** The number of the group of its rows (`RowGroups`): rows with codes of their own may be in several. */
  readonly group: number;
  readonly location: Location;
  readonly rows: number;
  /** In units (`CellTable`). */
  readonly value: number;
}

/** A cell and the fields that the output adds to each of its rows, but its losses. */
export interface EnrichedCell extends CellOfInput {
  readonly fields: readonly Field[];
}

/** Cells of the input with their present fields of the output, by groups of their rows, in batches, but those that are skipped. Buys nothing,
 * writes nothing. */
export async function* enrichedCells(
  prepared: RunContext & { readonly plan: Plan },
  isSkipped: (group: number) => boolean = () => false,
): AsyncGenerator<EnrichedCell[], void> {
  const { plan } = prepared;
  const { scan } = plan;
  function* groups() {
    for (let group = 0; group < scan.groups.size; group++) if (!isSkipped(group)) yield group;
  }
  for await (const batch of fieldsOfPlaces(prepared, plan, groups()))
    yield batch.map(([group, fields]): EnrichedCell => ({ ...cellOfInput(scan, group), fields }));
}

/** The cell of a group of rows, with how many rows and what value the group has. */
export function cellOfInput(
  { cells, groups }: Pick<Scan, 'cells' | 'groups'>,
  group: number,
): CellOfInput {
  const number = groups.cellOf(group);
  return {
    number,
    group,
    location: locationOf(cells.cell(number)),
    rows: groups.rows(group),
    value: groups.value(group),
  };
}

/** The locations of the cells, in file order. */
export function* locationsOf(cells: CellTable): Generator<Location> {
  for (let number = 0; number < cells.size; number++) yield locationOf(cells.cell(number));
}
