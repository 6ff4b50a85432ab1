import type { Writable } from 'node:stream';
import { type ByteGatherer, gatherBytes } from '../files/gather-bytes.ts';
import type { InputFile } from '../files/input-file.ts';
import { openMatchingOutput } from '../files/matching-output.ts';
import { writeWhole } from '../files/output-file.ts';
import { checkCount, filledRows } from '../filled-rows.ts';
import { keptPlaces } from '../kept-columns.ts';
import type { Row, RowFile, WriteRequest, WriteResult } from '../port.ts';
import { type CsvBatch, CUT_WIDTH, csvBatches, cutRecord } from './batches.ts';
import { type CsvOptions, type Dialect, likelyHeader, readDialect } from './dialect.ts';
import { encodingToWrite } from './encoding.ts';
import { keptSuffixes } from './kept-suffixes.ts';
import { type SuffixWriter, suffixWriter } from './suffix.ts';

/** Opens a CSV file behind the port. `stdout` takes an output named `-`. */
export function csvRowFile(input: InputFile, options: CsvOptions, stdout?: Writable): RowFile {
  const dialect = readDialect(input, options);
  return {
    format: dialect.delimiter === '\t' ? 'tsv' : 'csv',
    columns: dialect.columns,
    likelyHeader: (isHeader) => (dialect.hasHeader ? likelyHeader(input, options, isHeader) : null),
    read: (columns, needed) => readRows(input, dialect, columns, needed),
    write: (request) => writeRows(input, dialect, request, stdout),
  };
}

async function* readRows(
  input: InputFile,
  dialect: Dialect,
  columns: readonly number[],
  needed: number | undefined,
): AsyncGenerator<readonly Row[]> {
  for await (const { rows } of csvBatches(input, dialect, { columns, needed, dropFrom: null })) {
    if (rows.length > 0) yield rows;
  }
}

async function writeRows(
  input: InputFile,
  dialect: Dialect,
  request: WriteRequest,
  stdout?: Writable,
): Promise<WriteResult> {
  const { delimiter } = dialect;
  const encoding = await encodingToWrite(input, dialect);
  const style = { delimiter, encoding, width: request.added.length };
  const addSuffix = suffixWriter({ ...style, harmlessFrom: 0, own: keptPlaces(request) });
  const addKept = keptSuffixes(addSuffix);
  const joint = jointOf(delimiter, request);
  const output = await openMatchingOutput(request.output, input, stdout, request.signal);
  const written = await writeWhole(output, request.signal, async () => {
    const gathered = gatherBytes((bytes) => output.write(bytes));
    addHeader(gathered, input.head, dialect, request, suffixWriter(style));
    let rows = 0;
    const { fillKeyed, dropFrom, signal } = request;
    const columns = fillKeyed ? null : request.columns;
    for await (const batch of csvBatches(input, dialect, { columns, dropFrom, signal })) {
      const { count } = batch;
      if (fillKeyed && count > 0) {
        const filled = await fillKeyed(count);
        checkCount(count, filled.keys);
        addBatch(gathered, batch, joint, (row) => addKept(row, filled, gathered));
      } else {
        const filled = count === 0 ? [] : await filledRows(request, batch.rows);
        addBatch(gathered, batch, joint, (row) => addSuffix(filled[row]!, gathered));
      }
      rows += count;
      await gathered.flushIfFull();
    }
    await gathered.finish();
    return rows;
  });
  return { rows: written, bytes: output.written() };
}

/** The bytes of a batch with each suffix set in where its record ends; line ends and blank lines are copied with the rest. */
function addBatch(
  gathered: ByteGatherer,
  { count, bytes, from, to, cuts }: CsvBatch,
  joint: string,
  addFields: (row: number) => void,
): void {
  let copied = from;
  for (let row = 0; row < count; row++) {
    const at = row * CUT_WIDTH;
    gathered.addBytes(bytes, copied, cuts[at]!);
    for (let missing = cuts[at + 1]!; missing >= 0; missing--) gathered.addText(joint);
    addFields(row);
    copied = cuts[at + 2]!;
  }
  gathered.addBytes(bytes, copied, to);
}

function addHeader(
  gathered: ByteGatherer,
  head: Buffer,
  { header, hasHeader, columns, delimiter }: Dialect,
  request: WriteRequest,
  addSuffix: SuffixWriter,
): void {
  if (!hasHeader) {
    gathered.addBytes(head, 0, header.next);
    return;
  }
  const cuts = new Int32Array(CUT_WIDTH);
  cutRecord(header, columns.length, request.dropFrom, cuts, 0);
  gathered.addBytes(head, 0, cuts[0]!);
  gathered.addText(jointOf(delimiter, request));
  const names = request.added.map((column) => column.name);
  addSuffix(names, gathered);
  gathered.addBytes(head, header.end, header.next);
}

/** What stands between the kept fields and the added ones: nothing when there are none of either. */
function jointOf(delimiter: string, { dropFrom, added }: WriteRequest): string {
  return dropFrom === 0 || added.length === 0 ? '' : delimiter;
}
