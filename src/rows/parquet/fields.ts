import { Damage, THRIFT, type ThriftField, type ThriftList, type ThriftStruct, type ThriftValue } from './thrift.ts';

/** The field of a struct with this id, or undefined. */
export function fieldAt(struct: ThriftStruct, id: number): ThriftField | undefined {
  return struct.fields.find((field) => field.id === id);
}

/** A whole number of any width, or undefined when the field is missing. @throws Damage when it is something else */
export function numberAt(struct: ThriftStruct, id: number): number | undefined {
  const value = fieldAt(struct, id)?.value;
  if (value === undefined || typeof value === 'number') return value;
  if (typeof value !== 'bigint') throw wrongKind(id, 'a number');
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new Damage(`one of its descriptions has a number (${id}) beyond any size`);
  return number;
}

/** A size or a count: a whole number that is there and not negative. @throws Damage */
export function sizeAt(struct: ThriftStruct, id: number, what: string): number {
  const value = numberAt(struct, id);
  if (value === undefined) throw new Damage(`${what} is missing`);
  if (value < 0) throw new Damage(`${what} is negative (${value})`);
  return value;
}

/** A boolean, or undefined when the field is missing. */
export function booleanAt(struct: ThriftStruct, id: number): boolean | undefined {
  const value = fieldAt(struct, id)?.value;
  if (value === undefined || typeof value === 'boolean') return value;
  throw wrongKind(id, 'a boolean');
}

/** A text, or undefined when the field is missing. */
export function textAt(struct: ThriftStruct, id: number): string | undefined {
  const value = fieldAt(struct, id)?.value;
  if (value === undefined) return undefined;
  if (Buffer.isBuffer(value)) return value.toString('utf8');
  throw wrongKind(id, 'a text');
}

/** A struct, or undefined when the field is missing. */
export function structAt(struct: ThriftStruct, id: number): ThriftStruct | undefined {
  const field = fieldAt(struct, id);
  if (field === undefined) return undefined;
  if (field.type !== THRIFT.STRUCT) throw wrongKind(id, 'a struct');
  return field.value as ThriftStruct;
}

/** A list of structs, to be edited in place; undefined when the field is missing. */
export function structsAt(struct: ThriftStruct, id: number): ThriftStruct[] | undefined {
  const field = fieldAt(struct, id);
  if (field === undefined) return undefined;
  const list = field.value as ThriftList;
  if (field.type !== THRIFT.LIST || (list.elementType !== THRIFT.STRUCT && list.items.length > 0)) {
    throw wrongKind(id, 'a list of structs');
  }
  return list.items as ThriftStruct[];
}

/** Sets a field that has a value of the same type already, or puts it where its id belongs. */
export function setField(struct: ThriftStruct, field: ThriftField): void {
  const known = fieldAt(struct, field.id);
  if (known && known.type === field.type) {
    known.value = field.value;
    return;
  }
  const others = struct.fields.filter(({ id }) => id !== field.id);
  const at = others.findIndex(({ id }) => id > field.id);
  struct.fields = at < 0 ? [...others, field] : [...others.slice(0, at), field, ...others.slice(at)];
}

function wrongKind(id: number, what: string): Damage {
  return new Damage(`one of its descriptions has a field (${id}) that is not ${what}`);
}

/** Makes a field of 32 bits. */
export const i32 = (id: number, value: number): ThriftField => ({ id, type: THRIFT.I32, value });
/** Makes a field of 64 bits. */
export const i64 = (id: number, value: number): ThriftField => ({ id, type: THRIFT.I64, value: BigInt(value) });
/** Makes a boolean field. */
export const flag = (id: number, value: boolean): ThriftField => ({
  id,
  type: value ? THRIFT.TRUE : THRIFT.FALSE,
  value,
});
/** Makes a field of bytes or text. */
export const binary = (id: number, value: Buffer | string): ThriftField => ({
  id,
  type: THRIFT.BINARY,
  value: typeof value === 'string' ? Buffer.from(value) : value,
});
/** Makes a struct field. */
export const struct = (id: number, ...fields: ThriftField[]): ThriftField => ({
  id,
  type: THRIFT.STRUCT,
  value: { fields },
});
/** Makes a list field. */
export const list = (id: number, elementType: number, items: ThriftValue[]): ThriftField => ({
  id,
  type: THRIFT.LIST,
  value: { elementType, items },
});
