import { jsonLine } from '../../formats/json/json-members.ts';
import { degreesOfPoint } from '../../formats/point-text.ts';
import { fieldOf, type Value } from '../../formats/typed-value.ts';
import type { InputFile } from '../files/input-file.ts';
import { writeTextRows } from '../files/row-output.ts';
import type { NewTable, TableTarget, WriteResult } from '../port.ts';

/** Writes a table as a collection of features (RFC 7946), one a line: its point is the geometry, null where a row has none, and all
 * other columns are properties. */
export async function writeNewGeojson(
  { columns, batches }: NewTable,
  target: TableTarget,
  source: InputFile | null,
): Promise<WriteResult> {
  const point = columns.findIndex(({ type }) => type === 'point');
  const names = columns.map(({ name }) => name).toSpliced(point, 1);
  return await writeTextRows(
    target,
    source,
    async (gathered) => {
      gathered.addText('{"type":"FeatureCollection","features":[');
      let rows = 0;
      for await (const batch of batches()) {
        for (const values of batch) {
          const properties = jsonLine(names, values.toSpliced(point, 1));
          const feature = `{"type":"Feature","geometry":${geometryOf(values[point]!)},"properties":${properties}}`;
          gathered.addText(`${rows++ === 0 ? '' : ','}\n${Buffer.from(feature).toString('latin1')}`);
        }
        await gathered.flushIfFull();
      }
      gathered.addText('\n]}\n');
      return rows;
    },
    true,
  );
}

function geometryOf(point: Value): string {
  if (point === null) return 'null';
  const { lat, lng } = degreesOfPoint(String(fieldOf(point)));
  return `{"type":"Point","coordinates":[${lng},${lat}]}`;
}
