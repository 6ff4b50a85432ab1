import { jsonLine } from '../../formats/json/json-members.ts';
import type { InputFile } from '../files/input-file.ts';
import { writeTextRows } from '../files/row-output.ts';
import type { NewTable, TableTarget, WriteResult } from '../port.ts';

/** Writes a table as a new file with an object a line. */
export async function writeNewNdjson(
  { columns, batches }: NewTable,
  target: TableTarget,
  source: InputFile | null,
): Promise<WriteResult> {
  const names = columns.map(({ name }) => name);
  return await writeTextRows(
    target,
    source,
    async (gathered) => {
      let rows = 0;
      for await (const batch of batches()) {
        for (const fields of batch) gathered.addText(`${Buffer.from(jsonLine(names, fields)).toString('latin1')}\n`);
        rows += batch.length;
        await gathered.flushIfFull();
      }
      return rows;
    },
    true,
  );
}
