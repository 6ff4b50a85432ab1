/** The member of a record whose names come from a file: `constructor` and `toString` are names, too, and every object inherits them. */
export function ownMember<Value>(
  record: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
