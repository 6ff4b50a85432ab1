import type { AddedColumn } from './port.ts';

/** Names for formats in which each column needs one of its own: many readers of Parquet cannot tell two columns of one name
 * apart, whatever its case, or take none for a name; and of two members of one name readers of JSON keep the last. */
export function distinctNames(names: readonly string[], added: readonly AddedColumn[]): string[] {
  const taken = new Set(added.map(({ name }) => name.toLowerCase()));
  return names.map((given, index) => {
    const stem = given === '' ? `column_${index + 1}` : given;
    let name = stem;
    for (let copy = 2; taken.has(name.toLowerCase()); copy++) name = `${stem}_${copy}`;
    taken.add(name.toLowerCase());
    return name;
  });
}
