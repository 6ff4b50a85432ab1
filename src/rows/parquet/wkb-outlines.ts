import type { MultiPolygon, Position } from 'geojson';

const [POLYGON, MULTI_POLYGON] = [3, 6];

/** The polygons of an outline in well-known binary, with or without height, measure and reference system (ISO and EWKB). Throws a
 * `RangeError` where the bytes end before it. */
export function outlineOfWkb(bytes: Uint8Array): MultiPolygon {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const coordinates: Position[][][] = [];
  let at = 0;
  const readPolygons = () => {
    const little = view.getUint8(at) === 1;
    const count = () => {
      const value = view.getUint32(at, little);
      at += 4;
      // Each part takes 4 bytes or more: a damaged count would reserve memory.
      if (value > bytes.length) throw new RangeError('damaged');
      return value;
    };
    at += 1;
    const type = view.getUint32(at, little);
    at += type & 0x20000000 ? 8 : 4;
    const kind = (type & 0x0fffffff) % 1000;
    const axes = Math.floor((type & 0x0fffffff) / 1000);
    const more = (type & 0x80000000 ? 1 : 0) + (type & 0x40000000 ? 1 : 0) + (axes === 3 ? 2 : axes > 0 ? 1 : 0);
    if (kind === MULTI_POLYGON) {
      for (let parts = count(); parts > 0; parts--) readPolygons();
      return;
    }
    if (kind !== POLYGON) throw new RangeError('no outline');
    const rings: Position[][] = [];
    for (let left = count(); left > 0; left--) {
      const ring: Position[] = [];
      for (let positions = count(); positions > 0; positions--) {
        ring.push([view.getFloat64(at, little), view.getFloat64(at + 8, little)]);
        at += 16 + 8 * more;
      }
      rings.push(ring);
    }
    coordinates.push(rings);
  };
  readPolygons();
  return { type: 'MultiPolygon', coordinates };
}
