import { resultOrNull } from '../../base/errors.ts';
import { ELEMENT, FOOTER, KEY_VALUE } from './format.ts';
import { makeStruct, setField, type ThriftStruct } from './thrift.ts';

/** The key of the GeoParquet metadata in a footer. */
const GEO = 'geo';

interface GeoMetadata {
  readonly version: string;
  readonly primary_column: string;
  readonly columns: Readonly<Record<string, object>>;
}

/** Puts the metadata of the point columns into a footer (GeoParquet 1.1.0). Columns of the input keep theirs, and its primary column
 * stays the primary one. Metadata of dropped columns is removed: it would make the file invalid. */
export function setGeoMetadata(footer: ThriftStruct, points: readonly string[]): void {
  const entries = FOOTER.keyValues.read(footer) ?? [];
  const before = entries.find((entry) => KEY_VALUE.key.read(entry) === GEO);
  if (before === undefined && points.length === 0) return;
  const geo = before === undefined ? null : parsed(KEY_VALUE.value.read(before));
  // Metadata in an unknown form stays unchanged.
  if (before !== undefined && geo === null) return;
  const names = new Set((FOOTER.schema.read(footer) ?? []).map((element) => ELEMENT.name.read(element)));
  const kept = Object.entries(geo?.columns ?? {}).filter(([name]) => names.has(name) && !points.includes(name));
  // Without a `crs` the coordinates are OGC:CRS84: longitude and latitude on WGS 84.
  const own = points.map((name) => [name, { encoding: 'WKB', geometry_types: ['Point'] }] as const);
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
  const value: Partial<GeoMetadata> | null = resultOrNull(() => JSON.parse(text ?? ''));
  const isValid =
    typeof value?.primary_column === 'string' && typeof value.columns === 'object' && value.columns !== null;
  return isValid ? (value as GeoMetadata) : null;
}
