/** A file whose parts may be written in any order. */
export interface DirectFile {
  /** For errors. */
  readonly name: string;
  readonly fd: number;
  /** Takes the next bytes of the file for the caller to write. @returns where they begin */
  take(bytes: number): number;
}

/** Collects small pieces for large writes. */
export interface ByteBuffer {
  /** The first `used` bytes are the collected ones. Any call may replace the buffer. */
  bytes: Buffer;
  used: number;
  makeRoom(more: number): void;
  addBytes(bytes: Buffer, from: number, to: number): void;
  /** Adds a text of one character a byte. */
  addText(text: string): void;
  flushIfFull(): Promise<void>;
  /** Writes a large block without a copy. The caller may reuse its memory when this resolves. */
  addBlock(block: Buffer): Promise<void>;
  /** Writes the remaining bytes. */
  finish(): Promise<void>;
  /** The file that it writes, after `finish`; absent where the bytes must come in order. */
  readonly direct?: DirectFile | undefined;
}

const BYTES_A_WRITE = 1024 * 1024;

/** Makes a buffer that passes its bytes to `write`. At most one write runs while the next bytes are collected, so a slow reader
 * delays the writer, and memory stays at two buffers. */
export function byteBuffer(
  write: (bytes: Buffer) => Promise<void>,
  memory = new ArrayBuffer(2 * BYTES_A_WRITE),
  direct?: DirectFile,
): ByteBuffer {
  return new WrittenBuffer(write, memory, direct);
}

/** A class, because each piece of an output has a buffer: functions of each buffer's own are other ones than those that the loops over its
 * rows were compiled for. */
class WrittenBuffer implements ByteBuffer {
  readonly direct: DirectFile | undefined;
  bytes: Buffer;
  used = 0;
  readonly #write: (bytes: Buffer) => Promise<void>;
  #spare: Buffer = Buffer.alloc(0);
  #underWay: Promise<void> = Promise.resolve();

  constructor(
    write: (bytes: Buffer) => Promise<void>,
    memory: ArrayBuffer,
    direct: DirectFile | undefined,
  ) {
    this.#write = write;
    this.bytes = Buffer.from(memory);
    this.direct = direct;
  }

  makeRoom(more: number): void {
    if (this.used + more > this.bytes.length) this.#grow(this.used + more);
  }

  addBytes(bytes: Buffer, from: number, to: number): void {
    this.makeRoom(to - from);
    // Not `set`, which takes twice as long from shared memory.
    this.used += bytes.copy(this.bytes, this.used, from, to);
  }

  addText(text: string): void {
    this.makeRoom(text.length);
    this.used += this.bytes.write(text, this.used, 'latin1');
  }

  async flushIfFull(): Promise<void> {
    if (this.used >= BYTES_A_WRITE) await this.#flush();
  }

  async addBlock(block: Buffer): Promise<void> {
    if (this.used > 0) await this.#flush();
    await this.#underWay;
    await this.#write(block);
  }

  async finish(): Promise<void> {
    if (this.used > 0) await this.#flush();
    await this.#underWay;
  }

  #grow(needed: number): void {
    const { bytes, used } = this;
    this.bytes = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, needed));
    bytes.copy(this.bytes, 0, 0, used);
  }

  async #flush(): Promise<void> {
    await this.#underWay;
    this.#underWay = this.#write(this.bytes.subarray(0, this.used));
    // The next flush reports a failure; until then it must not count as unhandled.
    this.#underWay.catch(() => {});
    // The second buffer is made when the first is full.
    if (this.#spare.length === 0) this.#spare = Buffer.allocUnsafeSlow(this.bytes.length);
    [this.bytes, this.#spare] = [this.#spare, this.bytes];
    this.used = 0;
  }
}
