import type { Writable } from 'node:stream';
import { PerilbookError } from '../errors.ts';
import { type CsvBatch, CUT_WIDTH, csvBatches, cutRecord } from './csv-batches.ts';
import { type CsvOptions, type Dialect, readDialect } from './csv-dialect.ts';
import { suffixWriter } from './csv-suffix.ts';
import { type ByteGatherer, gatherBytes } from './gather-bytes.ts';
import type { InputFile } from './input-file.ts';
import { openOutput } from './output-file.ts';
import type { Book, Row, WriteRequest, WriteResult } from './port.ts';

/** Opens a CSV file behind the port. `stdout` takes an output named `-`. */
export function csvBook(input: InputFile, options: CsvOptions, stdout?: Writable): Book {
  const dialect = readDialect(input.name, input.head, input.head.length === input.size, options);
  return {
    format: 'csv',
    columns: dialect.columns,
    read: (columns) => readRows(input, dialect, columns),
    write: (request) => writeRows(input, dialect, request, stdout),
  };
}

async function* readRows(
  input: InputFile,
  dialect: Dialect,
  columns: readonly number[],
): AsyncGenerator<readonly Row[]> {
  for await (const { rows } of csvBatches(input, dialect, { columns, dropFrom: null })) {
    if (rows.length > 0) yield rows;
  }
}

async function writeRows(
  input: InputFile,
  dialect: Dialect,
  request: WriteRequest,
  stdout?: Writable,
): Promise<WriteResult> {
  const { delimiter, encoding } = dialect;
  const suffixOf = suffixWriter({ delimiter, encoding, width: request.added.length });
  const joint = jointOf(delimiter, request);
  const output = await openOutput(request.output, input.identity, stdout, request.signal);
  try {
    const gathered = gatherBytes((bytes) => output.write(bytes));
    gathered.addText(headerText(input.head, dialect, request, suffixOf));
    let rows = 0;
    for await (const batch of csvBatches(input, dialect, request)) {
      const filled = batch.rows.length === 0 ? [] : await request.fill(batch.rows);
      if (filled.length !== batch.rows.length) {
        throw new PerilbookError(
          'BUG',
          `${batch.rows.length} rows were given ${filled.length} answers`,
          'Please report this.',
        );
      }
      addBatch(gathered, batch, joint, filled.map(suffixOf));
      rows += batch.rows.length;
      await gathered.flushIfFull();
    }
    const bytes = await gathered.finish();
    request.signal?.throwIfAborted();
    await output.commit();
    return { rows, bytes };
  } catch (error) {
    await output.discard();
    throw error;
  }
}

/** The bytes of a batch with each suffix set in where its record ends; line ends and blank lines are copied with the rest. */
function addBatch(gathered: ByteGatherer, batch: CsvBatch, joint: string, suffixes: readonly string[]): void {
  const { bytes, from, to, cuts } = batch;
  let copied = from;
  for (let row = 0; row < suffixes.length; row++) {
    const at = row * CUT_WIDTH;
    const missing = cuts[at + 1]!;
    gathered.addBytes(bytes, copied, cuts[at]!);
    gathered.addText((missing === 0 ? joint : joint.repeat(missing + 1)) + suffixes[row]);
    copied = cuts[at + 2]!;
  }
  gathered.addBytes(bytes, copied, to);
}

function headerText(
  head: Buffer,
  dialect: Dialect,
  request: WriteRequest,
  suffixOf: (names: readonly string[]) => string,
): string {
  const { header, columns, delimiter } = dialect;
  const cuts = new Int32Array(CUT_WIDTH);
  cutRecord(header, columns.length, request.dropFrom, cuts, 0);
  const suffix = suffixOf(request.added.map((column) => column.name));
  const latin1 = (from: number, to: number) => head.toString('latin1', from, to);
  return latin1(0, cuts[0]!) + jointOf(delimiter, request) + suffix + latin1(header.end, header.next);
}

/** What stands between the kept fields and the added ones: nothing when there are none of either. */
function jointOf(delimiter: string, { dropFrom, added }: WriteRequest): string {
  return dropFrom === 0 || added.length === 0 ? '' : delimiter;
}
