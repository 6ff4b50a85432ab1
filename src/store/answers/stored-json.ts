import { damagedStore } from '../../formats/packed/damaged-store.ts';

/** The value of a JSON text that the store wrote. @throws STORE_UNUSABLE where it is none, or fails the check: it changed since */
export function storedJson<T>(
  text: string | null,
  what: string,
  isWhole: (value: T) => boolean = () => true,
): T | null {
  let value: T | null;
  try {
    value = text === null ? null : JSON.parse(text);
    if (value !== null && !isWhole(value)) throw damagedStore(what);
  } catch {
    throw damagedStore(what);
  }
  return value;
}
