/** Smaller bodies are allocated by Node: to keep their memory would gain nothing. */
const LEAST_BYTES = 256 * 1024;

/** Sizes are rounded up to a megabyte, so that the memory of one bundle is large enough for the next. */
const STEP_BYTES = 2 ** 20;

/** Most memory that waits for bodies: what eight connections receive and two workers parse. */
const MOST_BYTES = 80 * 2 ** 20;

/**
 * The memory of large bodies, which is used again when a worker has parsed them. Fresh memory for each body of 6 MB made V8 collect
 * all objects two times in three bodies, 5 to 10 ms each, in every thread. A block has one owner at a time: it is transferred to the
 * worker and back.
 */
export class BodyMemory {
  readonly #free: ArrayBuffer[] = [];
  readonly #made = new WeakSet<ArrayBufferLike>();

  /** Memory for a body, with the contents of an earlier one. */
  allocate(bytes: number): Buffer {
    if (bytes < LEAST_BYTES) return Buffer.allocUnsafeSlow(bytes);
    const place = this.#free.findIndex((block) => block.byteLength >= bytes);
    const block =
      place >= 0 ? this.#free.splice(place, 1)[0]! : new ArrayBuffer(Math.ceil(bytes / STEP_BYTES) * STEP_BYTES);
    this.#made.add(block);
    return Buffer.from(block, 0, bytes);
  }

  /** Whether a body lies in a block of this memory, which no other body shares. */
  has(body: Buffer): boolean {
    return this.#made.has(body.buffer) && body.byteOffset === 0;
  }

  /** Takes a block back that nobody uses any more. */
  release(block: ArrayBuffer): void {
    const kept = this.#free.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (block.byteLength >= LEAST_BYTES && kept + block.byteLength <= MOST_BYTES) this.#free.push(block);
  }
}
