import { extname } from 'node:path';
import { PerilbookError } from '../../base/errors.ts';
import { isZip } from '../../formats/bytes/unpack.ts';
import { csvRowFile, newCsvWriter } from '../csv/csv-row-file.ts';
import { DELIMITED_FORMATS } from '../csv/dialect.ts';
import { extensionOf, withoutCompression } from '../files/compression.ts';
import { isParquet, refuseOtherFormats } from '../files/file-signature.ts';
import type { InputFile } from '../files/input-file.ts';
import type { WriteNewFile } from '../files/row-output.ts';
import { isGeojson, isTopojson } from '../json/find-objects.ts';
import { geojsonRowFile, topojsonRowFile } from '../json/geojson-row-file.ts';
import {
  isJsonObjects,
  isNdjson,
  jsonObjectsRowFile,
  ndjsonRowFile,
  writeNewNdjson,
} from '../json/ndjson-row-file.ts';
import { writeNewFeatureLines, writeNewGeojson } from '../json/write-geojson.ts';
import type { OpenOptions, RowFile } from '../port.ts';

export interface FormatReading {
  /** Whether a file is of this format. The first match in the table opens the file. */
  isIn(input: InputFile): boolean;
  open(input: InputFile, options: OpenOptions): Promise<RowFile>;
  /** Whether the user may name a sheet. */
  readonly hasSheets?: boolean;
  /** Its name for people. */
  readonly title: string;
  /** Its files have no line of column names. */
  readonly isWithoutHeader?: true;
}

/** How to write rows of any format as a new file. */
export interface FormatMaking {
  /** Whether each value or each column (nulls too) has a type; without types, values stay texts. */
  readonly typesOf: 'values' | 'columns' | 'none';
  /** Column names must be unique. */
  readonly hasDistinctNames: boolean;
  /** Each row becomes a feature: it gets a point. */
  readonly isOfFeatures: boolean;
  /** Refuses more rows or columns than a file of the format can have. @throws OUTPUT_UNWRITABLE */
  readonly checkRoom?: (output: string, rows: number, columns: number) => Promise<void>;
  readonly write: WriteNewFile;
}

interface FileFormat {
  /** The value of `RowFile.format`. */
  readonly name: string;
  /** Extensions of outputs in this format. */
  readonly extensions: readonly string[];
  /** Further extensions that a copy of a file may keep; they stand for several formats. */
  readonly ofCopies?: readonly string[];
  /** The kind of a file with internal compression, which is not compressed again. */
  readonly compressed?: string;
  /** Its rows and columns are limited. */
  readonly isSheet?: true;
  /** Rows are objects: columns are found by name. */
  readonly isOfObjects?: boolean;
  /** Absent if another format's reader reads it. */
  readonly reading?: FormatReading;
  /** Absent if only a file of the same format can become one. */
  readonly making?: FormatMaking;
}

/** What no other format is. */
const DELIMITED_READING: FormatReading = {
  title: 'CSV',
  isIn: () => true,
  async open(input, options) {
    refuseOtherFormats(input.name, input.head);
    return csvRowFile(input, options);
  },
};

/** Well-known endings of files that are never written: a table of that name would open in no program. Some are read, by their first bytes. */
const NOT_WRITTEN = {
  compressed:
    '.bz2 .tbz2 .xz .txz .lzma .zip .7z .rar .tar .tgz .br .lz4 .lzo .lz .z .snappy .sz .iso .dmg',
  office:
    '.xls .xlsb .xlt .xltx .xltm .xlam .ods .fods .ots .numbers .doc .docx .docm .odt .rtf .ppt .pptx .pages .pdf .one',
  markup: '.html .htm .xhtml .xml .svg .md .tex .yaml .yml .toml .ini .sql .log .msg .eml',
  statistics: '.dta .sav .zsav .por .sas7bdat .xpt .rds .rda .rdata .mat .wk1 .wks .dif .slk .prn',
  columnar: '.feather .ipc .arrow .arrows .orc .avro .pb .h5 .hdf .hdf5 .nc .pkl .pickle .npy .npz',
  database: '.db .db3 .sqlite .sqlite3 .duckdb .mdb .accdb .mdf .bak .dump .dbf',
  geography:
    '.shp .shx .prj .gpkg .fgb .gdb .kml .kmz .gpx .gml .mbtiles .pmtiles .mif .mid .wkt .wkb .dxf .dwg .tif .tiff .geotiff .las .laz',
  picture: '.png .jpg .jpeg .gif .bmp .webp .mp4 .exe .dll',
};

