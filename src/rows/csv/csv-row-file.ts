import type { Field } from '../../contract/answer.ts';
import { counted } from '../../format-numbers.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import type { InputFile } from '../files/input-file.ts';
import { writeTextRows } from '../files/row-output.ts';
import { keptIndexes } from '../kept-columns.ts';
import {
  assertFieldCount,
  fieldsFor,
  filledRows,
  type PlacedFields,
  type Row,
  type RowFields,
  type RowFile,
  type WriteRequest,
  type WriteResult,
} from '../port.ts';
import { type AddFields, addBatch, placeAdder } from './add-fields.ts';
import { csvSegments } from './csv-segments.ts';
import { type CsvOptions, type Dialect, likelyHeader, readDialect } from './dialect.ts';
import { fieldEncoder } from './field-bytes.ts';
import { encodingToWrite, type FieldFormat, fieldFormatter } from './format-fields.ts';
import { type PlaceBytes, placeBytes } from './place-bytes.ts';
import { type BatchRequest, CUT_WIDTH, csvBatches, cutRecord } from './record-batches.ts';
import { writeInThreads } from './write-in-threads.ts';

export function csvRowFile(input: InputFile, options: CsvOptions): RowFile {
  const dialect = readDialect(input, options);
  return {
    format: dialect.delimiter === '\t' ? 'tsv' : 'csv',
    columns: dialect.columns,
    note: unnamedNote(dialect),
    likelyHeader: (isHeader) => (dialect.hasHeader ? likelyHeader(input, options, isHeader) : null),
    read: (columns, needed, isWanted) => readRows(input, dialect, { columns, needed, isWanted, dropFrom: null }),
    write: (request) => writeCsv(input, dialect, request),
    ...csvSegments(input, dialect),
  };
}

function unnamedNote({ header, hasHeader, columns }: Dialect): string | null {
  const unnamed = columns.length - header.fields;
  if (!hasHeader || unnamed === 0) return null;
  const what = `The rows have ${columns.length} fields and the header ${counted(header.fields, 'name')}`;
  return unnamed === 1
    ? `${what}: the last field has none. If it is the first that has none, add its name to the header.`
    : `${what}: the last ${unnamed} fields have none.`;
}

async function* readRows(input: InputFile, dialect: Dialect, request: BatchRequest): AsyncGenerator<readonly Row[]> {
  for await (const { rows } of csvBatches(input, dialect, request)) {
    if (rows.length > 0) yield rows;
  }
}

async function writeCsv(input: InputFile, dialect: Dialect, request: WriteRequest): Promise<WriteResult> {
  const { dropFrom, signal, placed } = request;
  const format = { delimiter: dialect.delimiter, encoding: await encodingToWrite(input, dialect) };
  const separator = separatorOf(dialect.delimiter, request);
  return await writeTextRows(request, input, async (gathered) => {
    addHeader(gathered, input.head, dialect, request, fieldFormatter({ ...format, isAdded: () => false }));
    const made = placed ? await encodedPlaces(placed, request, format, separator) : null;
    if (placed?.inThreads && made) {
      return await writeInThreads(gathered, input, { dialect, dropFrom, separator, made }, placed, signal);
    }
    const nextFields = placed && made ? placeCopier(placed, made) : textAdder(request, format, separator);
    let rows = 0;
    for await (const batch of csvBatches(input, dialect, { columns: null, dropFrom, signal })) {
      addBatch(gathered, batch, separator, await nextFields(batch.count));
      rows += batch.count;
      await gathered.flushIfFull();
    }
    return rows;
  });
}

/** Makes a function that formats the fields of each row of the next batch. */
function textAdder(
  request: WriteRequest,
  format: Omit<FieldFormat, 'isAdded'>,
  separator: string,
): (count: number) => Promise<AddFields> {
  const kept = keptIndexes(request.added);
  const formatAdded = fieldFormatter({ ...format, isAdded: (index) => !kept.has(index) });
  const textOf = madeOnce([format.delimiter, format.encoding, ...kept].join(' '), (make) =>
    formatAdded(fieldsFor(request, make)),
  );
  return async (count) => {
    const filled = await filledRows(request, count);
    return (gathered, row) => gathered.addText(separator + textOf(filled[row]!));
  };
}

function placeCopier(placed: PlacedFields, made: PlaceBytes): (count: number) => AddFields {
  return (count) => placeAdder(made, placed.next(count));
}

/** The bytes of all places; null where they take more memory than they may. */
async function encodedPlaces(
  placed: PlacedFields,
  request: WriteRequest,
  format: Omit<FieldFormat, 'isAdded'>,
  separator: string,
): Promise<PlaceBytes | null> {
  const bytes = placeBytes(placed.count, MOST_PLACE_BYTES);
  let isFull = false;
  const sink = fieldEncoder(format, separator !== '', (added, length, fields) => {
    assertFieldCount(request, fields);
    isFull ||= !bytes.add(added, length);
  });
  await placed.each(sink);
  return isFull ? null : bytes.take();
}

/** The text of 18 natural topics takes some 400 bytes. */
const MOST_PLACE_BYTES = 128 * 1024 * 1024;

/** The last text of fields, and the form that it was made in. */
const MADE_TEXTS = new WeakMap<RowFields, { readonly form: string; readonly text: string }>();

/** Makes the text of rows that share their fields once, over all files of one form: with five rows a place, that halves the time of a
 * write; ten part files with one row a place each took twice as long as one file before their texts were shared. */
function madeOnce(form: string, textOf: (make: RowFields) => string): (make: RowFields) => string {
  return (make) => {
    const made = MADE_TEXTS.get(make);
    if (made?.form === form) return made.text;
    const text = textOf(make);
    MADE_TEXTS.set(make, { form, text });
    return text;
  };
}

function addHeader(
  gathered: ByteBuffer,
  head: Buffer,
  { header, hasHeader, columns, delimiter }: Dialect,
  request: WriteRequest,
  format: (fields: readonly Field[]) => string,
): void {
  if (!hasHeader) {
    gathered.addBytes(head, 0, header.next);
    return;
  }
  const cuts = new Int32Array(CUT_WIDTH);
  cutRecord(header, columns.length, request.dropFrom, cuts, 0);
  gathered.addBytes(head, 0, cuts[0]!);
  const separator = separatorOf(delimiter, request);
  for (let unnamed = cuts[1]!; unnamed > 0; unnamed--) gathered.addText(separator);
  gathered.addText(separator);
  gathered.addText(format(request.added.map((column) => column.name)));
  gathered.addBytes(head, header.end, header.next);
}

/** The delimiter between the original fields and the added ones; nothing when there are none of either. */
function separatorOf(delimiter: string, { dropFrom, added }: WriteRequest): string {
  return dropFrom === 0 || added.length === 0 ? '' : delimiter;
}
