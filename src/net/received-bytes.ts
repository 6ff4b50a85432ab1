/** How many chunks are kept as they came: all of an ordinary answer. */
const MOST_APART = 64;

/** The bytes of a body that comes in chunks. A chunk of one byte is a view that keeps the whole read buffer of its socket, 64 kB, so
 * more than a few are joined: without that, a limit on the bytes is none on the memory. */
export class ReceivedBytes {
  #chunks: Buffer[] = [];
  /** How many of the chunks, at the front, are joined ones. */
  #joined = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(chunk: Buffer): void {
    this.#length += chunk.length;
    this.#chunks.push(chunk);
    if (this.#chunks.length - this.#joined < MOST_APART) return;
    this.#chunks.push(Buffer.concat(this.#chunks.splice(this.#joined)));
    this.#joined++;
  }

  concat(): Buffer {
    return Buffer.concat(this.#chunks, this.#length);
  }

  clear(): void {
    this.#chunks = [];
  }
}
