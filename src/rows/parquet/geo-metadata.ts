import { degreesOfPoint } from '../../formats/point-text.ts';
import type { BuiltColumns } from './column-builder.ts';
import { ELEMENT, FOOTER, KEY_VALUE } from './format.ts';
import { makeStruct, setField, type ThriftStruct } from './thrift.ts';

/** The key of the GeoParquet metadata in a footer. */
const GEO = 'geo';

/** The bounds of the points of a file: west, south, east, north. */
type Bounds = [west: number, south: number, east: number, north: number];

/** The bounds of the point columns of a new file, by name; null before the first point. */
export type PointBounds = Map<string, Bounds | null>;

/** Adds the points of a row group. */
export function extendBounds(bounds: PointBounds, { columns }: BuiltColumns): void {
  for (const column of columns) {
    if (column.kind !== 'text' || !column.isPoint) continue;
    let of = bounds.get(column.name) ?? null;
    for (const text of column.texts) {
      const { lat, lng } = degreesOfPoint(text);
      if (of === null) of = [lng, lat, lng, lat];
      else of = [Math.min(of[0], lng), Math.min(of[1], lat), Math.max(of[2], lng), Math.max(of[3], lat)];
    }
    bounds.set(column.name, of);
  }
}

/** The parts of GeoParquet's metadata that are used here. */
interface GeoMetadata {
  readonly version: string;
  readonly primary_column: string;
  readonly columns: Readonly<Record<string, object>>;
}

/** Puts the metadata of the point columns into a footer (GeoParquet 1.1.0). Columns of the input keep theirs, and its primary column
 * stays the primary one. Metadata of dropped columns is removed: it would make the file invalid. */
export function setGeoMetadata(footer: ThriftStruct, bounds: PointBounds): void {
  const entries = FOOTER.keyValues.read(footer) ?? [];
  const before = entries.find((entry) => KEY_VALUE.key.read(entry) === GEO);
  if (before === undefined && bounds.size === 0) return;
  const geo = before === undefined ? null : parsed(KEY_VALUE.value.read(before));
  // Metadata in an unknown form stays unchanged.
  if (before !== undefined && geo === null) return;
  const names = new Set((FOOTER.schema.read(footer) ?? []).map((element) => ELEMENT.name.read(element)));
  const kept = Object.entries(geo?.columns ?? {}).filter(([name]) => names.has(name) && !bounds.has(name));
  const own = [...bounds].map(([name, bbox]): [string, object] => [
    name,
    // Without a `crs` the coordinates are OGC:CRS84: longitude and latitude on WGS 84.
    { encoding: 'WKB', geometry_types: ['Point'], ...(bbox === null ? {} : { bbox }) },
  ]);
  const columns = Object.fromEntries([...kept, ...own]);
  const [first] = Object.keys(columns);
  const others = entries.filter((entry) => entry !== before);
  if (first === undefined) {
    setField(footer, FOOTER.keyValues.make(others));
    return;
  }
  const primary = geo !== null && geo.primary_column in columns ? geo.primary_column : first;
  const value: GeoMetadata = { version: '1.1.0', ...geo, primary_column: primary, columns };
  const entry = makeStruct(KEY_VALUE.key.make(GEO), KEY_VALUE.value.make(JSON.stringify(value)));
  setField(footer, FOOTER.keyValues.make([...others, entry]));
}

function parsed(text: string | undefined): GeoMetadata | null {
  try {
    const value = JSON.parse(text ?? '') as Partial<GeoMetadata> | null;
    const isValid =
      typeof value?.primary_column === 'string' && typeof value.columns === 'object' && value.columns !== null;
    return isValid ? (value as GeoMetadata) : null;
  } catch {
    return null;
  }
}
