import type { DegreeBatch, Row, RowPiece } from '../port.ts';
import type { FileColumn } from './file-columns.ts';
import { orUnreadable, type ParquetFile } from './footer.ts';
import { type DecodedPage, decodedPages, nextPage } from './page-values.ts';
import type { GroupReader } from './pages.ts';
import type { SchemaNode } from './schema.ts';
import { textForm } from './value-text.ts';

/** The leaf of a column with one double a row at most; null for other columns. */
export function doubleIn(column: FileColumn): SchemaNode | null {
  if (column.kind === 'place') return null;
  const node = column.kind === 'member' ? column.leaf : column.field;
  return node.leaf?.type === 'DOUBLE' && node.maxRepetition === 0 ? node : null;
}

const DEGREES_A_BATCH = 4096;

/** A column of doubles, a batch at a time in the same array. */
function doubleSource(at: GroupReader, node: SchemaNode) {
  const pages = decodedPages(at, node, (value) => value as number);
  const values = new Float64Array(DEGREES_A_BATCH);
  const isThere = new Uint8Array(DEGREES_A_BATCH);
  const text = textForm(node);
  let page: DecodedPage<number> | null = null;
  let entry = 0;
  let next = 0;
  return {
    values,
    textAt: (index: number) => (isThere[index] === 1 ? text(values[index]!) : ''),
    async next(count: number): Promise<void> {
      for (let filled = 0; filled < count; ) {
        if (page === null || entry === page.values) {
          page = await nextPage(pages, node);
          entry = 0;
          next = 0;
        }
        const { definitions, valueAt } = page;
        for (; filled < count && entry < page.values; entry++, filled++) {
          const there = definitions === null || definitions[entry] === node.maxDefinition;
          isThere[filled] = there ? 1 : 0;
          values[filled] = there ? valueAt(next++) : Number.NaN;
        }
        if (entry === page.values) page.release();
      }
    },
  };
}

/** To make texts of doubles and numbers of the texts again took a third of the time of a scan. */
export async function* degreesOfGroup(
  file: ParquetFile,
  piece: RowPiece,
  latitude: SchemaNode,
  longitude: SchemaNode,
): AsyncGenerator<DegreeBatch, RowPiece> {
  await using pass = await file.input.startPass(true);
  const group = file.rowGroups[piece.from]!;
  const at: GroupReader = { file, pass, group };
  const [lats, lngs] = [doubleSource(at, latitude), doubleSource(at, longitude)];
  for (let done = 0; done < group.rows; done += DEGREES_A_BATCH) {
    const count = Math.min(DEGREES_A_BATCH, group.rows - done);
    await orUnreadable(file.input.name, async () => {
      await lats.next(count);
      await lngs.next(count);
    });
    const rowAt = (index: number): Row => {
      const number = done + index + 1;
      return { number, line: number, fields: [lats.textAt(index), lngs.textAt(index)] };
    };
    yield { count, lats: lats.values, lngs: lngs.values, rowAt };
  }
  return piece;
}
