import { locationOf } from '../geo/coordinates.ts';
import { pointText } from '../rows/parquet/geo-metadata.ts';
import type { PlaceSink } from '../rows/port.ts';
import type { CellTable } from './scan/cell-table.ts';
import type { Job } from './settings/settings.ts';

/**
 * Adds its point to the fields of each place, where the job asks for it: the location that was looked up, which is the row's own
 * rounded to the job's precision; null for a place that has none.
 *
 * @param places are the numbers of the places that come; left out: all, in their order
 */
export function withPoints(
  { geoparquet }: Pick<Job, 'geoparquet'>,
  cells: CellTable,
  sink: PlaceSink,
  places?: readonly number[],
): PlaceSink {
  if (!geoparquet) return sink;
  let index = 0;
  return {
    ...sink,
    endPlace() {
      const place = places?.[index] ?? index;
      index++;
      sink.put(place < cells.size ? pointOf(cells, place) : null);
      sink.endPlace();
    },
  };
}

function pointOf(cells: CellTable, number: number): string {
  const { lat, lng } = locationOf(cells.cell(number));
  return pointText(lat, lng);
}
