import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';

/* Where the members of a YAML file that a user wrote stand: a job file, the description of a layer. */

/** The library, loaded only for such a file: its 72 modules take 15 ms to load. */
export const yaml = (): typeof Yaml => createRequire(import.meta.url)('yaml') as typeof Yaml;

/** A part of a document, and where it stands. */
export type InFile = { readonly range?: readonly number[] | null } | undefined;

/** The offset of a member, or of the nearest one around it that the file has; 0 for none.
 * @param isName the offset is that of the member's name: its value may begin lines below */
export function offsetOfMember(
  document: Yaml.Document,
  path: readonly PropertyKey[],
  isName: boolean,
): number {
  for (let length = path.length; length > 0; length--) {
    const part = path.slice(0, length);
    const node = isName ? nameAt(document, part) : (document.getIn(part, true) as InFile);
    if (node?.range) return node.range[0]!;
  }
  return 0;
}

/** The name of a member; of a list, whose members have none, the member. */
function nameAt(document: Yaml.Document, path: readonly PropertyKey[]): InFile {
  const { isMap, isScalar, isSeq } = yaml();
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const name = path.at(-1);
  if (isSeq(parent) && typeof name === 'number') return parent.items[name] as InFile;
  const isIt = ({ key }: { key: unknown }) => isScalar(key) && key.value === name;
  return isMap(parent) ? (parent.items.find(isIt)?.key as InFile) : undefined;
}
