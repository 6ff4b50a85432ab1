import { PerilbookError } from '../../base/errors.ts';
import { decodeText } from '../../formats/bytes/decode-text.ts';
import { jsonLine, orNotJson, withMembers } from '../../formats/json/json-members.ts';
import {
  elementBatches,
  elementsIn,
  type LineBatch,
  lineBatches,
} from '../../formats/json/object-batches.ts';
import type { InputFile } from '../files/input-file.ts';
import { type WriteNewFile, writeNewText, writeTextRows } from '../files/row-output.ts';
import { noLocationOf } from '../no-locations.ts';
import { rowFields } from '../placed-fields.ts';
import type { OpenOptions, Row, RowFile, WriteRequest, WriteResult } from '../port.ts';
import { type EncodingOfText, encodingNote } from '../text-encoding.ts';
import { findObjects, isGeojson, isTable, isTopojson } from './find-objects.ts';
import { addPieces, lettersOf, membersIn } from './json-encoding.ts';
import {
  type JsonColumn,
  jsonColumns,
  jsonText,
  jsonType,
  memberAt,
  ownTexts,
  parseObject,
} from './json-values.ts';

/** Types of objects that are whole documents, not rows, even on one line. */
const WHOLE_DOCUMENTS = ['FeatureCollection', 'GeometryCollection', 'Topology'];

const NAMED_LINES = /\.(ndjson|jsonl)(\.\w+)?$/i;

/** True when the first line with anything on it is a JSON object by itself. */
export function isNdjson({ name, head, isWhole }: InputFile): boolean {
  const first = firstLine(head, isWhole);
  const object = first === null ? null : parseObject(first);
  if (object === null || WHOLE_DOCUMENTS.includes(String(object.type))) return false;
  // A feature on each line is read as GeoJSON: its location is inside its geometry.
  if (object.type === 'Feature' && 'geometry' in object) return false;
  // A single line may be a table, or a document with a list of rows in it, unless the name says what a line is.
  if (NAMED_LINES.test(name) || !isWhole || linesOfHead(head, true).length > 1) return true;
  return findObjects(head, isWhole)?.kind !== 'array' && !isTable(object);
}

/** Opens newline-delimited JSON: an object a line. Its columns are the members of the objects in the first mebibyte, each followed by
 * the values inside it (`location.lat`). Members that come only later stay in their lines, and become columns only in another format. */
export function ndjsonRowFile(input: InputFile, { encoding }: OpenOptions): RowFile {
  const letters = lettersOf(input, LINES.title, encoding);
  return objectsFile(
    input,
    LINES,
    linesOfHead(input.head, input.isWhole, letters.encoding),
    letters,
  );
}

/** True for an array of objects, for a document with one such list in it, and for objects that are one after the other. */
export function isJsonObjects({ head, isWhole }: InputFile): boolean {
  return !isGeojson(head) && !isTopojson(head) && findObjects(head, isWhole) !== null;
}

/** Opens objects like NDJSON, with elements as lines. The text between and around the elements is copied. @throws INPUT_UNREADABLE */
export function jsonObjectsRowFile(input: InputFile, options: OpenOptions): RowFile {
  const { head } = input;
  const at = findObjects(head, input.isWhole)!;
  const { found } = orNotJson(
    () => elementsIn(head, at.kind === 'array' ? at.from + 1 : at.from, at.kind),
    () => input.refused('is a JSON array that cannot be read', 'Check its commas and brackets.'),
  );
  const batches: ObjectFormat['batches'] = (source, signal) => elementBatches(source, at, signal);
  const letters = lettersOf(input, 'JSON', options.encoding);
  const texts = found.map(({ from, to }) => decodeText(head, from, to, letters.encoding));
  return objectsFile(
    input,
    {
      format: 'json',
      title: 'JSON',
      unit: 'row',
      batches,
      problem: 'The element is not a JSON object.',
    },
    texts,
    letters,
  );
}

/** How the objects of a file are found in it. */
interface ObjectFormat {
  readonly format: 'ndjson' | 'json';
  readonly title: string;
  readonly unit?: 'row';
  readonly batches: (source: InputFile, signal?: AbortSignal) => AsyncGenerator<LineBatch>;
  readonly problem: string;
}

const LINES: ObjectFormat = {
  format: 'ndjson',
  title: 'NDJSON',
  batches: lineBatches,
  problem: 'The line is not a JSON object.',
};

function objectsFile(
  input: InputFile,
  objects: ObjectFormat,
  texts: readonly string[],
  letters: EncodingOfText,
): RowFile {
  const columns = jsonColumns(texts.map(parseObject).filter((object) => object !== null));
  const rowFile = makeRowFile(input, objects, columns, letters);
  return input.isWhole
    ? rowFile
    : {
        ...rowFile,
        entire: async () => {
          const all = await allColumns(input, objects, columns, letters);
          return makeRowFile(input, objects, all, letters);
        },
      };
}

function makeRowFile(
  input: InputFile,
  objects: ObjectFormat,
  columns: readonly JsonColumn[],
  letters: EncodingOfText,
): RowFile {
  return {
    format: objects.format,
    unit: objects.unit,
    hasTypes: true,
    conversionNote: encodingNote(input.head, letters),
    columns: columns.map(({ name }) => name),
    wholeColumns: [...columns.keys()].filter((index) => columns[index]!.path.length === 1),
    read: (wanted, needed) => readRows(input, objects, columns, letters, wanted, needed),
    write: (request) => writeObjects(input, objects, columns, letters, request),
  };
}

