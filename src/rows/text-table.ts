import type { Book, PartedBook, Row, WriteRequest } from './port.ts';

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
export async function textTable(opened: Book | PartedBook, request: WriteRequest): Promise<TextTable> {
  const book = await entireBook(opened);
  const columns = request.fillKeyed ? [] : request.columns;
  const whole = 'wholeColumns' in book ? book.wholeColumns : [...book.columns.keys()];
  const known = opened.columns.length;
  const dropFrom = request.dropFrom ?? known;
  const kept = whole.filter((index) => index < dropFrom || index >= known);
  return {
    names: kept.map((index) => book.columns[index]!),
    isNumber: kept.map((index) => request.numbers?.has(index) === true),
    async *batches() {
      for await (const read of book.read([...kept, ...columns])) {
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

async function entireBook(book: Book | PartedBook): Promise<Book | PartedBook> {
  return 'entire' in book && book.entire ? await book.entire() : book;
}
