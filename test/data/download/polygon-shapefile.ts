import { zipSync } from 'fflate';
import type { Feature, MultiPolygon, Polygon } from 'geojson';

/** A zip with a shapefile of outlines, as the Census Bureau publishes it (ESRI Shapefile Technical Description, 1998; dBASE III). */
export function shapefileZip(
  name: string,
  features: readonly Feature<Polygon | MultiPolygon>[],
  columns: readonly string[],
): Buffer {
  const records = features.map(({ geometry }, index) => {
    const rings = (geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates).flat();
    const points = rings.reduce((sum, ring) => sum + ring.length, 0);
    const content = Buffer.alloc(44 + 4 * rings.length + 16 * points);
    content.writeInt32LE(5, 0);
    const all = rings.flat();
    const bounds = [
      ...[Math.min(...all.map(([x]) => x!)), Math.min(...all.map(([, y]) => y!))],
      ...[Math.max(...all.map(([x]) => x!)), Math.max(...all.map(([, y]) => y!))],
    ];
    for (const [at, value] of bounds.entries()) content.writeDoubleLE(value, 4 + 8 * at);
    content.writeInt32LE(rings.length, 36);
    content.writeInt32LE(points, 40);
    let first = 0;
    let at = 44 + 4 * rings.length;
    for (const [ring, positions] of rings.entries()) {
      content.writeInt32LE(first, 44 + 4 * ring);
      first += positions.length;
      for (const [x, y] of clockwise(positions)) {
        content.writeDoubleLE(x!, at);
        content.writeDoubleLE(y!, at + 8);
        at += 16;
      }
    }
    const head = Buffer.alloc(8);
    head.writeInt32BE(index + 1, 0);
    head.writeInt32BE(content.length / 2, 4);
    return Buffer.concat([head, content]);
  });
  const head = Buffer.alloc(100);
  const shp = Buffer.concat([head, ...records]);
  shp.writeInt32BE(9994, 0);
  shp.writeInt32BE(shp.length / 2, 24);
  shp.writeInt32LE(1000, 28);
  shp.writeInt32LE(5, 32);
  const prj =
    'GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983"],PRIMEM["Greenwich",0],UNIT["Degree",0.017]]';
  return Buffer.from(
    zipSync({
      [`${name}.shp`]: shp,
      [`${name}.dbf`]: tableOf(features, columns),
      [`${name}.prj`]: Buffer.from(prj),
    }),
  );
}

/** The outer ring of a shapefile goes clockwise. */
function clockwise(ring: readonly (readonly number[])[]): readonly (readonly number[])[] {
  let area = 0;
  for (const [index, [x, y]] of ring.slice(1).entries()) area += ring[index]![0]! * y! - x! * ring[index]![1]!;
  return area > 0 ? ring.toReversed() : ring;
}

function tableOf(features: readonly Feature[], columns: readonly string[]): Buffer {
  const width = 40;
  const head = Buffer.alloc(32 + 32 * columns.length + 1);
  head[0] = 3;
  head.writeUInt32LE(features.length, 4);
  head.writeUInt16LE(head.length, 8);
  head.writeUInt16LE(1 + width * columns.length, 10);
  for (const [index, column] of columns.entries()) {
    head.write(column, 32 + 32 * index, 'latin1');
    head.write('C', 32 + 32 * index + 11, 'latin1');
    head[32 + 32 * index + 16] = width;
  }
  head[head.length - 1] = 0x0d;
  const rows = features.map(({ properties }) =>
    Buffer.from(` ${columns.map((column) => String(properties?.[column] ?? '').padEnd(width)).join('')}`, 'latin1'),
  );
  return Buffer.concat([head, ...rows, Buffer.from([0x1a])]);
}
