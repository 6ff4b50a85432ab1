import type { PartedRowFile, Row, RowFile, WriteRequest } from './port.ts';

/** The rows of a book as texts, each with what `fill` needs of it. */
export interface TextTable {
  readonly names: readonly string[];
  /** For each column whether all its texts are numbers. */
  readonly isNumber: readonly boolean[];
  readonly batches: () => AsyncGenerator<{
    readonly texts: readonly (readonly string[])[];
    readonly rows: readonly Row[];
  }>;
}

/** Reads a book as texts, for a format that is not its own. */
export async function textTable(opened: RowFile | PartedRowFile, request: WriteRequest): Promise<TextTable> {
  const rowFile = await entireFile(opened);
  const columns = request.fillKeyed ? [] : request.columns;
  const whole = 'wholeColumns' in rowFile ? rowFile.wholeColumns : [...rowFile.columns.keys()];
  const known = opened.columns.length;
  const dropFrom = request.dropFrom ?? known;
  const kept = whole.filter((index) => index < dropFrom || index >= known);
  return {
    names: kept.map((index) => rowFile.columns[index]!),
    isNumber: kept.map((index) => request.numbers?.has(index) === true),
    async *batches() {
      for await (const read of rowFile.read([...kept, ...columns])) {
        if (columns.length === 0) {
          yield { texts: read.map((row) => row.fields), rows: read };
          continue;
        }
        const texts = read.map((row) => row.fields.slice(0, kept.length));
        const rows = read.map((row): Row => ({ ...row, fields: row.fields.slice(kept.length) }));
        yield { texts, rows };
      }
    },
  };
}

async function entireFile(rowFile: RowFile | PartedRowFile): Promise<RowFile | PartedRowFile> {
  return 'entire' in rowFile && rowFile.entire ? await rowFile.entire() : rowFile;
}
