import { extname } from 'node:path';
import type { PerilbookError } from '../../errors.ts';
import { invalidFile } from './agency-file.ts';
import { type CsvLayout, csvFeatures } from './csv-features.ts';
import { type FileFeature, geojsonFeatures } from './geojson-features.ts';
import type { LoadReporter } from './load-report.ts';
import type { LoaderOptions } from './loader.ts';
import { shapefileFeatures } from './shapefile-features.ts';

/** The features of a file in any of the agencies' formats: CSV with coordinate columns, GeoJSON, or shapefile (or a zip
 * of one). Rows of a CSV without coordinates are rejected. */
export function featuresIn(
  file: string,
  options: LoaderOptions,
  report: LoadReporter,
  layout: CsvLayout = {},
): AsyncIterable<readonly FileFeature[]> {
  switch (extname(file.replace(/\.gz$/i, '')).toLowerCase()) {
    case '.csv':
    case '.txt':
    case '.xlsx':
      return csvFeatures(file, options, report, layout);
    case '.json':
    case '.geojson':
      return geojsonFeatures(file, () => {
        report.pages += 1;
      });
    case '.shp':
    case '.zip':
      return shapefileFeatures(file, (text) => report.note(text));
    default:
      throw unsupportedFormat(file);
  }
}

/** The error for a file with an unknown extension. */
export function unsupportedFormat(file: string): PerilbookError {
  const hint = 'Use a .csv, .xlsx, .geojson, .json, .shp or .zip file; save other spreadsheets as CSV.';
  return invalidFile(file, 'its format is not supported', hint);
}
