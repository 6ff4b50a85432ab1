import { fieldOf } from '../../formats/typed-value.ts';
import { type WriteNewFile, writeNewText } from '../files/row-output.ts';
import { putPlace } from '../placed-fields.ts';
import { FieldEncoder } from './field-bytes.ts';
import { textFormatter } from './format-fields.ts';

/** Makes the writer of a table as a new file of delimited text. */
export function newCsvWriter(delimiter: string): WriteNewFile {
  return async (table, target, source) => {
    const format = { delimiter, encoding: 'utf-8', decimal: target.decimal } as const;
    const textOf = textFormatter(format);
    return await writeNewText(table, target, source, (gathered) => {
      gathered.addText(`${table.columns.map(({ name }) => textOf(name, false)).join(delimiter)}\n`);
      const record = new FieldEncoder(format, table.columns, false, (bytes, length) => {
        gathered.addBytes(bytes, 0, length);
        gathered.addText('\n');
      });
      return (values) => putPlace(record, values.map(fieldOf));
    });
  };
}
