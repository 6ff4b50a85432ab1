/** The parts of a shapefile of named points (ESRI Shapefile Technical Description, 1998; dBASE III). */
export function shapefileOf(points: readonly { lng: number; lat: number; name: string }[], projection: string) {
  const shp = Buffer.alloc(100 + points.length * 28);
  shp.writeInt32BE(9994, 0);
  shp.writeInt32BE(shp.length / 2, 24);
  shp.writeInt32LE(1000, 28);
  shp.writeInt32LE(1, 32);
  for (const [index, { lng, lat }] of points.entries()) {
    const at = 100 + index * 28;
    shp.writeInt32BE(index + 1, at);
    shp.writeInt32BE(10, at + 4);
    shp.writeInt32LE(1, at + 8);
    shp.writeDoubleLE(lng, at + 12);
    shp.writeDoubleLE(lat, at + 20);
  }
  const width = 20;
  const dbf = Buffer.alloc(32 + 32 + 1 + points.length * (width + 1) + 1, 0x20);
  dbf.fill(0, 0, 64);
  dbf[0] = 3;
  dbf.writeUInt32LE(points.length, 4);
  dbf.writeUInt16LE(65, 8);
  dbf.writeUInt16LE(width + 1, 10);
  dbf.write('NAME', 32, 'latin1');
  dbf.write('C', 43, 'latin1');
  dbf[48] = width;
  dbf[64] = 0x0d;
  for (const [index, { name }] of points.entries()) dbf.write(name, 65 + index * (width + 1) + 1, 'utf8');
  dbf[dbf.length - 1] = 0x1a;
  return { shp, dbf, prj: Buffer.from(projection) };
}
