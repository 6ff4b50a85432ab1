import type { Field } from '../../contract/answer.ts';
import { type Member, objectMembers } from './ndjson-scan.ts';

/** A row as one line of JSON; an empty text is null, as everywhere. */
export function jsonLine(names: readonly string[], fields: readonly Field[]): string {
  return `{${memberTexts(
    names,
    fields.map((field) => (field === '' ? null : field)),
  ).join(',')}}`;
}

/** Names and values as the members of an object. */
export function memberTexts(names: readonly string[], fields: readonly Field[]): string[] {
  return names.map((name, i) => `${JSON.stringify(name)}:${JSON.stringify(fields[i] ?? null)}`);
}

/** A piece of a new text: bytes of the old one, or what is set in. */
export type Piece = { readonly from: number; readonly to: number } | string;

/**
 * The object that begins at `at`, with some members taken away and others added before its closing brace; every other byte
 * stays. @throws NotJson
 */
export function withMembers(
  bytes: Buffer,
  at: number,
  dropped: ReadonlySet<string>,
  added: readonly string[],
): { pieces: Piece[]; end: number; kept: readonly Member[] } {
  const { members, close } = objectMembers(bytes, at);
  const kept = members.filter(({ name }) => !dropped.has(name));
  const pieces: Piece[] = [];
  let from = at;
  for (const [i, member] of members.entries()) {
    if (!dropped.has(member.name)) continue;
    // The comma before it is removed too; for the first member the comma after it.
    const isLeading = members.slice(0, i).every(({ name }) => dropped.has(name));
    const cutFrom = isLeading ? member.from : members[i - 1]!.valueTo;
    const cutTo = isLeading ? (members[i + 1]?.from ?? member.valueTo) : member.valueTo;
    if (cutFrom > from) pieces.push({ from, to: cutFrom });
    from = cutTo;
  }
  const last = members.at(-1);
  const insertAt = last ? Math.max(last.valueTo, from) : close;
  if (insertAt > from) pieces.push({ from, to: insertAt });
  if (added.length > 0) pieces.push((kept.length > 0 ? ',' : '') + added.join(','));
  pieces.push({ from: insertAt, to: close + 1 });
  return { pieces, end: close + 1, kept };
}
