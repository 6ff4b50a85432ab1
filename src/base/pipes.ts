import {
  closeSync,
  constants,
  openSync,
  readFileSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { PerilbookError, resultOrNull } from './errors.ts';

/* Named pipes and `<(command)`. A blocking open or read of a pipe holds a thread until another program writes, and a process
 * cannot end while one of its threads is held: not even at a second Ctrl-C. So pipes are opened without blocking. */

/** What a pipe holds, read when it comes.
 * @param interrupt ends the wait: the stream fails with INTERRUPTED */
export function readPipe(path: string, interrupt?: AbortSignal): Readable {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return interruptible(new Socket({ fd: file, readable: true, writable: false }), path, interrupt);
}

/** Makes a stream fail with INTERRUPTED when the user ends the program: what has come by then may be a part only. */
export function interruptible<Stream extends Readable>(
  stream: Stream,
  name: string,
  interrupt?: AbortSignal,
): Stream {
  if (interrupt === undefined) return stream;
  const stop = () => void stream.destroy(interrupted(`${name} was still being read`));
  if (interrupt.aborted) stop();
  interrupt.addEventListener('abort', stop, { once: true });
  stream.once('close', () => interrupt.removeEventListener('abort', stop));
  return stream;
}

/** The first bytes of a file: as many as it has, and at most `length`. */
export function readHead(path: string, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(length);
    return head.subarray(0, readSync(file, head));
  } finally {
    closeSync(file);
  }
}

/** Whether a path is a pipe: what is read from it is gone. */
export function isPipe(path: string): boolean {
  return resultOrNull(() => statSync(path).isFIFO()) === true;
}

const READER_POLL_MS = 50;

/** Opens a pipe for writing as soon as a program reads it. @throws PerilbookError INTERRUPTED */
export async function writePipe(path: string, interrupt: AbortSignal): Promise<Writable> {
  for (;;) {
    try {
      const file = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      return new Socket({ fd: file, readable: false, writable: true });
    } catch (error) {
      // Without a reader there is nothing to open.
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
    }
    if (interrupt.aborted)
      throw interrupted(
        `No program reads ${path}`,
        'Run the same command again: nothing is bought twice.',
      );
    await delay(READER_POLL_MS, undefined, { signal: interrupt }).catch(() => {});
  }
}

function interrupted(
  what: string,
  hint = 'Nothing was bought. Run the same command again.',
): PerilbookError {
  return new PerilbookError('INTERRUPTED', `Interrupted: ${what}`, hint);
}

/** Whether a file is a device that is read without end or waits for its user: all but the empty /dev/null. */
export function isEndless(stats: Stats): boolean {
  if (stats.isBlockDevice()) return true;
  return (
    stats.isCharacterDevice() &&
    stats.rdev !== statSync('/dev/null', { throwIfNoEntry: false })?.rdev
  );
}

/** Refuses what is no file, where a reader needs a whole file at once. @throws Error, for the caller to name the file */
export function requireFile(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile() || stats.isDirectory()) return;
  throw new Error('it is a pipe or a device; save its content in a file');
}

/** More bytes than any key or password has: servers refuse longer headers. */
const MOST_OF_SECRET = 16_384;
const tooLong = () => new Error(`it has more than ${MOST_OF_SECRET} bytes, and no key has`);

/** The text of a file that holds a secret: redacting a key of 10 MB would take 40 s. @throws Error, for the caller to name it */
export function readSecretFile(path: string): string {
  if (statSync(path).size > MOST_OF_SECRET) throw tooLong();
  return readFileText(path);
}

/** The same from a pipe. */
export async function readSecretPipe(path: string, interrupt?: AbortSignal): Promise<string> {
  let text = '';
  for await (const chunk of readPipe(path, interrupt).setEncoding('utf8')) {
    text += chunk;
    if (text.length > MOST_OF_SECRET) throw tooLong();
  }
  return text;
}

/** The text of a small file, in UTF-8 or, as editors of Windows may write it, in UTF-16, without its byte-order mark. A pipe would block
 * the whole program until another program writes. @throws Error */
export function readFileText(path: string): string {
  requireFile(path);
  const bytes = readFileSync(path);
  const [first, second] = bytes;
  // Without a mark, each other byte of ASCII in UTF-16 is 0.
  const isLittle =
    (first === 0xff && second === 0xfe) || (bytes.length > 1 && first !== 0 && second === 0);
  const isBig =
    (first === 0xfe && second === 0xff) || (bytes.length > 1 && first === 0 && second !== 0);
  return new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8').decode(bytes);
}
