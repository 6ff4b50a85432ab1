import { extname } from 'node:path';
import { PerilbookError } from '../errors.ts';
import { extensionOf } from './files/compression.ts';

/** Formats that a table of texts can be written in. */
export type TextFormat = 'csv' | 'tsv' | 'ndjson';

/** Every format that an output can be asked for in by its name. */
export type OutputFormat = TextFormat | 'parquet' | 'xlsx' | 'xlsm';

const BY_EXTENSION: Readonly<Record<string, OutputFormat>> = {
  '.xlsx': 'xlsx',
  '.xlsm': 'xlsm',
  '.parquet': 'parquet',
  '.pq': 'parquet',
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

/** The format that the name of an output asks for; null when it says nothing: then it is the input's. */
export function formatOfOutput(output: string): OutputFormat | null {
  const name = output.toLowerCase().replace(/\.(?:gz|zst|zstd)$/, '');
  return output === '-' ? null : (BY_EXTENSION[extname(name)] ?? null);
}

/** Formats that are known by these names, and by which books are read in them; none can be made from another. */
const NOT_MADE: Readonly<Record<string, readonly string[]>> = {
  '.geojson': ['geojson'],
  '.json': ['geojson', 'ndjson'],
  // Another workbook has other sheets and macros, which a new one would not have.
  '.xlsm': ['xlsm'],
  ...Object.fromEntries(
    [
      ...['.bz2', '.xz', '.zip', '.7z', '.rar', '.tar', '.tgz', '.br', '.lz4', '.z', '.snappy', '.sz'],
      ...['.xls', '.xlsb', '.ods', '.shp', '.gpkg', '.kml', '.feather', '.arrow', '.orc', '.avro', '.html', '.pdf'],
    ].map((extension) => [extension, []]),
  ),
};

/** Formats whose files are compressed inside. */
const COMPRESSED_INSIDE: Readonly<Record<string, string>> = {
  parquet: 'a Parquet file',
  xlsx: 'an Excel workbook',
  xlsm: 'an Excel workbook',
};

/** Refuses an output whose name means a format that cannot be written. @throws OUTPUT_UNWRITABLE */
export function checkFormat(output: string, format: string): void {
  if (output === '-') return;
  const ending = extensionOf(output).toLowerCase();
  const extension = ending.replace(/\.(?:gz|zst|zstd)$/, '');
  const packed = ending === extension ? undefined : COMPRESSED_INSIDE[formatOfOutput(output) ?? format];
  if (packed === undefined && format === 'xlsm' && extension === '.xlsx')
    throw unmade(output, 'a workbook with macros is written as .xlsm only');
  if (packed === undefined && (NOT_MADE[extension]?.includes(format) ?? true)) return;
  throw unmade(
    output,
    packed === undefined ? `this input gives no ${extension} file` : `${packed} is compressed inside`,
  );
}

function unmade(output: string, why: string): PerilbookError {
  const hint =
    'Name it .csv, .tsv, .ndjson, .parquet or .xlsx, or as the input is called; .gz and .zst compress a text.';
  return new PerilbookError('OUTPUT_UNWRITABLE', `Cannot write ${output}: ${why}`, hint, { file: output });
}
