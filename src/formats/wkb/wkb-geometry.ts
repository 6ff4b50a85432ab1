import type { Geometry, Position } from 'geojson';

/** Reads a geometry in well-known binary (ISO or EWKB). Heights and measures are left out. Null for an empty point.
 * @throws RangeError where the bytes end before it, or for a curve or surface */
export function readWkb(bytes: Uint8Array): Geometry | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const readGeometry = (): Geometry | null => {
    const little = view.getUint8(at) === 1;
    const type = view.getUint32(at + 1, little);
    at += type & 0x20000000 ? 9 : 5;
    const iso = Math.floor((type & 0x0fffffff) / 1000);
    const axes = 2 + (iso === 3 ? 2 : iso > 0 ? 1 : 0) + flagOf(type, 31) + flagOf(type, 30);
    const count = (): number => {
      at += 4;
      return view.getUint32(at - 4, little);
    };
    const list = <T>(read: () => T): T[] => Array.from({ length: count() }, read);
    const position = (): Position => {
      const own = [view.getFloat64(at, little), view.getFloat64(at + 8, little)];
      at += 8 * axes;
      return own;
    };
    const positions = () => list(position);
    const members = () => list(readGeometry).filter((member) => member !== null);
    const joined = <T>() =>
      members().map((member) => (member as unknown as { readonly coordinates: T }).coordinates);
    switch ((type & 0x0fffffff) % 1000) {
      case 1: {
        const coordinates = position();
        return coordinates.some(Number.isNaN) ? null : { type: 'Point', coordinates };
      }
      case 2:
        return { type: 'LineString', coordinates: positions() };
      case 3:
        return { type: 'Polygon', coordinates: list(positions) };
      case 4:
        return { type: 'MultiPoint', coordinates: joined<Position>() };
      case 5:
        return { type: 'MultiLineString', coordinates: joined<Position[]>() };
      case 6:
        return { type: 'MultiPolygon', coordinates: joined<Position[][]>() };
      case 7:
        return { type: 'GeometryCollection', geometries: members() };
      default:
        throw new RangeError(`a geometry of the kind ${type & 0x0fffffff}`);
    }
  };
  return readGeometry();
}

/** EWKB has flags for axes in the highest bits. */
const flagOf = (type: number, bit: number): 0 | 1 => ((type >>> bit) & 1) as 0 | 1;
