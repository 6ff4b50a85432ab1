/** Gathers small pieces into writes that are worth their system call. */
export interface ByteGatherer {
  addBytes(bytes: Buffer, from: number, to: number): void;
  /** Adds a text of one character a byte. */
  addText(text: string): void;
  flushIfFull(): Promise<void>;
  /** Writes what is left and gives the number of bytes written in all. */
  finish(): Promise<number>;
}

const BYTES_A_WRITE = 1024 * 1024;

/** Makes a gatherer that hands its bytes to `write`. One write is under way while the next bytes are gathered, never two:
 * so a slow reader is waited for, and memory stays at two buffers. */
export function gatherBytes(write: (bytes: Buffer) => Promise<void>): ByteGatherer {
  let buffer = Buffer.allocUnsafe(2 * BYTES_A_WRITE);
  let spare = Buffer.allocUnsafe(buffer.length);
  let underWay: Promise<void> = Promise.resolve();
  let used = 0;
  let written = 0;
  const makeRoom = (more: number) => {
    if (used + more <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, used + more));
    buffer.copy(larger, 0, 0, used);
    buffer = larger;
  };
  const flush = async () => {
    await underWay;
    underWay = write(buffer.subarray(0, used));
    // The next flush reports a failure; until then it must not count as unhandled.
    underWay.catch(() => {});
    [buffer, spare] = [spare, buffer];
    written += used;
    used = 0;
  };
  return {
    addBytes(bytes, from, to) {
      makeRoom(to - from);
      used += bytes.copy(buffer, used, from, to);
    },
    addText(text) {
      makeRoom(text.length);
      used += buffer.write(text, used, 'latin1');
    },
    async flushIfFull() {
      if (used >= BYTES_A_WRITE) await flush();
    },
    async finish() {
      if (used > 0) await flush();
      await underWay;
      return written;
    },
  };
}
