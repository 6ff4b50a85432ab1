import type { Readable, Writable } from 'node:stream';
import { PerilbookError } from '../errors.ts';
import { convertibleRowFile } from './convertible-row-file.ts';
import { csvRowFile } from './csv/csv-row-file.ts';
import type { CsvOptions } from './csv/dialect.ts';
import { isParquet, isZip, refuseOtherFormats } from './files/file-signature.ts';
import { type InputFile, openInput } from './files/input-file.ts';
import { unpackedInput } from './files/unpacked-input.ts';
import { utf8Input } from './files/utf16-files.ts';
import { geojsonRowFile, isGeojson } from './json/geojson-row-file.ts';
import { isNdjson, ndjsonRowFile } from './json/ndjson-row-file.ts';
import type { RowFile } from './port.ts';
import type { XlsxOptions } from './xlsx/xlsx-row-file.ts';

/** What a user may say of an input that its content would otherwise decide. */
export type OpenOptions = CsvOptions & XlsxOptions;

/** The streams that `-` stands for. */
export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** Opens an input, `-` for standard input: looks at its content (never at its name), finds its format and its columns. */
export async function openRowFile(file: string, options: OpenOptions = {}, streams?: Streams): Promise<RowFile> {
  const raw = await openInput(file, streams?.stdin);
  const convertible = (rowFile: RowFile, input = raw) => convertibleRowFile(rowFile, input, streams?.stdout);
  // Workbooks and Parquet files bring 40 modules, which a start with a CSV file need not wait for: 30 ms.
  if (isZip(raw.head)) {
    const { xlsxRowFile } = await import('./xlsx/xlsx-row-file.ts');
    return convertible(await xlsxRowFile(raw, options));
  }
  if (options.sheet !== undefined) throw unfitting(raw.name, 'a sheet is named', 'no Excel workbook', 'sheet');
  if (isParquet(raw.head)) {
    refuseHeaderLine(raw.name, options, 'Parquet');
    const { parquetRowFile } = await import('./parquet/parquet-row-file.ts');
    return convertible(await parquetRowFile(raw));
  }
  const input = await utf8Input(await unpackedInput(raw), options.encoding);
  if (input.head.length === 0) {
    const hint = 'Check that it was written: the first line must name the columns.';
    throw new PerilbookError('INPUT_UNREADABLE', `${input.name} is empty`, hint, { file });
  }
  return convertible(await textRowFile(input, options), input);
}

async function textRowFile(input: InputFile, options: OpenOptions): Promise<RowFile> {
  // NDJSON first: a value in one of its lines may be a FeatureCollection.
  if (isNdjson(input)) {
    refuseHeaderLine(input.name, options, 'NDJSON');
    return ndjsonRowFile(input);
  }
  if (isGeojson(input.head)) {
    refuseHeaderLine(input.name, options, 'GeoJSON');
    return await geojsonRowFile(input);
  }
  refuseOtherFormats(input.name, input.head);
  return csvRowFile(input, options);
}

function refuseHeaderLine(file: string, { headerLine }: OpenOptions, format: string): void {
  if (headerLine !== undefined)
    throw unfitting(file, 'a header line is named', `${format}, which has none`, 'header_line');
}

function unfitting(file: string, what: string, format: string, setting: string): PerilbookError {
  const hint = `Leave out --${setting.replace('_', '-')} (${setting}: in the job file).`;
  return new PerilbookError('USAGE', `${what[0]!.toUpperCase()}${what.slice(1)}, and ${file} is ${format}`, hint, {
    file,
  });
}
