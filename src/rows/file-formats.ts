import { extname } from 'node:path';
import { PerilbookError } from '../errors.ts';
import { isZip } from '../formats/bytes/unpack.ts';
import { csvRowFile } from './csv/csv-row-file.ts';
import type { CsvOptions } from './csv/dialect.ts';
import { newCsvWriter } from './csv/new-csv.ts';
import { extensionOf, withoutCompression } from './files/compression.ts';
import { isParquet, refuseOtherFormats } from './files/file-signature.ts';
import type { InputFile } from './files/input-file.ts';
import type { WriteNewFile } from './files/row-output.ts';
import { geojsonRowFile, isGeojson } from './json/geojson-row-file.ts';
import { isNdjson, ndjsonRowFile } from './json/ndjson-row-file.ts';
import { writeNewGeojson, writeNewNdjson } from './json/new-json.ts';
import type { RowFile } from './port.ts';
import type { XlsxOptions } from './xlsx/xlsx-row-file.ts';

/** What a user may say of an input that its content would otherwise decide. */
export type OpenOptions = CsvOptions & XlsxOptions;

/** How files of a format are recognised and opened. */
export interface FormatReading {
  /** Whether a file is of this format. The first of the table that says so opens it. */
  isIn(input: InputFile): boolean;
  open(input: InputFile, options: OpenOptions): Promise<RowFile>;
  /** A user may name one of its sheets. */
  readonly hasSheets?: boolean;
  /** As messages name it, where a file has no line that names the columns. */
  readonly withoutHeader?: string;
}

/** How rows of any format become a new file. */
export interface FormatMaking {
  /** Whether each value has a type, or each column, as nulls then have; with none each value stays the text that it is. */
  readonly typesOf: 'values' | 'columns' | 'none';
  /** Each of its columns needs a name of its own. */
  readonly hasDistinctNames: boolean;
  readonly write: WriteNewFile;
}

interface FileFormat {
  /** As `RowFile.format` says it. */
  readonly name: string;
  /** Outputs with these extensions are to be of it. */
  readonly extensions: readonly string[];
  /** Extensions that a copy of a file may have besides: they stand for several formats. */
  readonly ofCopies?: readonly string[];
  /** What a file is that is compressed inside: it is not compressed once more. */
  readonly compressed?: string;
  /** A row has the members that it has: columns are found by their names. */
  readonly isOfObjects?: boolean;
  /** Left out where the reading of another format finds it. */
  readonly reading?: FormatReading;
  /** Left out where only a file of the format becomes one. */
  readonly making?: FormatMaking;
}

/**
 * The formats of rows, in the order in which they are tried for a file. All else of a format is in its folder. Workbooks and Parquet
 * files bring 40 modules, which a start with a CSV file need not wait for: 30 ms.
 */
const FILE_FORMATS: readonly FileFormat[] = [
  {
    name: 'xlsx',
    extensions: ['.xlsx'],
    compressed: 'an Excel workbook',
    reading: {
      isIn: ({ head }) => isZip(head),
      open: async (...given) => (await import('./xlsx/xlsx-row-file.ts')).xlsxRowFile(...given),
      hasSheets: true,
    },
    making: {
      typesOf: 'values',
      hasDistinctNames: false,
      write: async (...given) => (await import('./xlsx/new-xlsx.ts')).writeNewXlsx(...given),
    },
  },
  // With macros, which a new workbook would not have.
  { name: 'xlsm', extensions: ['.xlsm'], compressed: 'an Excel workbook' },
  {
    name: 'parquet',
    extensions: ['.parquet', '.pq'],
    compressed: 'a Parquet file',
    reading: {
      isIn: ({ head }) => isParquet(head),
      open: async (input) => (await import('./parquet/parquet-row-file.ts')).parquetRowFile(input),
      withoutHeader: 'Parquet',
    },
    making: {
      typesOf: 'columns',
      hasDistinctNames: true,
      write: async (...given) => (await import('./parquet/new-parquet.ts')).writeNewParquet(...given),
    },
  },
  // Before GeoJSON: a value in one of its lines may be a FeatureCollection.
  {
    name: 'ndjson',
    extensions: ['.ndjson', '.jsonl'],
    ofCopies: ['.json'],
    isOfObjects: true,
    reading: {
      isIn: isNdjson,
      open: async (input) => ndjsonRowFile(input),
      withoutHeader: 'NDJSON',
    },
    making: {
      typesOf: 'values',
      hasDistinctNames: true,
      write: writeNewNdjson,
    },
  },
  {
    name: 'geojson',
    extensions: ['.geojson'],
    ofCopies: ['.json'],
    isOfObjects: true,
    reading: {
      isIn: ({ head }) => isGeojson(head),
      open: geojsonRowFile,
      withoutHeader: 'GeoJSON',
    },
    making: { typesOf: 'values', hasDistinctNames: true, write: writeNewGeojson },
  },
  { name: 'tsv', extensions: ['.tsv'], making: delimited('\t') },
  {
    name: 'csv',
    extensions: ['.csv'],
    reading: {
      isIn: () => true,
      async open(input, options) {
        refuseOtherFormats(input.name, input.head);
        return csvRowFile(input, options);
      },
    },
    making: delimited(','),
  },
];

