import { PerilbookError, resultOrNull } from '../../base/errors.ts';
import { DEGREES } from '../../geo/geometry-points.ts';
import { isGeometryName } from '../location/location-names.ts';
import type { OtherShapes } from '../port.ts';
import type { ParquetFile } from './footer.ts';
import { FOOTER, KEY_VALUE } from './format.ts';
import type { SchemaNode } from './schema.ts';
import type { ThriftStruct } from './thrift.ts';

/** A column of the file. `whole` is a field of the schema and the only kind that is written; the others can be read, and follow the field
 * that they are a part of: `member` is a value inside a struct (`address.zip`), `point` a coordinate of a point (`geometry.latitude`). */
export type FileColumn = ValueColumn | PointColumn;

export interface ValueColumn {
  readonly kind: 'whole' | 'member';
  readonly name: string;
  readonly field: SchemaNode;
  /** The field, or the leaf of a member. */
  readonly node: SchemaNode;
}

export interface PointColumn {
  readonly kind: 'point';
  readonly name: string;
  readonly field: SchemaNode;
  /** The name of a system whose coordinates are not longitudes and latitudes; null for degrees. */
  readonly otherSystem: string | null;
  readonly axis: 'latitude' | 'longitude';
}

/** Lists the readable columns of a file, in the order of its schema.
 * @param withOutlines columns that are declared to hold polygons have a location too */
export function fileColumns({ root, footer }: ParquetFile, withOutlines = false): FileColumn[] {
  const geometries = findGeometries(root.children, footer, withOutlines);
  return root.children.flatMap((field): FileColumn[] => {
    const name = field.name.trim();
    const otherSystem = geometries.get(field);
    return [
      { kind: 'whole', name, field, node: field },
      ...listMembers(field, name).map(
        (member): FileColumn => ({ kind: 'member', field, ...member }),
      ),
      ...(otherSystem === undefined ? [] : (['latitude', 'longitude'] as const)).map(
        (axis): FileColumn => ({
          kind: 'point',
          name: `${name}.${axis}`,
          field,
          otherSystem: otherSystem!,
          axis,
        }),
      ),
    ];
  });
}

/** The values of a struct that occur at most once a row. */
function listMembers(node: SchemaNode, path: string): { name: string; node: SchemaNode }[] {
  if (node.repetition === 'repeated') return [];
  return node.children.flatMap((child) => {
    const name = `${path}.${child.name.trim()}`;
    if (child.leaf) return child.repetition === 'repeated' ? [] : [{ name, node: child }];
    return listMembers(child, name);
  });
}

/** All the leaves of a field. */
export function leavesUnder(node: SchemaNode): SchemaNode[] {
  return node.leaf ? [node] : node.children.flatMap(leavesUnder);
}

/** How many fields of the schema are kept when the columns from an index on are left out; null keeps all. */
export function fieldsKept(columns: readonly FileColumn[], dropFrom: number | null): number {
  return columns.slice(0, dropFrom ?? columns.length).filter(({ kind }) => kind === 'whole').length;
}

/** Finds the columns of points in well-known binary, and their systems (`otherSystem`): those in GeoParquet's metadata, those that the schema
 * calls a geometry, or else those with a usual name. A struct of x and y (GeoArrow) has two columns of its own. */
function findGeometries(
  fields: readonly SchemaNode[],
  footer: ThriftStruct,
  withOutlines: boolean,
) {
  const declared = declaredGeometries(footer);
  const systems = new Map<SchemaNode, string | null>();
  for (const field of fields) {
    const { leaf, meaning, name } = field;
    const listed = declared[name];
    if (leaf?.type !== 'BYTE_ARRAY') continue;
    if (listed && !mayBe(withOutlines ? /^(?:Multi)?Po/ : /^Point/, listed.geometry_types))
      continue;
    const isListed = listed !== undefined && (listed.encoding ?? 'WKB').toUpperCase() === 'WKB';
    const isNamed = meaning.kind === 'stored' && isGeometryName(name);
    if (!isListed && !isNamed && meaning.kind !== 'geometry') continue;
    systems.set(
      field,
      otherSystem(isListed ? listed.crs : meaning.kind === 'geometry' && meaning.crs),
    );
  }
  return systems;
}

/** The first column that GeoParquet's metadata declares to hold other shapes than points. */
export function findOtherShapes({ root, footer }: ParquetFile): OtherShapes | undefined {
  const declared = declaredGeometries(footer);
  for (const { name } of root.children) {
    const types = declared[name]?.geometry_types;
    if (!mayBe(/^Point/, types))
      return { column: name.trim(), kinds: (types as unknown[]).map(String) };
  }
  return undefined;
}

interface Declared {
  readonly encoding?: string;
  readonly geometry_types?: unknown;
  readonly crs?: unknown;
}

function declaredGeometries(footer: ThriftStruct): Readonly<Record<string, Declared>> {
  const geo = FOOTER.keyValues.read(footer)?.find((pair) => KEY_VALUE.key.read(pair) === 'geo');
  const text = geo && KEY_VALUE.value.read(geo);
  const columns: unknown = resultOrNull(() => JSON.parse(text || '{}').columns);
  return columns && typeof columns === 'object' ? (columns as Record<string, Declared>) : {};
}

/** A column of lines holds no locations, but two columns of degrees beside it may. */
function mayBe(kind: RegExp, types: unknown): boolean {
  return (
    !Array.isArray(types) || types.length === 0 || types.some((type) => kind.test(String(type)))
  );
}

/** The name of a system whose coordinates are not degrees, or null. A missing system means degrees, in all these formats. */
function otherSystem(crs: unknown): string | null {
  if (!crs) return null;
  if (typeof crs === 'string') {
    return DEGREES.test(crs) || /^\s*(?:GEOG|GEOD)/.test(crs) || !/^(?:EPSG:|srid:|PROJ)/i.test(crs)
      ? null
      : crs.slice(0, 60);
  }
  const { type, name } = crs as { type?: unknown; name?: unknown };
  return type === 'ProjectedCRS' ? String(name ?? 'a projection').slice(0, 60) : null;
}

/** Refuses points that are not in degrees, before anything is bought. */
export function assertDegrees(
  file: string,
  { field: { name: column }, otherSystem }: PointColumn,
): void {
  if (otherSystem === null) return;
  const message = `The points of column ${column} are in ${otherSystem}, not in longitude and latitude`;
  const hint =
    'Write the file again with coordinates in WGS84 (EPSG:4326), or name two columns of degrees.';
  throw new PerilbookError('INPUT_COLUMNS', message, hint, { file, column });
}
