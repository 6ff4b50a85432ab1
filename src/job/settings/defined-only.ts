/** An object without its undefined members: so that what nobody said does not hide what somebody did. */
export function definedOnly<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as never;
}