function delimited(delimiter: ',' | '\t'): FormatMaking {
  return { typesOf: 'none', hasDistinctNames: false, write: newCsvWriter(delimiter) };
}

/** The format of that name, which is one of the table. */
export function formatNamed(name: string): FileFormat {
  return FILE_FORMATS.find((format) => format.name === name)!;
}

/** The reading of a file, of formats that are compressed inside or of texts; null where none of them takes it. */
export function readingOf(input: InputFile, isCompressed: boolean): FormatReading | null {
  const formats = FILE_FORMATS.filter(({ compressed }) => (compressed !== undefined) === isCompressed);
  return formats.find(({ reading }) => reading?.isIn(input))?.reading ?? null;
}

/** The format that the name of an output asks for; null when it says nothing: then it is the input's. */
export function formatOfOutput(output: string): string | null {
  if (output === '-') return null;
  const extension = extname(withoutCompression(output.toLowerCase()));
  return FILE_FORMATS.find(({ extensions }) => extensions.includes(extension))?.name ?? null;
}

/** Extensions of files that cannot be written. */
const NOT_WRITTEN: readonly string[] = [
  ...['.bz2', '.xz', '.zip', '.7z', '.rar', '.tar', '.tgz', '.br', '.lz4', '.z', '.snappy', '.sz'],
  ...['.xls', '.xlsb', '.ods', '.shp', '.gpkg', '.kml', '.feather', '.arrow', '.orc', '.avro', '.html', '.pdf'],
];

/** Refuses an output whose name means a format that cannot be written. @throws OUTPUT_UNWRITABLE */
export function checkFormat(output: string, format: string): void {
  if (output === '-') return;
  const ending = extensionOf(output).toLowerCase();
  const extension = withoutCompression(ending);
  const asked = formatOfOutput(output);
  const { compressed } = formatNamed(asked ?? format);
  if (compressed !== undefined && ending !== extension) throw unmade(output, `${compressed} is compressed inside`);
  // Another workbook has no macros.
  if (format === 'xlsm' && asked === 'xlsx') throw unmade(output, 'a workbook with macros is written as .xlsm only');
  const isMade = asked === null || asked === format || formatNamed(asked).making !== undefined;
  const named = FILE_FORMATS.filter(({ ofCopies }) => ofCopies?.includes(extension));
  const isCopy = named.length === 0 || named.some(({ name }) => name === format);
  if (!isMade || !isCopy || NOT_WRITTEN.includes(extension)) {
    throw unmade(output, `this input gives no ${extension} file`);
  }
}

function unmade(output: string, why: string): PerilbookError {
  const made = FILE_FORMATS.filter(({ making }) => making !== undefined).map(({ extensions }) => extensions[0]!);
  const names = made
    .toReversed()
    .join(', ')
    .replace(/, (?!.*, )/, ' or ');
  const hint = `Name it ${names}, or as the input is called; .gz and .zst compress a text.`;
  return new PerilbookError('OUTPUT_UNWRITABLE', `Cannot write ${output}: ${why}`, hint, { file: output });
}
