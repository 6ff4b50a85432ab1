import { stat } from 'node:fs/promises';
import { PerilbookError } from '../../base/errors.ts';
import { chunksFrom } from '../../formats/bytes/byte-source.ts';
import { DELIMITED_FORMATS } from '../csv/dialect.ts';
import { type InputFile, openInput, unreadable } from '../files/input-file.ts';
import { openOutput, writeWhole } from '../files/output-file.ts';
import { unpackedInput } from '../files/streamed-input.ts';
import { formatNamed } from '../open/file-formats.ts';
import { openRowFile } from '../open/open-row-file.ts';
import type {
  OpenOptions,
  Row,
  RowFile,
  RowPieces,
  RowSource,
  WriteRequest,
  WriteResult,
} from '../port.ts';
import type { ListedPart } from './list-parts.ts';

/** The format of a part without any bytes, which has no columns. */
export const EMPTY = 'empty';

/** A part whose format and columns are known. It is opened for each pass: an open file keeps up to a mebibyte of its head. */
export interface PartFile extends ListedPart {
  readonly format: string;
  readonly columns: readonly string[];
}

/** Several files of one format, read as one; each is written on its own. */
export interface PartFiles extends RowSource {
  readonly parts: readonly PartFile[];
}

/** Whether the input is several files, each with an output of its own. */
export function isPartFiles(rows: RowSource): rows is PartFiles {
  return 'parts' in rows;
}

/** Opens the parts as one input. Tables must have the same columns in the same order: an output is written part by part, and a program that
 * reads the parts as one table expects one header. An empty part becomes an empty output.
 * @throws INPUT_UNREADABLE, INPUT_COLUMNS naming two parts */
export async function openPartFiles(
  listed: readonly ListedPart[],
  options: OpenOptions,
): Promise<PartFiles> {
  const parts: PartFile[] = [];
  const pieces: (Pick<RowPieces, 'pieces' | 'size'> | null)[] = [];
  let first: (PartFile & { readonly rowFile: RowFile }) | undefined;
  for (const file of listed) {
    const rowFile = await openPart(file, options);
    const part = { ...file, format: rowFile.format, columns: rowFile.columns };
    parts.push(part);
    pieces.push(part.format === EMPTY ? NO_PIECES : (rowFile.inPieces ?? null));
    if (part.format === EMPTY) continue;
    first ??= { ...part, rowFile };
    requireSame(first, part);
  }
  if (first === undefined)
    throw unreadable(
      listed[0]!.path,
      'is empty, as all parts are',
      'Check that they were written.',
    );
  const { format, unit, note, likelyHeader } = first.rowFile;
  const columns = formatNamed(format).isOfObjects ? mergedColumns(parts) : first.columns;
  return {
    format,
    columns,
    parts,
    unit,
    note,
    likelyHeader,
    read: (wanted, needed) => readParts(parts, options, columns, wanted, needed),
    inPieces: pieces.every((ofPart) => ofPart !== null) ? piecesOfParts(parts, pieces) : undefined,
  };
}

const NO_PIECES: Pick<RowPieces, 'pieces' | 'size'> = { pieces: [], size: () => 0 };

/** The pieces of all parts, one part after the other. */
function piecesOfParts(
  parts: readonly PartFile[],
  ofParts: readonly Pick<RowPieces, 'pieces' | 'size'>[],
): RowPieces {
  return {
    pieces: ofParts.flatMap(({ pieces }, file) => pieces.map((piece) => ({ ...piece, file }))),
    size: (added) => ofParts.reduce((sum, { size }) => sum + size(added), 0),
    files: parts.map(({ path }) => path),
    assertSame: async () => {
      for (const part of parts) await assertSamePart(part);
    },
  };
}

/** The columns of all parts. One that earlier parts lack is inserted before the next common one, so that Perilbook's stay last. */
function mergedColumns(parts: readonly PartFile[]): string[] {
  const merged: string[] = [];
  for (const { columns } of parts) {
    let at = merged.length;
    for (const name of columns.toReversed()) {
      const index = merged.indexOf(name);
      if (index < 0) merged.splice(at, 0, name);
      else at = index;
    }
  }
  return merged;
}

