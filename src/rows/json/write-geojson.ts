import { jsonLine } from '../../formats/json/json-members.ts';
import { fieldOf, type Value } from '../../formats/typed-value.ts';
import { degreesOfPoint } from '../../geo/geometry-points.ts';
import { type WriteNewFile, writeNewText } from '../files/row-output.ts';
import type { NewTable } from '../port.ts';

/** Writes a table as a collection of features (RFC 7946), one per line: the point is the geometry (or null), other columns are properties. */
export const writeNewGeojson: WriteNewFile = async (table, target, source) => {
  const featureOf = featureFormatter(table);
  const begin: Parameters<typeof writeNewText>[3] = (gathered) => {
    gathered.addText('{"type":"FeatureCollection","features":[');
    return (values, row) =>
      gathered.addText(
        `${row === 0 ? '' : ','}\n${Buffer.from(featureOf(values)).toString('latin1')}`,
      );
  };
  return await writeNewText(table, target, source, begin, '\n]}\n');
};

function formatGeometry(point: Value): string {
  if (point === null) return 'null';
  const { lat, lng } = degreesOfPoint(String(fieldOf(point)));
  return `{"type":"Point","coordinates":[${lng},${lat}]}`;
}

/** Writes a table as a new file with a feature on each line. */
export const writeNewFeatureLines: WriteNewFile = async (table, target, source) => {
  const featureOf = featureFormatter(table);
  return await writeNewText(table, target, source, (gathered) => (values) => {
    gathered.addText(`${Buffer.from(featureOf(values)).toString('latin1')}\n`);
  });
};

/** Makes what writes a row of a table as a feature. */
function featureFormatter({ columns }: NewTable): (values: readonly Value[]) => string {
  const point = columns.findIndex(({ type }) => type === 'point');
  const properties = columns.toSpliced(point, 1);
  return (values) =>
    `{"type":"Feature","geometry":${formatGeometry(values[point]!)},"properties":${jsonLine(properties, values.toSpliced(point, 1))}}`;
}