/** The formats of rows, in the order of detection. The 40 modules of workbooks and Parquet are loaded only when needed (30 ms). */
const FILE_FORMATS: readonly FileFormat[] = [
  {
    name: 'xlsx',
    extensions: ['.xlsx'],
    compressed: 'an Excel workbook',
    reading: {
      isIn: ({ head }) => isZip(head),
      open: async (...given) => (await import('../xlsx/xlsx-row-file.ts')).xlsxRowFile(...given),
      title: 'Excel',
      hasSheets: true,
    },
    making: {
      typesOf: 'values',
      hasDistinctNames: false,
      isOfFeatures: false,
      checkRoom: async (...given) =>
        (await import('../xlsx/write-sheet.ts')).checkSheetRoom(...given),
      write: async (...given) => (await import('../xlsx/write-sheet.ts')).writeNewXlsx(...given),
    },
    isSheet: true,
  },
  // Workbooks with macros; a new workbook would lose them.
  { name: 'xlsm', extensions: ['.xlsm'], compressed: 'an Excel workbook', isSheet: true },
  {
    name: 'parquet',
    extensions: ['.parquet', '.pq', '.parq', '.geoparquet'],
    compressed: 'a Parquet file',
    reading: {
      isIn: ({ head }) => isParquet(head),
      open: async (input) => (await import('../parquet/parquet-row-file.ts')).parquetRowFile(input),
      title: 'Parquet',
      isWithoutHeader: true,
    },
    making: {
      typesOf: 'columns',
      hasDistinctNames: true,
      isOfFeatures: false,
      write: async (...given) => (await import('../parquet/write.ts')).writeNewParquet(...given),
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
      open: async (...given) => ndjsonRowFile(...given),
      title: 'NDJSON',
      isWithoutHeader: true,
    },
    making: {
      typesOf: 'values',
      hasDistinctNames: true,
      isOfFeatures: false,
      write: writeNewNdjson,
    },
  },
  {
    name: 'json',
    extensions: [],
    ofCopies: ['.json'],
    isOfObjects: true,
    reading: {
      isIn: isJsonObjects,
      open: async (...given) => jsonObjectsRowFile(...given),
      title: 'JSON',
      isWithoutHeader: true,
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
      title: 'GeoJSON',
      isWithoutHeader: true,
    },
    making: {
      typesOf: 'values',
      hasDistinctNames: true,
      isOfFeatures: true,
      write: writeNewGeojson,
    },
  },
  // A new topology would have no outlines.
  {
    name: 'topojson',
    extensions: ['.topojson'],
    ofCopies: ['.json'],
    isOfObjects: true,
    reading: {
      isIn: ({ head }) => isTopojson(head),
      open: topojsonRowFile,
      title: 'TopoJSON',
      isWithoutHeader: true,
    },
  },
  // A feature on each line is read as GeoJSON.
  {
    name: 'geojsonl',
    extensions: ['.geojsonl', '.ndgeojson'],
    isOfObjects: true,
    making: {
      typesOf: 'values',
      hasDistinctNames: true,
      isOfFeatures: true,
      write: writeNewFeatureLines,
    },
  },
  ...Object.entries(DELIMITED_FORMATS).map(
    ([name, { delimiter, extensions }]): FileFormat => ({
      name,
      extensions,
      reading: DELIMITED_READING,
      making: {
        typesOf: 'none',
        hasDistinctNames: false,
        isOfFeatures: false,
        write: newCsvWriter(delimiter),
      },
    }),
  ),
  ...Object.entries(NOT_WRITTEN).map(
    ([name, endings]): FileFormat => ({ name, extensions: endings.split(' ') }),
  ),
];

