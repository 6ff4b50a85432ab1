export interface TransferProgress {
  readonly bytes: number;
  /** The expected total, an estimate; null if it is unknown. */
  readonly totalBytes: number | null;
  readonly bytesPerSecond: number;
  /** Null while no bytes arrive, and without a total. */
  readonly secondsLeft: number | null;
}

const WINDOW_MS = 10_000;

/** Adds up received bytes. */
interface TransferRate {
  /** The bytes of a file so far; the first value may include bytes of an earlier call. */
  see(file: string, bytes: number, at: number): void;
  read(): TransferProgress;
}

/** Adds up the bytes of all files and computes the rate. Times come from a steady clock, in milliseconds. */
export function createTransferRate(expectedBytes: number | null): TransferRate {
  const files = new Map<string, number>();
  const samples: { readonly at: number; readonly bytes: number }[] = [];
  let received = 0;
  return {
    see(file: string, bytes: number, at: number): void {
      const before = files.get(file);
      files.set(file, bytes);
      if (before !== undefined && bytes > before) received += bytes - before;
      samples.push({ at, bytes: received });
      while (samples.length > 2 && at - samples[0]!.at > WINDOW_MS) samples.shift();
    },
    read(): TransferProgress {
      const bytes = [...files.values()].reduce((sum, value) => sum + value, 0);
      const [first, last] = [samples[0], samples.at(-1)];
      const seconds = first === undefined || last === undefined ? 0 : (last.at - first.at) / 1_000;
      const bytesPerSecond = seconds === 0 ? 0 : (last!.bytes - first!.bytes) / seconds;
      const totalBytes = expectedBytes === null ? null : Math.max(expectedBytes, bytes);
      const secondsLeft =
        totalBytes === null || bytesPerSecond === 0 ? null : (totalBytes - bytes) / bytesPerSecond;
      return { bytes, totalBytes, bytesPerSecond, secondsLeft };
    },
  };
}
