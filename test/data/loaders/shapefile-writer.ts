/** The parts of a shapefile of named points (ESRI Shapefile Technical Description, 1998; dBASE III). */
export function shapefileOf(
  points: readonly { lng: number; lat: number; name: string }[],
  projection: string,
) {
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
  for (const [index, { name }] of points.entries())
    dbf.write(name, 65 + index * (width + 1) + 1, 'utf8');
  dbf[dbf.length - 1] = 0x1a;
  return { shp, dbf, prj: Buffer.from(projection) };
}

type Ring = readonly (readonly [lng: number, lat: number])[];

/** The parts of a shapefile of polygons with texts; rings end where they begin. */
export function polygonShapefileOf(
  rows: readonly {
    readonly rings: readonly Ring[];
    readonly texts: Readonly<Record<string, string>>;
  }[],
  projection: string,
) {
  const records = rows.map(({ rings }, index) => {
    const points = rings.flat();
    const body = Buffer.alloc(44 + 4 * rings.length + 16 * points.length);
    body.writeInt32LE(5, 0);
    const bounds = [0, 1].map((axis) => points.map((point) => point[axis]!));
    const box = [
      ...bounds.map((values) => Math.min(...values)),
      ...bounds.map((values) => Math.max(...values)),
    ];
    for (const [at, value] of box.entries()) body.writeDoubleLE(value, 4 + 8 * at);
    body.writeInt32LE(rings.length, 36);
    body.writeInt32LE(points.length, 40);
    let first = 0;
    for (const [at, ring] of rings.entries()) {
      body.writeInt32LE(first, 44 + 4 * at);
      first += ring.length;
    }
    for (const [at, value] of points.flat().entries())
      body.writeDoubleLE(value, 44 + 4 * rings.length + 8 * at);
    const head = Buffer.alloc(8);
    head.writeInt32BE(index + 1, 0);
    head.writeInt32BE(body.length / 2, 4);
    return Buffer.concat([head, body]);
  });
  const header = Buffer.alloc(100);
  header.writeInt32BE(9994, 0);
  header.writeInt32BE((100 + records.reduce((sum, record) => sum + record.length, 0)) / 2, 24);
  header.writeInt32LE(1000, 28);
  header.writeInt32LE(5, 32);
  const names = Object.keys(rows[0]!.texts);
  const width = 60;
  const dbf = Buffer.alloc(
    32 + 32 * names.length + 1 + rows.length * (1 + width * names.length) + 1,
    0x20,
  );
  const start = 32 + 32 * names.length + 1;
  dbf.fill(0, 0, start);
  dbf[0] = 3;
  dbf.writeUInt32LE(rows.length, 4);
  dbf.writeUInt16LE(start, 8);
  dbf.writeUInt16LE(1 + width * names.length, 10);
  for (const [at, name] of names.entries()) {
    dbf.write(name, 32 + 32 * at, 'latin1');
    dbf.write('C', 43 + 32 * at, 'latin1');
    dbf[48 + 32 * at] = width;
  }
  dbf[start - 1] = 0x0d;
  for (const [row, { texts }] of rows.entries()) {
    for (const [at, name] of names.entries())
      dbf.write(texts[name]!, start + row * (1 + width * names.length) + 1 + width * at, 'latin1');
  }
  dbf[dbf.length - 1] = 0x1a;
  return { shp: Buffer.concat([header, ...records]), dbf, prj: Buffer.from(projection) };
}
