import { fieldOf } from '../../formats/typed-value.ts';
import type { InputFile } from '../files/input-file.ts';
import { writeTextRows } from '../files/row-output.ts';
import { putPlace } from '../placed-fields.ts';
import type { NewTable, TableTarget, WriteResult } from '../port.ts';
import { fieldEncoder } from './field-bytes.ts';
import { textFormatter } from './format-fields.ts';

/** Writes a table as a new file of delimited text. */
export async function writeNewCsv(
  delimiter: ',' | '\t',
  { columns, batches }: NewTable,
  target: TableTarget,
  source: InputFile | null,
): Promise<WriteResult> {
  const format = { delimiter, encoding: 'utf-8', decimal: target.decimal } as const;
  return await writeTextRows(
    target,
    source,
    async (gathered) => {
      const textOf = textFormatter(format);
      gathered.addText(`${columns.map(({ name }) => textOf(name, false)).join(delimiter)}\n`);
      const record = fieldEncoder(format, columns, false, (bytes, length) => {
        gathered.addBytes(bytes, 0, length);
        gathered.addText('\n');
      });
      let rows = 0;
      for await (const batch of batches()) {
        for (const fields of batch) putPlace(record, fields.map(fieldOf));
        rows += batch.length;
        await gathered.flushIfFull();
      }
      return rows;
    },
    true,
  );
}
