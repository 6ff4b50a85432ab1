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
  let spare: Buffer = Buffer.alloc(0);
  let underWay: Promise<void> = Promise.resolve();
  const flush = async () => {
    await underWay;
    underWay = write(gathered.bytes.subarray(0, gathered.used));
    // The next flush reports a failure; until then it must not count as unhandled.
    underWay.catch(() => {});
    // The second buffer is made when the first is full.
    if (spare.length === 0) spare = Buffer.allocUnsafeSlow(gathered.bytes.length);
    [gathered.bytes, spare] = [spare, gathered.bytes];
    gathered.used = 0;
  };
  const gathered: ByteBuffer = {
    direct,
    bytes: Buffer.from(memory),
    used: 0,
    makeRoom(more) {
      const { bytes, used } = gathered;
      if (used + more <= bytes.length) return;
      gathered.bytes = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, used + more));
      bytes.copy(gathered.bytes, 0, 0, used);
    },
    addBytes(bytes, from, to) {
      gathered.makeRoom(to - from);
      // Not `set`, which takes twice as long from shared memory.
      gathered.used += bytes.copy(gathered.bytes, gathered.used, from, to);
    },
    addText(text) {
      gathered.makeRoom(text.length);
      gathered.used += gathered.bytes.write(text, gathered.used, 'latin1');
    },
    async flushIfFull() {
      if (gathered.used >= BYTES_A_WRITE) await flush();
    },
    async addBlock(block) {
      if (gathered.used > 0) await flush();
      await underWay;
      await write(block);
    },
    async finish() {
      if (gathered.used > 0) await flush();
      await underWay;
    },
  };
  return gathered;
}
