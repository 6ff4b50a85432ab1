import { pipeline, Readable } from 'node:stream';
import type { PerilbookError } from '../../base/errors.ts';
import type { Chunks } from '../bytes/byte-source.ts';
import { decodeText } from '../bytes/decode-text.ts';

/** A record of a file of delimited text, or a row of a sheet. */
export interface TableRecord {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

export interface TextForm {
  /** `|` files have no quotes. */
  readonly delimiter?: ',' | '|';
  /** Quotes within quoted cells are not doubled: `"CERTAIN "A" COMPOUNDS, N.E.C."`. */
  readonly hasPlainQuotes?: boolean;
}

export type Batches<T> = AsyncGenerator<readonly T[], void, void>;

/** No publisher's cell has this many lines: a quote still open after them is a stray one, and everything after it would end up in its cell. */
const MOST_LINES = 1_000;
/** Some files carry shapes of several megabytes in one cell. */
const MOST_BYTES = 16 * 1024 * 1024;
const RECORDS_A_BATCH = 500;

/** The records of a publisher's file, as texts, a block at a time: memory is bounded by the block and one record. An empty line is no
 * record.
 * @param damaged makes the error for a quote that is not closed, or a last line that is cut */
export async function* parsedRecords(
  blocks: AsyncIterable<Buffer>,
  { delimiter = ',', hasPlainQuotes = false }: TextForm,
  damaged: (problem: string) => PerilbookError,
): Batches<TableRecord> {
  // Loaded here, because most commands read no agency's file.
  const { CsvError, parse } = await import('csv-parse');
  let lastByte = LF;
  async function* seen(): Chunks {
    for await (const block of hasPlainQuotes ? withDoubledQuotes(blocks) : blocks) {
      if (block.length > 0) lastByte = block.at(-1)!;
      yield block;
    }
  }
  const parser = parse({
    delimiter,
    quote: delimiter === '|' ? null : '"',
    // Bytes stay bytes until a cell is read: some publishers write windows-1252.
    encoding: 'latin1',
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_quotes: true,
    relax_column_count: true,
    max_record_size: MOST_BYTES,
  });
  // The loop below gets its errors.
  pipeline(Readable.from(seen(), { objectMode: true, highWaterMark: 1 }), parser, () => {});
  const shape = recordShape(damaged);
  // The last record waits until it is known whether a line end follows.
  let held: readonly string[] | null = null;
  let records: TableRecord[] = [];
  try {
    for await (const cells of parser as AsyncIterable<readonly string[]>) {
      if (held !== null) records.push(...shape.of(held, false));
      held = cells;
      if (records.length < RECORDS_A_BATCH) continue;
      yield records;
      records = [];
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (held !== null) shape.of(held, false);
    throw damaged(`line ${shape.line()}: a quote is not closed`);
  }
  if (held !== null) records.push(...shape.of(held, lastByte !== LF && lastByte !== CR));
  if (records.length > 0) yield records;
}

const [LF, CR] = [10, 13];

const TO_DECODE_OR_COUNT = /[\x80-\xff\r\n]/;

/** Decodes cells, counts lines, and finds a last line that is cut. */
function recordShape(damaged: (problem: string) => PerilbookError) {
  let line = 1;
  let fewest = Number.POSITIVE_INFINITY;
  return {
    line: () => line,
    /** The record of some cells; none for an empty line. */
    of(raw: readonly string[], isUnended: boolean): TableRecord[] {
      const first = line;
      line += 1;
      const cells = raw.map((cell) => {
        if (!TO_DECODE_OR_COUNT.test(cell)) return cell;
        line += cell.match(/\r\n|\r|\n/g)?.length ?? 0;
        const bytes = Buffer.from(cell, 'latin1');
        return decodeText(bytes, 0, bytes.length, 'utf-8');
      });
      if (line - first > MOST_LINES) throw damaged(`line ${first}: a quote is not closed`);
      if (isUnended && first > 1 && cells.length < fewest) {
        const fields = cells.length === 1 ? '1 field' : `${cells.length} fields`;
        throw damaged(`it is cut: its last line, ${first}, has only ${fields}`);
      }
      if (cells.length === 1 && cells[0] === '') return [];
      fewest = Math.min(
        fewest,
        first === 1 ? cells.findLastIndex((cell) => cell !== '') + 1 : cells.length,
      );
      return [{ line: first, cells }];
    },
  };
}

/** Doubles the quotes within cells: those without a delimiter or line end on either side. */
async function* withDoubledQuotes(blocks: AsyncIterable<Buffer>): Chunks {
  let rest = '';
  for await (const block of blocks) {
    const text = rest + block.toString('latin1');
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    if (end > 0) yield Buffer.from(doubled(text.slice(0, end)), 'latin1');
  }
  if (rest !== '') yield Buffer.from(doubled(rest), 'latin1');
}

/** Quotes side by side are doubled already. */
const doubled = (text: string): string => text.replace(/(?<=[^,"\r\n])"(?=[^,"\r\n])/g, '""');
