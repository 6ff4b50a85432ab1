import type { InputPass } from './input-file.ts';

/** The part of a file that is in memory, which moves forwards: `bytes` from `from` to `to`. */
export interface ReadWindow {
  bytes: Buffer;
  from: number;
  to: number;
  /** True when nothing of the file is behind it. */
  atEnd: boolean;
  /** Moves what is left to the front and reads on; doubles the buffer when a single record takes over half of it. */
  refill(): Promise<void>;
}

export function readWindow(pass: InputPass, size: number, start = 0): ReadWindow {
  let position = start;
  const window: ReadWindow = {
    bytes: Buffer.allocUnsafe(size),
    from: 0,
    to: 0,
    atEnd: false,
    async refill() {
      const left = window.to - window.from;
      const { length } = window.bytes;
      const bytes = left * 2 > length ? Buffer.allocUnsafe(length * 2) : window.bytes;
      window.bytes.copy(bytes, 0, window.from, window.to);
      Object.assign(window, { bytes, from: 0, to: left });
      while (!window.atEnd && window.to < bytes.length) {
        const count = await pass.readInto(bytes, window.to, position);
        if (count === 0) window.atEnd = true;
        window.to += count;
        position += count;
      }
    },
  };
  return window;
}
