import { PerilbookError } from '../../errors.ts';

/** The bytes that each place adds to its rows, by its number. Plain data over shared memory, which threads can read. */
export interface PlaceBytes {
  /** Where the bytes of each place end. */
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Takes the bytes of `places` places, one after the other. The memory is reserved and not yet used: pages that are never written
 * take none. */
export function placeBytes(places: number, mostBytes: number) {
  const shared = new SharedArrayBuffer(mostBytes);
  const bytes = Buffer.from(shared);
  const ends = new Uint32Array(new SharedArrayBuffer(4 * places));
  let count = 0;
  let used = 0;
  return {
    /** False when there is no room for more. */
    add(added: Buffer, length: number): boolean {
      if (used + length > mostBytes) return false;
      used += added.copy(bytes, used, 0, length);
      ends[count++] = used;
      return true;
    },
    /** @throws BUG unless each place has its bytes */
    take(): PlaceBytes {
      if (count === places) return { ends, bytes: bytes.subarray(0, used) };
      throw new PerilbookError('BUG', `${places} places have the fields of ${count}`, 'Please report this.');
    },
  };
}
