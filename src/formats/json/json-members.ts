import type { Value } from '../typed-value.ts';

/** Finds the members and elements of JSON in its bytes, so that members can be added and all other bytes stay. It looks only for the
 * ends of values; the bytes are parsed elsewhere. */

interface Member {
  readonly name: string;
  /** Where the name begins. */
  readonly from: number;
  readonly valueFrom: number;
  readonly valueTo: number;
}

export class NotJson extends Error {}

/** Runs work on bytes that may be no JSON, for which `refused` makes the error. */
export function orNotJson<T>(work: () => T, refused: (cause: NotJson) => Error): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof NotJson ? refused(error) : error;
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The members of the object that begins at `at`, and the position of its closing brace. @throws NotJson */
export function objectMembers(bytes: Buffer, at: number): { members: Member[]; close: number } {
  const members: Member[] = [];
  const close = eachPart(bytes, at, OPEN_OBJECT, CLOSE_OBJECT, (from) => {
    if (bytes[from] !== QUOTE) throw new NotJson();
    const nameEnd = wholeValue(bytes, from);
    const colon = skipSpace(bytes, nameEnd);
    if (bytes[colon] !== COLON) throw new NotJson();
    const valueFrom = skipSpace(bytes, colon + 1);
    const valueTo = wholeValue(bytes, valueFrom);
    members.push({ name: parseName(bytes, from, nameEnd), from, valueFrom, valueTo });
    return valueTo;
  });
  return { members, close };
}

/** The members of an object of which only the first bytes may be known: then the last value may be cut, and `close` is -1. @throws NotJson */
export function knownMembers(
  bytes: Buffer,
  at: number,
): { members: readonly Omit<Member, 'valueTo'>[]; close: number } {
  const members: Omit<Member, 'valueTo'>[] = [];
  for (let next = skipSpace(bytes, at + 1); next < bytes.length; ) {
    if (bytes[next] === CLOSE_OBJECT) return { members, close: next };
    if (bytes[next] !== QUOTE) throw new NotJson();
    const nameEnd = endOfText(bytes, next);
    const colon = nameEnd < 0 ? -1 : skipSpace(bytes, nameEnd);
    if (colon < 0 || colon >= bytes.length) break;
    if (bytes[colon] !== COLON) throw new NotJson();
    const valueFrom = skipSpace(bytes, colon + 1);
    if (valueFrom >= bytes.length) break;
    members.push({ name: parseName(bytes, next, nameEnd), from: next, valueFrom });
    const valueTo = endOfValue(bytes, valueFrom);
    if (valueTo < 0) break;
    next = skipSpace(bytes, valueTo);
    if (bytes[next] === COMMA) next = skipSpace(bytes, next + 1);
    else if (next < bytes.length && bytes[next] !== CLOSE_OBJECT) throw new NotJson();
  }
  return { members, close: -1 };
}

/** Where a value begins and ends. */
export interface ValueRange {
  readonly from: number;
  readonly to: number;
}

/** Where each element of the list that begins at `at` begins and ends. @throws NotJson */
export function listElements(bytes: Buffer, at: number): ValueRange[] {
  const elements: ValueRange[] = [];
  eachPart(bytes, at, OPEN_LIST, CLOSE_LIST, (from) => {
    const to = wholeValue(bytes, from);
    elements.push({ from, to });
    return to;
  });
  return elements;
}

/** The first byte from `at` on that is no space. */
export function skipSpace(bytes: Buffer, at: number): number {
  let end = at;
  while (bytes[end] === 0x20 || bytes[end] === 0x0a || bytes[end] === 0x0d || bytes[end] === 0x09)
    end++;
  return end;
}

function eachPart(
  bytes: Buffer,
  at: number,
  open: number,
  close: number,
  take: (from: number) => number,
): number {
  if (bytes[at] !== open) throw new NotJson();
  let next = skipSpace(bytes, at + 1);
  if (bytes[next] === close) return next;
  for (;;) {
    next = skipSpace(bytes, take(next));
    if (bytes[next] === close) return next;
    if (bytes[next] !== COMMA) throw new NotJson();
    next = skipSpace(bytes, next + 1);
  }
}

function parseName(bytes: Buffer, from: number, to: number): string {
  try {
    return String(JSON.parse(bytes.toString('utf8', from, to)));
  } catch {
    throw new NotJson();
  }
}

/** The first byte after the text that begins at `from`, or -1. */
function endOfText(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at + 1;
  }
  return -1;
}

function wholeValue(bytes: Buffer, from: number): number {
  const to = endOfValue(bytes, from);
  if (to < 0) throw new NotJson();
  return to;
}

/** Letters, digits, signs, points: the bytes of numbers, `true`, `false` and `null`. */
function isOfScalar(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) ||
    (byte >= 0x2b && byte <= 0x2e && byte !== COMMA)
  );
}

/** The first byte after the value that begins at `from`; -1 where the bytes end before it. @throws NotJson where no value begins */
export function endOfValue(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return endOfText(bytes, from);
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) {
    let at = from;
    while (at < bytes.length && isOfScalar(bytes[at]!)) at++;
    if (at === from) throw new NotJson();
    return at;
  }
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfText(bytes, at) - 1;
      if (at < 0) return -1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --depth === 0) return at + 1;
  }
  return -1;
}

/** A column as the members of objects. `number`: its values may have fractions. `keeps`: they are the user's own, and stay as they are. */
interface MemberColumn {
  readonly name: string;
  readonly type: string;
  readonly keeps?: number;
}

/** A row as one line of JSON; an empty text is null, as everywhere. */
export function jsonLine(columns: readonly MemberColumn[], fields: readonly Value[]): string {
  const values = fields.map((field) => (field === '' ? null : field));
  return `{${memberTexts(columns, values).join(',')}}`;
}

/** Names and values as the members of an object. */
export function memberTexts(columns: readonly MemberColumn[], fields: readonly Value[]): string[] {
  return columns.map(({ name, type, keeps }, i) => {
    const mayHaveFractions = type === 'number' && keeps === undefined;
    return `${JSON.stringify(name)}:${formatJson(fields[i] ?? null, mayHaveFractions)}`;
  });
}

/** JSON in ASCII, for a file in another encoding than UTF-8. */
export function asciiJson(text: string): string {
  return text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Dates are texts in JSON, and so are NaN and infinity. 5 is `5.0` in a column of numbers: polars takes the type of a column from its first
 * 100 lines, and fails at a fraction after whole numbers. */
function formatJson(value: Value, mayHaveFractions: boolean): string {
  if (mayHaveFractions && Number.isSafeInteger(value)) return `${value}.0`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const { type, text } = value;
  return type === 'json' || (type === 'number' && /^-?\d/.test(text)) ? text : JSON.stringify(text);
}

/** A piece of a new text: a range of the old bytes, or inserted text. */
export type Piece = { readonly from: number; readonly to: number } | string;

/** The object that begins at `at`, with some members taken away and others added before its closing brace; every other byte stays.
 * @throws NotJson */
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
