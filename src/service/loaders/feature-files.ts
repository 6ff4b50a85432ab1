import { extname } from 'node:path';
import { PerilbookError } from '../../errors.ts';
import { type CsvForm, csvFeatures } from './csv-features.ts';
import { type FileFeature, geojsonFeatures } from './geojson-features.ts';
import type { OpenReport } from './load-report.ts';
import type { LoaderOptions } from './loader.ts';
import { shapefileFeatures } from './shapefile-features.ts';

/**
 * The features of a file of any of the forms in which agencies give places: CSV with coordinate columns, GeoJSON,
 * shapefile (or a zip of one). Rows of a CSV without coordinates are rejected.
 */
export function featuresIn(
  file: string,
  options: LoaderOptions,
  report: OpenReport,
  form: CsvForm = {},
): Iterable<FileFeature> | AsyncIterable<FileFeature> {
  switch (extname(file).toLowerCase()) {
    case '.csv':
    case '.txt':
      return csvFeatures(file, options, report, form);
    case '.json':
    case '.geojson':
      return geojsonFeatures(file);
    case '.shp':
    case '.zip':
      return shapefileFeatures(file);
    default:
      throw new PerilbookError(
        'SERVICE_DATA',
        `Cannot load "${file}": its form is not known`,
        'Name a .csv, .geojson, .json, .shp or .zip file; save a spreadsheet as CSV.',
        { file },
      );
  }
}
