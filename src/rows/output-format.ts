import { extname } from 'node:path';
import { PerilbookError } from '../errors.ts';
import { extensionOf } from './files/compression.ts';

/** Formats that a table of texts can be written in. */
export type TextFormat = 'csv' | 'tsv' | 'ndjson';

const BY_EXTENSION: Readonly<Record<string, TextFormat | 'parquet'>> = {
  '.parquet': 'parquet',
  '.pq': 'parquet',
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

/** The format that the name of an output asks for; null when it says nothing: then it is the input's. */
export function formatOfOutput(output: string): TextFormat | 'parquet' | null {
  const name = output.toLowerCase().replace(/\.(?:gz|zst|zstd)$/, '');
  return output === '-' ? null : (BY_EXTENSION[extname(name)] ?? null);
}

/** Formats that are known by these names, and by which books are read in them; none can be made from another. */
const NOT_MADE: Readonly<Record<string, readonly string[]>> = {
  '.geojson': ['geojson'],
  '.json': ['geojson', 'ndjson'],
  ...Object.fromEntries(
    ['.xlsx', '.xls', '.ods', '.shp', '.gpkg', '.kml', '.feather', '.arrow', '.orc', '.avro', '.html', '.pdf'].map(
      (extension) => [extension, []],
    ),
  ),
};

/** Refuses an output whose name promises a format that would not stand in it. @throws OUTPUT_UNWRITABLE */
export function checkFormat(output: string, format: string): void {
  if (output === '-') return;
  const ending = extensionOf(output).toLowerCase();
  const extension = ending.replace(/\.(?:gz|zst|zstd)$/, '');
  const isPacked = ending !== extension && (formatOfOutput(output) ?? format) === 'parquet';
  if (!isPacked && (NOT_MADE[extension]?.includes(format) ?? true)) return;
  throw new PerilbookError(
    'OUTPUT_UNWRITABLE',
    isPacked
      ? `Cannot write ${output}: a Parquet file is compressed inside`
      : `Cannot write ${output}: this input gives no ${extension} file`,
    'Name it .csv, .tsv, .ndjson or .parquet, or as the input is called.',
    { file: output },
  );
}
