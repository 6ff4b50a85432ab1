import type { ParquetFile } from './footer.ts';
import { findGeometries, type GeometryColumn } from './geometry.ts';
import type { SchemaNode } from './schema.ts';

/**
 * A column of the file. `whole` is a field of the schema and the only kind that is written; the others can be read, and come
 * right after the field that they are a part of.
 * `member` is a value inside of a struct (`address.zip`), `place` a coordinate of a point (`geometry.latitude`).
 */
export type FileColumn =
  | { readonly kind: 'whole'; readonly name: string; readonly field: SchemaNode }
  | { readonly kind: 'member'; readonly name: string; readonly field: SchemaNode; readonly leaf: SchemaNode }
  | {
      readonly kind: 'place';
      readonly name: string;
      readonly field: SchemaNode;
      readonly geometry: GeometryColumn;
      readonly axis: 'latitude' | 'longitude';
    };

/** Lists what can be read of a file, in the order of its schema. */
export function fileColumns({ root, footer }: ParquetFile): FileColumn[] {
  const geometries = findGeometries(root.children, footer);
  return root.children.flatMap((field): FileColumn[] => {
    const name = field.name.trim();
    const geometry = geometries.get(field);
    return [
      { kind: 'whole', name, field },
      ...membersOf(field, name).map((member): FileColumn => ({ kind: 'member', field, ...member })),
      ...(geometry ? (['latitude', 'longitude'] as const) : []).map(
        (axis): FileColumn => ({ kind: 'place', name: `${name}.${axis}`, field, geometry: geometry!, axis }),
      ),
    ];
  });
}

/** The values of a struct that are there once a row at most. */
function membersOf(node: SchemaNode, path: string): { name: string; leaf: SchemaNode }[] {
  if (node.repetition === 'repeated') return [];
  return node.children.flatMap((child) => {
    const name = `${path}.${child.name.trim()}`;
    if (child.leaf) return child.repetition === 'repeated' ? [] : [{ name, leaf: child }];
    return membersOf(child, name);
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
