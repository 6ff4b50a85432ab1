import type { Writable } from 'node:stream';
import type { Field } from '../contract/answer.ts';
import { fieldFormatter } from './csv/format-fields.ts';
import { compressionOfOutput } from './files/compression.ts';
import { compressedOutput, writeRows } from './files/row-output.ts';
import { jsonLine } from './json/json-members.ts';
import { type NewTable, writeNewParquet } from './parquet/new-parquet.ts';
import type { WriteResult } from './port.ts';

export type TableFormat = 'csv' | 'ndjson' | 'parquet';

/** Writes a table whole or not at all: to a path, or to `stdout` where it is `-`. */
export async function writeTable(
  { columns, batches }: NewTable,
  format: TableFormat,
  target: { readonly output: string; readonly stdout?: Writable },
): Promise<WriteResult> {
  if (format === 'parquet') return await writeNewParquet({ columns, batches }, target, null);
  const names = columns.map(({ name }) => name);
  const record = fieldFormatter({ delimiter: ',', encoding: 'utf-8', isAdded: () => true });
  const lineOf = (fields: readonly Field[]) =>
    format === 'csv' ? record(fields) : Buffer.from(jsonLine(names, fields)).toString('latin1');
  const compression = compressionOfOutput(target.output, { name: '', compression: null });
  return await writeRows(
    target,
    null,
    async (gathered) => {
      if (format === 'csv') gathered.addText(`${record(names)}\n`);
      let rows = 0;
      for await (const batch of batches()) {
        for (const fields of batch) gathered.addText(`${lineOf(fields)}\n`);
        rows += batch.length;
        await gathered.flushIfFull();
      }
      return rows;
    },
    (file) => (compression === null ? file : compressedOutput(file, compression)),
  );
}
