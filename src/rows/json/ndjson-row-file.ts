import { PerilbookError } from '../../base/errors.ts';
import {
  jsonLine,
  knownMembers,
  memberTexts,
  NotJson,
  orNotJson,
  type Piece,
  skipSpace,
  withMembers,
} from '../../formats/json/json-members.ts';
import {
  elementBatches,
  elementsIn,
  firstByte,
  isListOfObjects,
  type LineBatch,
  lineBatches,
  type ObjectsAt,
  startOfArray,
} from '../../formats/json/object-batches.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import type { InputFile } from '../files/input-file.ts';
import { type WriteNewFile, writeNewText, writeTextRows } from '../files/row-output.ts';
import { mayHaveLocation } from '../location/location-names.ts';
import { noLocationOf } from '../no-locations.ts';
import { rowFields } from '../placed-fields.ts';
import type { Row, RowFile, WriteRequest, WriteResult } from '../port.ts';
import {
  isObject,
  type JsonColumn,
  type JsonObject,
  jsonColumns,
  jsonText,
  jsonType,
  memberAt,
  ownTexts,
  parseObject,
} from './json-values.ts';
import { isTopojson } from './topology.ts';

/** Types of objects that are whole documents, not rows, even on one line. */
const WHOLE_DOCUMENTS = ['FeatureCollection', 'GeometryCollection', 'Topology'];

const NAMED_LINES = /\.(ndjson|jsonl)(\.\w+)?$/i;

/** True when the first line with anything on it is a JSON object by itself. */
export function isNdjson({ name, head, isWhole }: InputFile): boolean {
  const lines = linesOfHead(head, isWhole);
  const object = lines[0] === undefined ? null : parseObject(lines[0]);
  if (object === null || WHOLE_DOCUMENTS.includes(String(object.type))) return false;
  // A feature on each line is read as GeoJSON: its location is inside its geometry.
  if (object.type === 'Feature' && 'geometry' in object) return false;
  // A single line may be a table, or a document with a list of rows in it, unless the name says what a line is.
  if (NAMED_LINES.test(name) || !(isWhole && lines.length === 1)) return true;
  return findObjects(head, isWhole)?.kind !== 'array' && !isTable(object);
}

/** Opens newline-delimited JSON: an object a line. Its columns are the members of the objects in the first mebibyte, each followed by
 * the values inside it (`location.lat`). Members that come only later stay in their lines, and become columns only in another format. */
export function ndjsonRowFile(input: InputFile): RowFile {
  return objectsFile(input, LINES, linesOfHead(input.head, input.isWhole));
}

/** True for an array of objects, for a document with one such list in it, and for objects that are one after the other. */
export function isJsonObjects({ head, isWhole }: InputFile): boolean {
  return !isGeojson(head) && !isTopojson(head) && findObjects(head, isWhole) !== null;
}

/** Opens objects like NDJSON, with elements as lines. The text between and around the elements is copied. @throws INPUT_UNREADABLE */
export function jsonObjectsRowFile(input: InputFile): RowFile {
  const { head } = input;
  const at = findObjects(head, input.isWhole)!;
  const { found } = orNotJson(
    () => elementsIn(head, at.kind === 'array' ? at.from + 1 : at.from, at.kind),
    () => input.refused('is a JSON array that cannot be read', 'Check its commas and brackets.'),
  );
  const batches: ObjectFormat['batches'] = (source, signal) => elementBatches(source, at, signal);
  const texts = found.map(({ from, to }) => head.toString('utf8', from, to));
  return objectsFile(
    input,
    { format: 'json', unit: 'row', batches, problem: 'The element is not a JSON object.' },
    texts,
  );
}

/** How the objects of a file are found in it. */
interface ObjectFormat {
  readonly format: 'ndjson' | 'json';
  readonly unit?: 'row';
  readonly batches: (source: InputFile, signal?: AbortSignal) => AsyncGenerator<LineBatch>;
  readonly problem: string;
}

