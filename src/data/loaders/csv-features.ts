import { basename } from 'node:path';
import { csvTable } from './csv-records.ts';
import type { FileFeature } from './geojson-features.ts';
import type { LoadReporter } from './load-report.ts';
import type { LoaderOptions } from './loader.ts';
import { numberIn, propertiesOf } from './named-columns.ts';

/** What the agencies call the columns, the surest names first. */
export const LATITUDES = [
  'LATITUDE83',
  'latdec',
  'LATITUDE',
  'LAT',
  'Latitude Decimal',
  'PRIMARY_LATITUDE_DECIMAL_VAL',
  'Y',
];
const LONGITUDES = [
  'LONGITUDE83',
  'londec',
  'LONGITUDE',
  'LNG',
  'LON',
  'LONG',
  'Longitude Decimal',
  'PRIMARY_LONGITUDE_DECIMAL_VAL',
  'X',
];

/** How a table of points differs from a plain one. */
export interface CsvLayout {
  /** Whether a row goes on with the names of the header. */
  readonly isHeading?: (cells: readonly string[]) => boolean;
  /** Why a row is no record, such as a total; null when it is one. */
  readonly skip?: (cells: readonly string[]) => string | null;
}

/**
 * The rows of a CSV as points. The coordinates are those of the columns named by the options, or known by their names, and
 * leave the properties for the geometry; all else stays as given, as text, but for blank cells.
 */
export function* csvFeatures(
  file: string,
  options: LoaderOptions,
  report: LoadReporter,
  form: CsvLayout = {},
): Generator<FileFeature> {
  const { columns, rows } = csvTable(file);
  const lat = columns.need(...(options.lat === undefined ? LATITUDES : [options.lat]));
  const lng = columns.need(...(options.lng === undefined ? LONGITUDES : [options.lng]));
  const skipped = new Set([lat, lng]);
  let { names } = columns;
  for (const { line, cells, unended } of rows) {
    if (unended) report.note(noteOfUnended(file));
    if (form.isHeading?.(cells)) {
      names = names.map((name, place) => `${name} ${cells[place] ?? ''}`.trim());
      report.reject('a second row of headings', line, cells);
      continue;
    }
    const reason = form.skip?.(cells) ?? null;
    if (reason !== null) {
      report.reject(reason, line, cells);
      continue;
    }
    const place = pointOf(cells[lat], cells[lng]);
    if (typeof place === 'string') {
      report.reject(place, line, cells);
      continue;
    }
    yield {
      line,
      geometry: { type: 'Point', coordinates: place },
      properties: propertiesOf(names, cells, skipped),
    };
  }
}

/** What a report says of a file whose last cell may be cut. */
export function noteOfUnended(file: string): string {
  return `The last line of ${basename(file)} has no line end: if the download broke off there, its last cell is cut.`;
}

/** [lng, lat] of two cells, or why they are none. */
export function pointOf(latCell: string | undefined, lngCell: string | undefined): [number, number] | string {
  if ((latCell ?? '').trim() === '' || (lngCell ?? '').trim() === '') return 'the coordinates are blank';
  const [lat, lng] = [numberIn(latCell), numberIn(lngCell)];
  if (lat === null || lng === null) return 'the coordinates are no decimal numbers';
  if (lat === 0 && lng === 0) return 'the coordinates are 0 and 0, which stands for none';
  if (Math.abs(lat) > 90 || Math.abs(lng) > 180) return 'the coordinates are beyond 90 and 180 degrees';
  return [lng, lat];
}
