import { readSync, writeSync } from 'node:fs';

const BLOCK_BYTES = 2 ** 20;
const WORD_BYTES = 4;
/** What is copied by words may end beyond the last byte. */
export const SPARE_BYTES = 3;

/** The packed fields of places by number, in blocks of a mebibyte: the first in memory, the others in a file. Threads share it, and each
 * fills blocks of its own. */
export interface PlaceTable {
  /** The first blocks. Unwritten pages take no memory. */
  readonly memory: Uint8Array<SharedArrayBuffer>;
  /** The file of the further blocks; null: all others are in `more`. */
  readonly file: number | null;
  /** Blocks for which there is no room elsewhere, by number. */
  readonly more: Map<number, Uint8Array<SharedArrayBuffer>>;
  /** How many blocks are taken, and the most bytes of a place. */
  readonly counters: Int32Array<SharedArrayBuffer>;
  /** By place, where its fields begin, in words and plus one; 0 for a place without fields. */
  readonly entries: Uint32Array<SharedArrayBuffer>;
}

const [TAKEN, LONGEST] = [0, 1];

/** @param memoryBytes how many bytes of fields stay in memory; without a file all do */
export function makePlaceTable(
  places: number,
  memoryBytes: number,
  file: number | null,
): PlaceTable {
  const shared = (bytes: number) => new SharedArrayBuffer(Math.max(WORD_BYTES, bytes));
  return {
    memory: new Uint8Array(shared(Math.floor(memoryBytes / BLOCK_BYTES) * BLOCK_BYTES)),
    file,
    more: new Map(),
    counters: new Int32Array(shared(2 * WORD_BYTES)),
    entries: new Uint32Array(shared(WORD_BYTES * places)),
  };
}

/** The most bytes of a place. */
function longestPlace({ counters }: PlaceTable): number {
  return counters[LONGEST]!;
}

/** How many bytes the blocks of a table take that hold places. */
export function takenBytes({ counters }: PlaceTable): number {
  return counters[TAKEN]! * BLOCK_BYTES;
}

/** Makes room for other places in the memory of a table without a file. */
export function clearPlaces({ counters, entries, more }: PlaceTable): void {
  counters[TAKEN] = 0;
  entries.fill(0);
  more.clear();
}

/** What a writer could not put into the file. */
export interface BlocksLeft {
  readonly blocks: readonly (readonly [number, Uint8Array<SharedArrayBuffer>])[];
  /** Why it does not use the file; null while it does. */
  readonly problem: string | null;
}

/** Adds places to a table. */
export interface PlaceWriter {
  /** Where the next fields are written: `bytes` from `at` on. */
  readonly room: { readonly bytes: Uint8Array<ArrayBufferLike>; at: number };
  /** Makes room for some bytes, and for `SPARE_BYTES`. */
  reserve(size: number): void;
  /** The fields of a place were written: `size` bytes. */
  end(place: number, size: number): void;
  /** Makes what was written readable in other threads. Gives the blocks that no other thread knows. */
  flush(): BlocksLeft;
}

/** Makes what adds places to a table, one writer a thread. */
export function placeWriter({ memory, file, more, counters, entries }: PlaceTable): PlaceWriter {
  const inMemory = Math.floor(memory.length / BLOCK_BYTES);
  let block = -1;
  /** Where the block begins in `room.bytes`, how many of its bytes are used, and how many of these are in the file. */
  let [begin, used, flushed] = [0, BLOCK_BYTES, 0];
  let hasFile = file !== null;
  let problem: string | null = null;
  let blocks: [number, Uint8Array<SharedArrayBuffer>][] = [];
  let own: Uint8Array<ArrayBufferLike> | null = null;
  const room = { bytes: memory as Uint8Array<ArrayBufferLike>, at: 0 };

  function keepInMemory(number: number, bytes: number): Uint8Array<SharedArrayBuffer> {
    const kept = new Uint8Array(new SharedArrayBuffer(bytes));
    more.set(number, kept);
    blocks.push([number, kept]);
    return kept;
  }

  /** Puts what is new of the block into the file. */
  function flushBlock(): void {
    if (room.bytes !== own || flushed === used) return;
    const start = (block - inMemory) * BLOCK_BYTES;
    try {
      for (let at = flushed; at < used; ) at += writeSync(file!, own!, at, used - at, start + at);
      flushed = used;
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      hasFile = false;
      const kept = keepInMemory(block, BLOCK_BYTES);
      kept.set(own!.subarray(0, used));
      [room.bytes, begin] = [kept, 0];
    }
  }

  function nextBlock(size: number): void {
    flushBlock();
    const count = Math.ceil(size / BLOCK_BYTES);
    block = Atomics.add(counters, TAKEN, count);
    [used, flushed] = [0, 0];
    if (count === 1 && block < inMemory) [room.bytes, begin] = [memory, block * BLOCK_BYTES];
    else if (count === 1 && hasFile) {
      own ??= new Uint8Array(BLOCK_BYTES);
      [room.bytes, begin] = [own, 0];
    } else {
      // A place of more than a block has memory of its own.
      if (count > 1) used = BLOCK_BYTES;
      [room.bytes, begin] = [keepInMemory(block, count * BLOCK_BYTES), 0];
    }
  }

  return {
    room,
    reserve(size: number): void {
      const needed = size + SPARE_BYTES;
      if (used + needed > BLOCK_BYTES) {
        nextBlock(needed);
        room.at = begin;
      } else room.at = begin + used;
    },
    end(place: number, size: number): void {
      const offset = room.at - begin;
      entries[place] = (block * BLOCK_BYTES + offset) / WORD_BYTES + 1;
      used = Math.max(used, Math.ceil((offset + size) / WORD_BYTES) * WORD_BYTES);
      if (size > BLOCK_BYTES) return;
      for (let most = counters[LONGEST]!; size > most; most = counters[LONGEST]!)
        Atomics.compareExchange(counters, LONGEST, most, size);
    },
    flush(): BlocksLeft {
      flushBlock();
      const left = { blocks, problem };
      [blocks, problem] = [[], null];
      return left;
    },
  };
}

