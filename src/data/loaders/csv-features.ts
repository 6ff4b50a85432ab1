import { basename } from 'node:path';
import { numberIn, propertiesOf, tableRows } from './agency-table.ts';
import type { FileFeature } from './geojson-features.ts';
import type { LoadReporter } from './load-report.ts';
import type { LoaderOptions } from './loader.ts';

/** The agencies' names for the coordinate columns, the most reliable first. */
export const LATITUDES = 'LATITUDE83,latdec,LATITUDE,LAT,Latitude Decimal,PRIMARY_LATITUDE_DECIMAL_VAL,Y'.split(',');
const LONGITUDES = 'LONGITUDE83,londec,LONGITUDE,LNG,LON,LONG,Longitude Decimal,PRIMARY_LONGITUDE_DECIMAL_VAL,X'.split(
  ',',
);

/** What is special about an agency's table of points. */
export interface CsvLayout {
  /** Whether a row continues the header. */
  readonly isHeading?: (cells: readonly string[]) => boolean;
  /** Why a row, such as a total, is not a record; null when it is one. */
  readonly skip?: (cells: readonly string[]) => string | null;
}

/** The rows of a CSV as points. The coordinate columns are named by the options or recognized by name, and are left out
 * of the properties. Other cells stay as text, blank ones are left out. */
export function csvFeatures(
  file: string,
  options: LoaderOptions,
  report: LoadReporter,
  layout: CsvLayout = {},
): AsyncGenerator<readonly FileFeature[], void, void> {
  return tableRows(file, (columns) => {
    const lat = columns.need(...(options.lat === undefined ? LATITUDES : [options.lat]));
    const lng = columns.need(...(options.lng === undefined ? LONGITUDES : [options.lng]));
    const skipped = new Set([lat, lng]);
    let { names } = columns;
    return ({ line, cells, unended }): readonly FileFeature[] => {
      if (unended) report.note(noteOfUnended(file));
      const isHeading = layout.isHeading?.(cells) === true;
      if (isHeading) names = names.map((name, place) => `${name} ${cells[place] ?? ''}`.trim());
      const place = pointOf(cells[lat], cells[lng]);
      const reason = isHeading ? 'a second row of headings' : (layout.skip?.(cells) ?? null);
      if (reason !== null || typeof place === 'string') {
        report.reject(reason ?? (place as string), line, cells);
        return [];
      }
      const properties = propertiesOf(names, cells, skipped);
      return [{ line, geometry: { type: 'Point', coordinates: place }, properties }];
    };
  });
}

/** The note on a file whose last cell may be cut. */
export function noteOfUnended(file: string): string {
  return `The last line of ${basename(file)} has no line end: the download may have stopped there.`;
}

/** [lng, lat] of two cells, or why they are no coordinates. */
export function pointOf(latCell: string | undefined, lngCell: string | undefined): [number, number] | string {
  if ((latCell ?? '').trim() === '' || (lngCell ?? '').trim() === '') return 'the coordinates are blank';
  const [lat, lng] = [numberIn(latCell), numberIn(lngCell)];
  if (lat === null || lng === null) return 'the coordinates are not decimal numbers';
  if (lat === 0 && lng === 0) return 'the coordinates are 0 and 0, which means none';
  if (Math.abs(lat) > 90 || Math.abs(lng) > 180) return 'the coordinates are beyond 90 and 180 degrees';
  return [lng, lat];
}