/** The formats that are read, by their names for people. */
export const READ_FORMATS: readonly string[] = [
  ...new Set(FILE_FORMATS.toReversed().flatMap(({ reading }) => reading?.title ?? [])),
];

/** The endings of outputs, by format: of those that any rows can become, and of those that only a copy of such a file has. @public */
export const OUTPUT_ENDINGS: readonly {
  readonly format: string;
  readonly endings: readonly string[];
  readonly isOfCopies: boolean;
}[] = FILE_FORMATS.filter(
  ({ name, extensions }) => !Object.hasOwn(NOT_WRITTEN, name) && extensions.length > 0,
).map(({ name, extensions, making }) => ({
  format: name,
  endings: extensions,
  isOfCopies: making === undefined,
}));

/** The format with a name from the table. */
export function formatNamed(name: string): FileFormat {
  return FILE_FORMATS.find((format) => format.name === name)!;
}

/** Whether files of a format have a line of column names, which a file may lack. */
export function hasHeaderLine(name: string): boolean {
  return formatNamed(name).reading?.isWithoutHeader !== true;
}

/** The reader of a file, among formats with internal compression or among texts; null if none matches. */
export function readingOf(input: InputFile, isCompressed: boolean): FormatReading | null {
  const formats = FILE_FORMATS.filter(
    ({ compressed }) => (compressed !== undefined) === isCompressed,
  );
  return formats.find(({ reading }) => reading?.isIn(input))?.reading ?? null;
}

/** The format by the name of an output; null if the name does not determine it and the input's format is used. */
export function formatOfOutput(output: string): string | null {
  if (output === '-') return null;
  const extension = extname(withoutCompression(output.toLowerCase()));
  return FILE_FORMATS.find(({ extensions }) => extensions.includes(extension))?.name ?? null;
}

/** How to write a format. @throws OUTPUT_UNWRITABLE where only a file of the same format can become one, or none */
export function makingOf(output: string, format: string): FormatMaking {
  const { making } = formatNamed(format);
  if (making === undefined)
    throw unmadeError(
      output,
      `this input cannot be written as ${extensionOf(output).toLowerCase()}`,
    );
  return making;
}

/** Refuses an output whose name means a format that cannot be written. @throws OUTPUT_UNWRITABLE */
export function checkFormat(output: string, format: string): void {
  if (output === '-') return;
  const ending = extensionOf(output).toLowerCase();
  const extension = withoutCompression(ending);
  const asked = formatOfOutput(output);
  const { compressed } = formatNamed(asked ?? format);
  if (compressed !== undefined && ending !== extension)
    throw unmadeError(output, `${compressed} is compressed inside`);
  // A new workbook has no macros.
  if (format === 'xlsm' && asked === 'xlsx')
    throw unmadeError(output, 'a workbook with macros is written as .xlsm only');
  const isMade = asked === null || asked === format || formatNamed(asked).making !== undefined;
  const named = FILE_FORMATS.filter(({ ofCopies }) => ofCopies?.includes(extension));
  const isCopy = named.length === 0 || named.some(({ name }) => name === format);
  if (isMade && !isCopy)
    throw unwritable(output, `${extension} is written only from a JSON input`, 'Name it .ndjson.');
  if (!isMade) throw unmadeError(output, `this input cannot be written as ${extension}`);
}

function unmadeError(output: string, why: string): PerilbookError {
  const made = FILE_FORMATS.filter(({ making }) => making !== undefined).map(
    ({ extensions }) => extensions[0]!,
  );
  const names = made
    .toReversed()
    .join(', ')
    .replace(/, (?!.*, )/, ' or ');
  return unwritable(
    output,
    why,
    `Name it ${names}, or as the input is called; .gz and .zst compress a text.`,
  );
}

function unwritable(output: string, why: string, hint: string): PerilbookError {
  return new PerilbookError('OUTPUT_UNWRITABLE', `Cannot write ${output}: ${why}`, hint, {
    file: output,
  });
}
