import type { Writable } from 'node:stream';
import { PerilbookError } from '../../base/errors.ts';
import { DELIMITED_FORMATS } from '../csv/dialect.ts';
import { type InputFile, type InputStreams, openInput } from '../files/input-file.ts';
import { unpackedInput, utf8Input } from '../files/streamed-input.ts';
import { withOwnFields } from '../kept-columns.ts';
import type { OpenOptions, RowFile } from '../port.ts';
import { type FormatReading, formatOfOutput, makingOf, readingOf } from './file-formats.ts';
import { checkNewTable, tableOfRows } from './new-table.ts';

/** The streams for `-`, and the signal that ends the wait for a pipe. */
export interface Streams extends InputStreams {
  readonly stdout: Writable;
}

/** Opens an input, `-` for standard input: detects its format and its columns by its content, never by its name. */
export async function openRowFile(
  file: string,
  options: OpenOptions = {},
  streams?: Streams,
): Promise<RowFile> {
  const raw = await openInput(file, streams);
  const packed = readingOf(raw, true);
  if (packed?.hasSheets !== true && options.sheet !== undefined) {
    throw unfitting(raw.name, 'a sheet is given', 'no Excel workbook', 'sheet');
  }
  if (packed !== null && options.encoding !== undefined) {
    const format = `${packed.title}, which states its own`;
    throw unfitting(raw.name, 'an encoding is given', format, 'encoding');
  }
  const input = packed === null ? await utf8Input(await unpackedInput(raw), options.encoding) : raw;
  if (input.head.length === 0) {
    const hint = 'Check that it was written: the first line must name the columns.';
    throw new PerilbookError('INPUT_UNREADABLE', `${input.name} is empty`, hint, { file });
  }
  const { open, title, isWithoutHeader }: FormatReading = packed ?? readingOf(input, false)!;
  if (options.headerLine !== undefined && isWithoutHeader) {
    throw unfitting(
      input.name,
      'a header line is given',
      `${title}, which has none`,
      'header_line',
    );
  }
  return writingAnyFormat(await open(input, options), input, streams?.stdout);
}

function unfitting(file: string, what: string, format: string, setting: string): PerilbookError {
  const hint = `Leave out --${setting.replace('_', '-')} (${setting}: in the job file).`;
  return new PerilbookError(
    'USAGE',
    `${what[0]!.toUpperCase()}${what.slice(1)}, and ${file} is ${format}`,
    hint,
    {
      file,
    },
  );
}

/** A row file that writes its own format byte for byte, and a new file of another format when the name of the output asks for it. */
function writingAnyFormat(rowFile: RowFile, input: InputFile, stdout?: Writable): RowFile {
  return {
    ...rowFile,
    checkRoom: async (shape) => {
      const format = otherFormat(rowFile, input.name, shape.output);
      if (format === null) await rowFile.checkRoom?.(shape);
      else await checkNewTable(rowFile, format, shape);
    },
    write: (request) =>
      withOwnFields(rowFile, { ...request, stdout }, async (all) => {
        const format = otherFormat(rowFile, input.name, all.output);
        if (format === null) return await rowFile.write(all);
        const making = makingOf(all.output, format);
        return await making.write(await tableOfRows(rowFile, all, making), all, input);
      }),
  };
}

/** The format of an output that is written anew; null where it keeps the bytes of the input. */
export function otherFormat(
  rowFile: Pick<RowFile, 'format'>,
  input: string,
  output: string,
): string | null {
  const format = formatOfOutput(output);
  const isOwn =
    format === rowFile.format ||
    // A file called .csv keeps any delimiter; a file called .tsv must have tabs.
    (format === 'csv' && rowFile.format in DELIMITED_FORMATS) ||
    // Files with a feature on each line are often called .ndjson: as a table they would lose outlines and types.
    (rowFile.format === 'geojson' && format === formatOfOutput(input));
  return isOwn ? null : format;
}
