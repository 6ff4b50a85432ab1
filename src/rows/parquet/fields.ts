import { Damage, THRIFT, type ThriftField, type ThriftList, type ThriftStruct, type ThriftValue } from './thrift.ts';

/** The field of a struct with this id, or undefined. */
export function fieldAt(struct: ThriftStruct, id: number): ThriftField | undefined {
  return struct.fields.find((field) => field.id === id);
}

/** A whole number of two bytes or more, or undefined when the field is missing. The format has single bytes in fields that are not
 * read: a byte in another's place is damage. @throws Damage when it is something else */
export const numberAt = (struct: ThriftStruct, id: number): number | undefined =>
  valueAt(struct, id, 'a number', ({ type, value }) => {
    if (typeof value === 'number') return type === THRIFT.BYTE ? null : value;
    return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : null;
  });

/** A size or a count: a whole number that is there and not negative. @throws Damage */
export function sizeAt(struct: ThriftStruct, id: number, what: string): number {
  const value = numberAt(struct, id);
  if (value === undefined) throw new Damage(`${what} is missing`);
  if (value < 0) throw new Damage(`${what} is negative (${value})`);
  return value;
}

/** The value of a field, or undefined when the field is missing. @throws Damage when it is something else */
function valueAt<T>(struct: ThriftStruct, id: number, what: string, read: (field: ThriftField) => T | null) {
  const field = fieldAt(struct, id);
  if (field === undefined) return undefined;
  const value = read(field);
  if (value === null) throw new Damage(`one of its descriptions has a field (${id}) that is not ${what}`);
  return value;
}

export const booleanAt = (struct: ThriftStruct, id: number): boolean | undefined =>
  valueAt(struct, id, 'a boolean', ({ value }) => (typeof value === 'boolean' ? value : null));

export const textAt = (struct: ThriftStruct, id: number): string | undefined =>
  valueAt(struct, id, 'a text', ({ value }) => (Buffer.isBuffer(value) ? value.toString('utf8') : null));

export const structAt = (struct: ThriftStruct, id: number): ThriftStruct | undefined =>
  valueAt(struct, id, 'a struct', ({ type, value }) => (type === THRIFT.STRUCT ? (value as ThriftStruct) : null));

/** A list of structs, to be edited in place. */
export const structsAt = (struct: ThriftStruct, id: number): ThriftStruct[] | undefined =>
  valueAt(struct, id, 'a list of structs', ({ type, value }) => {
    const { elementType, items } = value as ThriftList;
    return type === THRIFT.LIST && (elementType === THRIFT.STRUCT || items.length === 0)
      ? (items as ThriftStruct[])
      : null;
  });

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

export const i32 = (id: number, value: number): ThriftField => ({ id, type: THRIFT.I32, value });
export const i64 = (id: number, value: number): ThriftField => ({ id, type: THRIFT.I64, value: BigInt(value) });
export const flag = (id: number, value: boolean): ThriftField => ({
  id,
  type: value ? THRIFT.TRUE : THRIFT.FALSE,
  value,
});
export const binary = (id: number, value: Buffer | string): ThriftField => ({
  id,
  type: THRIFT.BINARY,
  value: Buffer.from(value),
});
export const struct = (id: number, ...fields: ThriftField[]): ThriftField => ({
  id,
  type: THRIFT.STRUCT,
  value: { fields },
});
export const list = (id: number, elementType: number, items: ThriftValue[]): ThriftField => ({
  id,
  type: THRIFT.LIST,
  value: { elementType, items },
});
