import { jsonLine } from '../../formats/json/json-members.ts';
import { fieldOf, type Value } from '../../formats/typed-value.ts';
import { degreesOfPoint } from '../../geo/geometry-points.ts';
import { type WriteNewFile, writeNewText } from '../files/row-output.ts';

/** Writes a table as a new file with one object per line. */
export const writeNewNdjson: WriteNewFile = async (table, target, source) => {
  return await writeNewText(table, target, source, (gathered) => (values) => {
    gathered.addText(`${Buffer.from(jsonLine(table.columns, values)).toString('latin1')}\n`);
  });
};

/** Writes a table as a collection of features (RFC 7946), one per line: the point is the geometry (null if a row has none), and all
 * other columns are properties. */
export const writeNewGeojson: WriteNewFile = async (table, target, source) => {
  const point = table.columns.findIndex(({ type }) => type === 'point');
  const properties = table.columns.toSpliced(point, 1);
  const featureOf = (values: readonly Value[]) =>
    `{"type":"Feature","geometry":${formatGeometry(values[point]!)},"properties":${jsonLine(properties, values.toSpliced(point, 1))}}`;
  const begin: Parameters<typeof writeNewText>[3] = (gathered) => {
    gathered.addText('{"type":"FeatureCollection","features":[');
    return (values, row) =>
      gathered.addText(`${row === 0 ? '' : ','}\n${Buffer.from(featureOf(values)).toString('latin1')}`);
  };
  return await writeNewText(table, target, source, begin, '\n]}\n');
};

function formatGeometry(point: Value): string {
  if (point === null) return 'null';
  const { lat, lng } = degreesOfPoint(String(fieldOf(point)));
  return `{"type":"Point","coordinates":[${lng},${lat}]}`;
}