/** Takes over the blocks of a writer in another thread. */
export function takeBlocks({ more }: PlaceTable, { blocks }: BlocksLeft): void {
  for (const [number, bytes] of blocks) more.set(number, bytes);
}

const WINDOW_BYTES = 64 * 1024;

/** Where the fields of a place are: `bytes` from `from` on. */
export interface FoundPlace {
  bytes: Buffer;
  /** The same bytes, for numbers. */
  view: DataView;
  from: number;
}

/** Bytes with their view. */
type Viewed = Pick<FoundPlace, 'bytes' | 'view'>;

/** The bytes of an array, and what reads numbers in them. */
export function viewed({ buffer, byteOffset, byteLength }: Uint8Array): Viewed {
  return {
    bytes: Buffer.from(buffer, byteOffset, byteLength),
    view: new DataView(buffer, byteOffset, byteLength),
  };
}

/** Makes what finds the fields of a place: the result is valid until the next call. In the file, places that come in its order are read
 * in windows, others one by one. */
export function placeFinder(table: PlaceTable): (place: number) => FoundPlace {
  const { memory, file, more, entries } = table;
  const first = viewed(memory);
  const inMemory = Math.floor(memory.length / BLOCK_BYTES);
  const found: FoundPlace = { ...first, from: 0 };
  const rest = new Map([...more].map(([number, bytes]) => [number, viewed(bytes)]));
  let window: Viewed | null = null;
  let one = viewed(new Uint8Array(0));
  let [begin, end, last, inTurn] = [0, 0, -1, 0];

  function foundIn({ bytes, view }: Viewed, from: number): FoundPlace {
    found.bytes = bytes;
    found.view = view;
    found.from = from;
    return found;
  }

  function findInFile(position: number): FoundPlace {
    const most = longestPlace(table);
    if (window !== null && position >= begin && position + most <= end)
      return foundIn(window, position - begin);
    inTurn = position > last && position < last + 2 * most ? inTurn + 1 : 0;
    last = position;
    if (inTurn > 1 || (position > begin && position < end)) {
      window ??= viewed(Buffer.allocUnsafeSlow(Math.max(WINDOW_BYTES, 2 * most)));
      const { bytes } = window;
      begin = position;
      // The end of the file is shorter than the longest place may be.
      end = position + Math.max(most, readSync(file!, bytes, 0, bytes.length, position));
      return foundIn(window, 0);
    }
    if (one.bytes.length < most) one = viewed(Buffer.allocUnsafeSlow(most));
    readSync(file!, one.bytes, 0, most, position);
    return foundIn(one, 0);
  }

  return (place) => {
    const at = (entries[place]! - 1) * WORD_BYTES;
    const block = Math.floor(at / BLOCK_BYTES);
    const own = rest.size > 0 ? rest.get(block) : undefined;
    if (own !== undefined) return foundIn(own, at - block * BLOCK_BYTES);
    if (block < inMemory) return foundIn(first, at);
    return findInFile(at - inMemory * BLOCK_BYTES);
  };
}

const LINE_BYTES = 64;

/** Makes what reads a byte of each cache line of what some places have in memory, those with the indexes from one to another in a list: a
 * processor waits for many lines at a time, where it waits for each in turn while their fields are used.
 * @param bytes of a place that are read
 * @returns a sum of them, so that no compiler leaves the reading out */
export function placeToucher(
  { memory, entries }: Pick<PlaceTable, 'memory' | 'entries'>,
  bytes: number,
): (places: ArrayLike<number>, from: number, to: number) => number {
  return (places, from, to) => {
    let sum = 0;
    for (let index = from; index < to; index++) {
      const first = (entries[places[index]!]! - 1) * WORD_BYTES;
      if (first < 0 || first + bytes > memory.length) continue;
      for (let at = first; at < first + bytes; at += LINE_BYTES) sum += memory[at]!;
    }
    return sum;
  };
}