const LINES: ObjectFormat = {
  format: 'ndjson',
  batches: lineBatches,
  problem: 'The line is not a JSON object.',
};
function objectsFile(input: InputFile, objects: ObjectFormat, texts: readonly string[]): RowFile {
  const columns = jsonColumns(texts.map(parseObject).filter((object) => object !== null));
  const rowFile = makeRowFile(input, objects, columns);
  return input.isWhole
    ? rowFile
    : {
        ...rowFile,
        entire: async () => makeRowFile(input, objects, await allColumns(input, objects, columns)),
      };
}

function makeRowFile(
  input: InputFile,
  objects: ObjectFormat,
  columns: readonly JsonColumn[],
): RowFile {
  return {
    format: objects.format,
    unit: objects.unit,
    hasTypes: true,
    columns: columns.map(({ name }) => name),
    wholeColumns: [...columns.keys()].filter((index) => columns[index]!.path.length === 1),
    read: (wanted, needed) => readRows(input, objects, columns, wanted, needed),
    write: (request) => writeObjects(input, objects, columns, request),
  };
}

/** The columns of the first mebibyte, then those of members that appear only later: a table needs a column for them. */
async function allColumns(
  input: InputFile,
  { batches }: ObjectFormat,
  firstColumns: readonly JsonColumn[],
) {
  const names = new Set(
    firstColumns.filter(({ path }) => path.length === 1).map(({ path }) => path[0]!),
  );
  const late: JsonColumn[] = [];
  for await (const batch of batches(input)) {
    for (const { text } of textLines(batch)) {
      for (const name of Object.keys(parseObject(text) ?? {})) {
        if (names.has(name)) continue;
        names.add(name);
        late.push({ name: name.trim(), path: [name] });
      }
    }
  }
  return [...firstColumns, ...late];
}

/** Drops a last line that may be incomplete. */
function linesOfHead(head: Buffer, isWhole: boolean): string[] {
  const lines = withoutMark(head.toString('utf8')).split('\n');
  if (!isWhole) lines.pop();
  return lines.filter((line) => line.trim() !== '');
}

async function* readRows(
  input: InputFile,
  { batches, problem }: ObjectFormat,
  columns: readonly JsonColumn[],
  wanted: readonly number[],
  needed = wanted.length,
): AsyncGenerator<readonly Row[]> {
  const read = wanted.map((index) => columns[index]!);
  let number = 0;
  for await (const batch of batches(input)) {
    const rows = makeRows(batch, problem, read, needed, number);
    number += rows.length;
    if (rows.length > 0) yield rows;
  }
}

/** The lines with rows: all except blank ones. */
function textLines({
  bytes,
  lines,
  firstLine,
}: LineBatch): { text: string; from: number; line: number }[] {
  return lines
    .map(({ from, to }, i) => ({
      text: withoutMark(bytes.toString('utf8', from, to)),
      from,
      line: firstLine + i,
    }))
    .filter(({ text }) => text.trim() !== '');
}

const withoutMark = (text: string): string => text.replace(/^\ufeff/, '');