/** The columns of the first mebibyte, then those of members that appear only later: a table needs a column for them. */
async function allColumns(
  input: InputFile,
  { batches }: ObjectFormat,
  firstColumns: readonly JsonColumn[],
  letters: EncodingOfText,
) {
  const names = new Set(
    firstColumns.filter(({ path }) => path.length === 1).map(({ path }) => path[0]!),
  );
  const late: JsonColumn[] = [];
  for await (const batch of batches(input)) {
    for (const { text } of textLines(batch, letters)) {
      for (const name of Object.keys(parseObject(text) ?? {})) {
        if (names.has(name)) continue;
        names.add(name);
        late.push({ name: name.trim(), path: [name] });
      }
    }
  }
  return [...firstColumns, ...late];
}

/** The first line that `linesOfHead` gives, without decoding the others; null without one. */
function firstLine(head: Buffer, isWhole: boolean): string | null {
  for (let from = 0; from < head.length; ) {
    const end = head.indexOf(LF, from);
    if (end < 0 && !isWhole) return null;
    const to = end < 0 ? head.length : end;
    const text = decodeText(head, from, to, 'utf-8');
    const line = from === 0 ? withoutMark(text) : text;
    if (line.trim() !== '') return line;
    from = to + 1;
  }
  return null;
}

const LF = 0x0a;

/** Drops a last line that may be incomplete. */
function linesOfHead(head: Buffer, isWhole: boolean, encoding = 'utf-8'): string[] {
  const end = isWhole ? head.length : head.lastIndexOf(LF) + 1;
  const lines = withoutMark(decodeText(head, 0, end, encoding)).split('\n');
  return lines.filter((line) => line.trim() !== '');
}

async function* readRows(
  input: InputFile,
  { batches, problem }: ObjectFormat,
  columns: readonly JsonColumn[],
  letters: EncodingOfText,
  wanted: readonly number[],
  needed = wanted.length,
): AsyncGenerator<readonly Row[]> {
  const read = wanted.map((index) => columns[index]!);
  let number = 0;
  for await (const batch of batches(input)) {
    const rows = makeRows(textLines(batch, letters), problem, read, needed, number);
    number += rows.length;
    if (rows.length > 0) yield rows;
  }
}

/** A line with a row, and where it is in the bytes of its batch. */
interface TextLine {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly line: number;
}

/** The lines with rows: all except blank ones. */
function textLines(
  { bytes, lines, firstLine }: LineBatch,
  { encoding }: EncodingOfText,
): TextLine[] {
  return lines
    .map(({ from, to }, i) => ({
      text: withoutMark(decodeText(bytes, from, to, encoding)),
      from,
      to,
      line: firstLine + i,
    }))
    .filter(({ text }) => text.trim() !== '');
}

const withoutMark = (text: string): string => text.replace(/^\ufeff/, '');

function makeRows(
  lines: readonly TextLine[],
  problem: string,
  wanted: readonly JsonColumn[],
  needed: number,
  before: number,
): Row[] {
  return lines.map(({ text, line }, i) => {
    const object = parseObject(text);
    const values = wanted.map((column) => memberAt(object, column));
    const fields = values.map(jsonText);
    const row = { number: before + i + 1, line, fields, types: values.map(jsonType) };
    if (object === null) return { ...row, problem };
    const noLocation = noLocationOf(fields, needed, () => ownTexts(object));
    return noLocation === null ? row : { ...row, noLocation };
  });
}

async function writeObjects(
  input: InputFile,
  { batches }: ObjectFormat,
  columns: readonly JsonColumn[],
  letters: EncodingOfText,
  request: WriteRequest,
): Promise<WriteResult> {
  const dropped = new Set(
    columns.slice(request.dropFrom ?? columns.length).map(({ name }) => name),
  );
  const added = new Set(request.added.map(({ name }) => name));
  return await writeTextRows(request, input, async (gathered) => {
    const nextFields = rowFields(request);
    let count = 0;
    for await (const batch of batches(input, request.signal)) {
      const lines = textLines(batch, letters);
      const fields = await nextFields(lines.length);
      let copied = batch.from;
      for (const [i, { text, from, to, line }] of lines.entries()) {
        // A line that is not an object stays unchanged: adding fields would damage it further.
        if (parseObject(text) === null) continue;
        const at = batch.bytes.indexOf('{', from);
        gathered.addBytes(batch.bytes, copied, at);
        const members = membersIn(
          batch.bytes.subarray(from, to),
          letters,
          request.added,
          fields[i]!,
        );
        const { pieces, end, kept } = withMembers(batch.bytes, at, dropped, members);
        const clash = kept.find(({ name }) => added.has(name));
        if (clash) throw clashIn(input.name, line, clash.name);
        addPieces(gathered, batch.bytes, pieces);
        copied = end;
      }
      gathered.addBytes(batch.bytes, copied, batch.to);
      count += lines.length;
      await gathered.flushIfFull();
    }
    return count;
  });
}

/** Only the first mebibyte is checked before a purchase. Readers keep the last of two members of one name: the user's value would be lost. */
function clashIn(file: string, line: number, column: string): PerilbookError {
  const message = `The input already has a column ${column} on line ${line}`;
  const hint =
    'Rename that column: nothing is bought twice. Or give the new columns a prefix: --prefix.';
  return new PerilbookError('INPUT_COLUMNS', message, hint, { file, line, column });
}

/** Writes a table as a new file with one object per line. */
export const writeNewNdjson: WriteNewFile = async (table, target, source) => {
  return await writeNewText(table, target, source, (gathered) => (values) => {
    gathered.addText(`${Buffer.from(jsonLine(table.columns, values)).toString('latin1')}\n`);
  });
};
