import { extname } from 'node:path';
import type { PerilbookError } from '../../errors.ts';
import { type CsvLayout, csvFeatures } from './csv-features.ts';
import { type FileFeature, geojsonFeatures } from './geojson-features.ts';
import { invalidFile } from './load-errors.ts';
import type { LoadReporter } from './load-report.ts';
import type { LoaderOptions } from './loader.ts';
import { shapefileFeatures } from './shapefile-features.ts';

/**
 * The features of a file of any of the forms in which agencies give places: CSV with coordinate columns, GeoJSON,
 * shapefile (or a zip of one). Rows of a CSV without coordinates are rejected.
 */
export function featuresIn(
  file: string,
  options: LoaderOptions,
  report: LoadReporter,
  form: CsvLayout = {},
): Iterable<FileFeature> | AsyncIterable<FileFeature> {
  switch (extname(file.replace(/\.gz$/i, '')).toLowerCase()) {
    case '.csv':
    case '.txt':
    case '.xlsx':
      return csvFeatures(file, options, report, form);
    case '.json':
    case '.geojson':
      return geojsonFeatures(file, report.holdsMore);
    case '.shp':
    case '.zip':
      return shapefileFeatures(file, report.note);
    default:
      throw unsupportedFormat(file);
  }
}

/** The refusal of a file whose name ends in a way that is not known. */
export function unsupportedFormat(file: string): PerilbookError {
  const hint = 'Name a .csv, .xlsx, .geojson, .json, .shp or .zip file; save a spreadsheet of another form as CSV.';
  return invalidFile(file, 'its form is not known', hint);
}
