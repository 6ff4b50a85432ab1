import type { ByteSource } from '../bytes/byte-source.ts';
import type { TableRecord } from '../csv/parsed-records.ts';
import { cellText, sheetCellReader } from './cell-values.ts';
import { sheetPieces } from './sheet-parser.ts';
import { openWorkbook } from './workbook.ts';

/** The rows of a sheet that are not empty, as records of a CSV file. Shared texts are in memory, the sheet is not. @param wanted a
 * pattern of the sheet's name; by default the first visible sheet */
export async function* sheetRecords(
  source: ByteSource,
  wanted: RegExp,
): AsyncGenerator<readonly TableRecord[], void, void> {
  const workbook = await openWorkbook(source, wanted);
  const reader = await sheetCellReader(workbook);
  for await (const { rows } of sheetPieces(workbook)) {
    const records = rows.map(({ line, cells }) => {
      const texts: string[] = Array((cells.at(-1)?.column ?? -1) + 1).fill('');
      for (const cell of cells) texts[cell.column] = cellText(cell, reader);
      return { line, cells: texts };
    });
    const used = records.filter(({ cells }) => cells.some((text) => text !== ''));
    if (used.length > 0) yield used;
  }
}