function makeRows(
  batch: LineBatch,
  problem: string,
  wanted: readonly JsonColumn[],
  needed: number,
  before: number,
): Row[] {
  return textLines(batch).map(({ text, line }, i) => {
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
      const lines = textLines(batch);
      const fields = await nextFields(lines.length);
      let copied = batch.from;
      for (const [i, { text, from, line }] of lines.entries()) {
        // A line that is not an object stays unchanged: adding fields would damage it further.
        if (parseObject(text) === null) continue;
        const at = batch.bytes.indexOf('{', from);
        gathered.addBytes(batch.bytes, copied, at);
        const members = memberTexts(request.added, fields[i]!);
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

/** Adds old bytes and new texts in their order. */
export function addPieces(gathered: ByteBuffer, bytes: Buffer, pieces: readonly Piece[]): void {
  for (const piece of pieces) {
    if (typeof piece === 'string') gathered.addText(Buffer.from(piece).toString('latin1'));
    else gathered.addBytes(bytes, piece.from, piece.to);
  }
}

/** Only the first mebibyte is checked before a purchase. Readers keep the last of two members of one name: the user's value would be lost. */
function clashIn(file: string, line: number, column: string): PerilbookError {
  const message = `The input already has a column ${column} on line ${line}`;
  const hint =
    'Give the new columns a prefix (--prefix), or rename that column: nothing is bought twice.';
  return new PerilbookError('INPUT_COLUMNS', message, hint, { file, line, column });
}

/** True when the head looks like a FeatureCollection, a Feature, or a sequence of features: on lines, or after RFC 8142's separators. */
export function isGeojson(head: Buffer): boolean {
  const text = head.toString('latin1');
  if (!BEGINS_OBJECT.test(text)) return false;
  if (/"type"\s*:\s*"FeatureCollection"/.test(text)) return text.includes('"features"');
  return /"type"\s*:\s*"Feature"/.test(text) && /"geometry"\s*:/.test(text);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the separator of RFC 8142 is one
const BEGINS_OBJECT = /^(?:\xef\xbb\xbf)?[\s\x1e]*\{/;

/** How deep in a document its list of rows may be: `{"response": {"docs": [...]}}`. */
const DEEPEST = 3;
const OPEN_OBJECT = 0x7b;

/** Finds the rows of a JSON file in its first bytes: an array of objects, the one list of objects in a document (any name), or objects one
 * after the other. Of several lists the one whose elements have a location is taken; null if there is none, or if that is not clear. */
function findObjects(head: Buffer, isWhole: boolean): ObjectsAt | null {
  const array = startOfArray(head);
  if (array >= 0) return { kind: 'array', from: array };
  const at = firstByte(head);
  if (head[at] !== OPEN_OBJECT) return null;
  try {
    const { close } = knownMembers(head, at);
    const next = close < 0 ? head.length : skipSpace(head, close + 1);
    const isOne = close < 0 || next === head.length;
    if (!isOne) return head[next] === OPEN_OBJECT ? { kind: 'sequence', from: at } : null;
    // Only one document in a file is looked into: its own members may be a row, too.
    const isOwnRow = close >= 0 && isRow(head.toString('utf8', at, close + 1));
    const list = isOwnRow ? null : listIn(head, at);
    if (list !== null) return { kind: 'array', from: list };
    return isOwnRow && isWhole ? { kind: 'sequence', from: at } : null;
  } catch (error) {
    if (error instanceof NotJson) return null;
    throw error;
  }
}

/** Where the list of rows in a document begins. */
function listIn(head: Buffer, at: number): number | null {
  const lists = listsIn(head, at, 1);
  const located = lists.filter((list) => {
    const [first] = elementsIn(head, list + 1, 'array', 1).found;
    const object =
      first === undefined ? null : parseObject(head.toString('utf8', first.from, first.to));
    return object !== null && hasLocation(object);
  });
  const [only, ...others] = located.length > 0 ? located : lists;
  return only === undefined || others.length > 0 ? null : only;
}

function listsIn(head: Buffer, at: number, depth: number): number[] {
  return knownMembers(head, at).members.flatMap(({ valueFrom }) => {
    if (isListOfObjects(head, valueFrom)) return [valueFrom];
    return head[valueFrom] === OPEN_OBJECT && depth < DEEPEST
      ? listsIn(head, valueFrom, depth + 1)
      : [];
  });
}

/** Whether the one object of a document is a row: it has a location, and is no table. */
function isRow(text: string): boolean {
  const object = parseObject(text);
  return object !== null && hasLocation(object) && !isTable(object);
}

/** Whether an object is a table by columns (`{"lat": [1, 2], "lng": [3, 4]}`, `{"lat": {"0": 1}}`), or by keys, each with a location (`{"a": {…}, "b": {…}}`). */
function isTable(object: JsonObject): boolean {
  const values = Object.values(object);
  if (values.length < 2) return false;
  return (
    values.every(Array.isArray) ||
    // pandas numbers the rows of each column.
    values.every((value) => isObject(value) && (Object.hasOwn(value, '0') || hasLocation(value)))
  );
}

function hasLocation(object: JsonObject): boolean {
  return mayHaveLocation(jsonColumns([object]).map(({ name }) => name));
}

/** Writes a table as a new file with one object per line. */
export const writeNewNdjson: WriteNewFile = async (table, target, source) => {
  return await writeNewText(table, target, source, (gathered) => (values) => {
    gathered.addText(`${Buffer.from(jsonLine(table.columns, values)).toString('latin1')}\n`);
  });
};
