import type { Writable } from 'node:stream';
import { fieldEncoder } from './csv/field-bytes.ts';
import { textFormatter } from './csv/format-fields.ts';
import type { ByteBuffer } from './files/byte-buffer.ts';
import { compressionOfOutput } from './files/compression.ts';
import { compressedOutput, writeRows } from './files/row-output.ts';
import { jsonLine } from './json/json-members.ts';
import type { TextFormat } from './output-format.ts';
import { type NewTable, writeNewParquet } from './parquet/new-parquet.ts';
import { putPlace } from './placed-fields.ts';
import type { WriteResult } from './port.ts';

export type TableFormat = 'csv' | 'ndjson' | 'parquet';

/** Writes a table whole or not at all: to a path, or to `stdout` where it is `-`. */
export async function writeTable(
  table: NewTable,
  format: TableFormat,
  target: { readonly output: string; readonly stdout?: Writable },
): Promise<WriteResult> {
  if (format === 'parquet') return await writeNewParquet(table, target, null);
  const compression = compressionOfOutput(target.output, { name: '', compression: null });
  return await writeRows(
    target,
    null,
    (gathered) => addTextTable(gathered, table, format),
    (file) => (compression === null ? file : compressedOutput(file, compression)),
  );
}

/** Adds a table as text; gives the number of its rows. */
export async function addTextTable(
  gathered: ByteBuffer,
  { columns, batches }: NewTable,
  format: TextFormat,
): Promise<number> {
  const names = columns.map(({ name }) => name);
  const delimited = { delimiter: format === 'tsv' ? '\t' : ',', encoding: 'utf-8' as const };
  const record = fieldEncoder(delimited, columns, false, (bytes, length) => {
    gathered.addBytes(bytes, 0, length);
    gathered.addText('\n');
  });
  if (format !== 'ndjson') {
    const textOf = textFormatter(delimited);
    gathered.addText(`${names.map((name) => textOf(name, false)).join(delimited.delimiter)}\n`);
  }
  let rows = 0;
  for await (const batch of batches()) {
    for (const fields of batch) {
      if (format !== 'ndjson') putPlace(record, fields);
      else gathered.addText(`${Buffer.from(jsonLine(names, fields)).toString('latin1')}\n`);
    }
    rows += batch.length;
    await gathered.flushIfFull();
  }
  return rows;
}
