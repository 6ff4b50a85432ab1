const FIRST_BYTES = 64 * 1024;
const FIRST_SLOTS = 1024;
/** A half of the slots stays empty, so that most look-ups take one probe. */
const MOST_FULL = 1 / 2;

/** Numbers runs of bytes, from 0 on: equal ones have one number. A text of each run, as the key of a Map, took as long as all else that is
 * read of a place. */
export class ByteNumbers {
  #bytes: Uint8Array = new Uint8Array(FIRST_BYTES);
  /** Where each run ends. */
  #ends = new Uint32Array(FIRST_SLOTS);
  #hashes = new Int32Array(FIRST_SLOTS);
  /** The numbers plus one; 0 is empty. Their count is a power of two. */
  #slots = new Uint32Array(FIRST_SLOTS);
  #size = 0;

  /** How many there are. */
  get size(): number {
    return this.#size;
  }

  /** The number of a run, which is kept if it is new. */
  numberOf(bytes: Uint8Array, from: number, to: number): number {
    const hash = hashOf(bytes, from, to);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let number = this.#slots[slot]!; number > 0; number = this.#slots[slot]!) {
      if (this.#hashes[number - 1] === hash && this.#isEqual(number - 1, bytes, from, to))
        return number - 1;
      slot = (slot + 1) & mask;
    }
    return this.#add(hash, slot, bytes.subarray(from, to));
  }

  /** A copy of the runs from a number on, one after the other. */
  bytesFrom(number: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.#bytes.subarray(this.#startOf(number), this.#startOf(this.#size)));
  }

  #startOf(number: number): number {
    return number === 0 ? 0 : this.#ends[number - 1]!;
  }

  #isEqual(number: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = this.#startOf(number);
    if (this.#ends[number]! - start !== to - from) return false;
    const own = this.#bytes;
    for (let at = from; at < to; at++) if (own[start + at - from] !== bytes[at]) return false;
    return true;
  }

  #add(hash: number, slot: number, run: Uint8Array): number {
    const number = this.#size++;
    const start = this.#startOf(number);
    if (number === this.#ends.length) {
      this.#ends = longer(this.#ends, new Uint32Array(2 * number));
      this.#hashes = longer(this.#hashes, new Int32Array(2 * number));
    }
    if (start + run.length > this.#bytes.length)
      this.#bytes = longer(this.#bytes, new Uint8Array(2 * (start + run.length)));
    this.#bytes.set(run, start);
    this.#ends[number] = start + run.length;
    this.#hashes[number] = hash;
    this.#slots[slot] = number + 1;
    if (this.#size > this.#slots.length * MOST_FULL) this.#growSlots();
    return number;
  }

  #growSlots(): void {
    const slots = new Uint32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (let number = 0; number < this.#size; number++) {
      let slot = this.#hashes[number]! & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }
}

function longer<A extends Uint8Array | Uint32Array | Int32Array>(old: A, next: A): A {
  next.set(old);
  return next;
}

/** Four bytes at a time, mixed as in MurmurHash3. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  let at = from;
  for (; at + 4 <= to; at += 4) {
    const word =
      bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    hash = Math.imul(hash ^ Math.imul(word, 0x9e3779b1), 0x85ebca6b);
    hash ^= hash >>> 15;
  }
  for (; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