/** Opens a part for a pass. @throws INPUT_UNREADABLE if it has changed since it was listed */
export async function openPart(part: ListedPart, options: OpenOptions): Promise<RowFile> {
  await assertSamePart(part);
  return (await openEmptyPart(part.path, part.size)) ?? (await openRowFile(part.path, options));
}

async function assertSamePart({ path, size, mtimeMs }: ListedPart): Promise<void> {
  const stats = await stat(path).catch(() => null);
  if (stats?.size === size && Math.floor(stats.mtimeMs) === mtimeMs) return;
  throw unreadable(
    path,
    'has changed since it was listed',
    'Run again when no other program writes to it.',
  );
}

/** The index in a part of a column of all parts; -1 if the part lacks it. */
export function columnIn(
  { columns: own }: PartFile,
  columns: readonly string[],
  column: number,
): number {
  return own[column] === columns[column] ? column : own.indexOf(columns[column]!);
}

async function* readParts(
  parts: readonly PartFile[],
  options: OpenOptions,
  columns: readonly string[],
  wanted: readonly number[],
  needed: number | undefined,
): AsyncGenerator<readonly Row[]> {
  for (const part of parts) {
    if (part.format === EMPTY) continue;
    const { name } = part;
    const indexes = wanted.map((column) => columnIn(part, columns, column));
    const isWhole = !indexes.includes(-1);
    const own = indexes.filter((index) => index >= 0);
    const allFields = (fields: readonly string[]) => {
      let next = 0;
      return indexes.map((index) => (index < 0 ? '' : fields[next++]!));
    };
    const rowFile = await openPart(part, options);
    for await (const batch of rowFile.read(own, isWhole ? needed : undefined)) {
      yield batch.map(({ number, line, fields: read, ...rare }) => {
        const fields = isWhole ? read : allFields(read);
        const { problem, formulas, noLocation } = rare;
        // Written out: a spread takes half a microsecond a row.
        return problem === undefined && formulas === undefined && noLocation === undefined
          ? { number, line, fields, part: name }
          : { number, line, fields, part: name, ...rare };
      });
    }
  }
}

function requireSame(first: PartFile, other: PartFile): void {
  const files = `${first.name} and ${other.name}`;
  const isDelimited = ({ format }: PartFile) => format in DELIMITED_FORMATS;
  if (first.format !== other.format && !(isDelimited(first) && isDelimited(other))) {
    const message = `The parts ${files} have different formats: ${first.format} and ${other.format}`;
    const hint = 'Name the files of one format, e.g. with a pattern: parts/*.csv.';
    throw new PerilbookError('INPUT_COLUMNS', message, hint, { file: other.path });
  }
  if (formatNamed(first.format).isOfObjects) return;
  const at = [...first.columns, ...other.columns].findIndex(
    (_, index) => first.columns[index] !== other.columns[index],
  );
  if (at < 0) return;
  const named = ({ columns, name }: PartFile) =>
    at < columns.length ? `${JSON.stringify(columns[at])} in ${name}` : `missing in ${name}`;
  const column = other.columns[at] ?? first.columns[at]!;
  const message = `The parts ${files} have different columns: column ${at + 1} is ${named(first)}, and ${named(other)}`;
  const hint =
    'All parts need the same columns in the same order. Run the others as an input of their own.';
  throw new PerilbookError('INPUT_COLUMNS', message, hint, { file: other.path, column });
}

/** A part without any bytes, compressed or not: writers of part files leave them. Null for any other file. */
async function openEmptyPart(path: string, size: number): Promise<RowFile | null> {
  // Only a small file can be the compressed form of an empty one.
  if (size > LARGEST_OF_NOTHING) return null;
  const input = await openInput(path);
  if ((await unpackedInput(input)).head.length > 0) return null;
  return { format: EMPTY, columns: [], async *read() {}, write: (request) => copy(input, request) };
}

/** gzip's header may hold a file name. */
const LARGEST_OF_NOTHING = 4_096;

async function copy(input: InputFile, request: WriteRequest): Promise<WriteResult> {
  const file = await openOutput(request, input.identity);
  await writeWhole(file, request.signal, async () => {
    await using pass = await input.startPass();
    for await (const chunk of chunksFrom(pass, 0)) await file.write(chunk);
  });
  return { rows: 0, bytes: input.size };
}
