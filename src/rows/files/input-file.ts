import {
  close,
  closeSync,
  constants,
  fstat,
  fstatSync,
  open,
  openSync,
  read,
  readdirSync,
  readSync,
  type Stats,
  statSync,
  writeFile,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { hasSystemCode, PerilbookError, resultOrNull } from '../../base/errors.ts';
import { didYouMean } from '../../base/nearest-name.ts';
import { interruptible, isEndless, readPipe } from '../../base/pipes.ts';
import type { BytePass, ByteSource } from '../../formats/bytes/byte-source.ts';
import type { Compression } from '../../formats/bytes/unpack.ts';
import type { Utf16 } from '../text-encoding.ts';
import { openUnnamed } from './temporary-files.ts';

/** Descriptors, not FileHandles: the copy of a pipe is read until the process ends, and a FileHandle that is collected first would warn. */
const [openFd, readFd, statFd, closeFd] = [
  promisify(open),
  promisify(read),
  promisify(fstat),
  promisify(close),
];
const appendFd = promisify<number, Buffer>(writeFile);

/** The bytes of the head, which show format, delimiter and encoding. */
export const HEAD_BYTES = 1024 * 1024;

/** An input that can be read more than once; a pass fails if it has changed since it was opened. */
export interface InputFile extends ByteSource {
  /** The first bytes, at most a mebibyte. */
  readonly head: Buffer;
  readonly isWhole: boolean;
  /** The compression of the file on the disk, if reading unpacks it. */
  readonly compression: Compression | null;
  /** The encoding of the text on the disk, if reading converts it to UTF-8. */
  readonly utf16: Utf16 | null;
  /** The file's identity, for a comparison with the output; null for a stream. */
  readonly identity: FileIdentity | null;
  /** Begins a pass through the file; refuses when it is no longer the same.
   * @param isShort reads synchronously: with all cores busy, waiting for another thread takes longer than the read (a fifth of a scan) */
  startPass(isShort?: boolean): Promise<BytePass>;
}

/** With the mode, which says who may read it: an output is never open to more users. */
type FileIdentity = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs' | 'mode'>;

/** Whether a thread can open the file again and read any part of it. */
export function isPlainFile({ identity, compression, utf16 }: InputFile): boolean {
  return identity !== null && compression === null && utf16 === null;
}

/** Refuses when the file has changed since it was opened. */
export async function assertSameFile(input: InputFile): Promise<void> {
  // Starting a pass checks this.
  await using _pass = await input.startPass();
}

/** The stream for `-`, and the signal that ends the wait for a pipe. */
export interface InputStreams {
  readonly stdin: Readable & { readonly fd?: number; readonly isTTY?: boolean };
  readonly interrupt?: AbortSignal | undefined;
}

/** Opens the input: a path, or `-` for `stdin`. A pipe or a device, which cannot be read twice, is first copied to an
 * unnamed temporary file, so that a kill leaves no file. */
export async function openInput(file: string, streams?: InputStreams): Promise<InputFile> {
  if (file === '-') {
    const { stdin, interrupt } = streams ?? {};
    if (!stdin)
      throw new PerilbookError(
        'USAGE',
        'There is no standard input to read',
        'Give the name of a file.',
      );
    const name = 'standard input';
    // A terminal is a device too, but its user ends it.
    if (stdin.fd !== undefined && stdin.isTTY !== true && isEndless(await statFd(stdin.fd)))
      throw endless(name);
    return makeInput(name, await spool(interruptible(stdin, name, interrupt), name), null);
  }
  try {
    const before = await stat(file);
    if (before.isDirectory())
      throw unreadable(file, 'is a directory', 'Give the name of a file in it.');
    if (isEndless(before)) throw endless(file);
    // Of the devices only /dev/null is left, an empty file.
    const isRead = before.isFile() || before.isCharacterDevice();
    if (!isRead)
      return await makeInput(file, await spool(readPipe(file, streams?.interrupt), file), null);
    const fd = await openFd(file, 'r');
    try {
      return await makeInput(file, fd, await statFd(fd));
    } finally {
      await closeFd(fd);
    }
  } catch (error) {
    throw asUnreadable(file, error);
  }
}

async function makeInput(
  name: string,
  fd: number,
  identity: FileIdentity | null,
): Promise<InputFile> {
  const size = identity?.size ?? (await statFd(fd)).size;
  const head = Buffer.alloc(Math.min(size, HEAD_BYTES));
  let filled = 0;
  while (filled < head.length) {
    const { bytesRead } = await readFd(fd, head, filled, head.length - filled, filled);
    if (bytesRead === 0) throw changedError(name);
    filled += bytesRead;
  }
  const isWhole = head.length === size;
  return {
    name,
    size,
    head,
    isWhole,
    compression: null,
    utf16: null,
    identity,
    refused: (what, hint, cause) => unreadable(name, what, hint, cause),
    startPass: async (isShort) => startPass(name, fd, identity, isShort),
  };
}

function startPass(
  name: string,
  spooled: number,
  identity: FileIdentity | null,
  isShort = false,
): BytePass {
  const orRefused = <T>(work: () => T, refusal = asUnreadable): T => {
    try {
      return work();
    } catch (error) {
      throw refusal(name, error);
    }
  };
  // A pipe that took the file's name would block the whole program until another one writes.
  const fd = identity
    ? orRefused(() => openSync(name, constants.O_RDONLY | constants.O_NONBLOCK), asGone)
    : spooled;
  const isSame = () => {
    if (identity === null) return true;
    const { dev, ino, size, mtimeMs } = fstatSync(fd);
    return (
      dev === identity.dev &&
      ino === identity.ino &&
      size === identity.size &&
      mtimeMs === identity.mtimeMs
    );
  };
  const end = () => {
    if (identity) closeSync(fd);
  };
  if (!isSame()) {
    end();
    throw changedError(name);
  }
  return {
    async readInto(buffer, offset, position) {
      const length = buffer.length - offset;
      if (isShort) return orRefused(() => readSync(fd, buffer, offset, length, position));
      const read = readFd(fd, buffer, offset, length, position);
      return (await read.catch((error) => Promise.reject(asUnreadable(name, error)))).bytesRead;
    },
    async assertSame() {
      if (!isSame()) throw changedError(name);
    },
    [Symbol.asyncDispose]: async () => end(),
  };
}

function asGone(name: string, error: unknown): unknown {
  return hasSystemCode(error, 'ENOENT') ? changedError(name) : asUnreadable(name, error);
}

async function spool(stream: Readable, name: string): Promise<number> {
  let fd: number | null = null;
  try {
    fd = openUnnamed();
    for await (const chunk of stream) await appendFd(fd, chunk);
    return fd;
  } catch (error) {
    if (fd !== null) await closeFd(fd);
    throw asUnreadable(name, error);
  }
}

function endless(name: string): PerilbookError {
  return unreadable(
    name,
    'is a device, not a file',
    'Give the name of a file, or - to read standard input.',
  );
}

function changedError(file: string): PerilbookError {
  const hint = 'Run again when no other program writes to it; answers that were bought are kept.';
  return unreadable(file, 'has changed since it was opened', hint);
}

/** @param what a clause about the file, such as `is empty` */
export function unreadable(
  file: string,
  what: string,
  hint: string,
  cause?: unknown,
): PerilbookError {
  return new PerilbookError('INPUT_UNREADABLE', `${file} ${what}`, hint, { file }, cause);
}

/** @throws INPUT_UNREADABLE if the file does not exist */
export function requireFile(file: string): void {
  try {
    statSync(file);
  } catch (error) {
    throw asUnreadable(file, error);
  }
}

function asUnreadable(file: string, error: unknown): unknown {
  if (error instanceof PerilbookError || !(error instanceof Error) || !('code' in error))
    return error;
  if (error.code === 'ENOENT') {
    return unreadable(
      file,
      `does not exist${didYouMeanFile(file)}`,
      'Check the name of the file.',
      error,
    );
  }
  if (error.code === 'EACCES' || error.code === 'EPERM') {
    return unreadable(
      file,
      'may not be read by this user',
      'Change its permissions, or copy it.',
      error,
    );
  }
  if (error.code === 'EBUSY') {
    return unreadable(
      file,
      'is held by another program',
      'Close it there, or give a copy of it.',
      error,
    );
  }
  if (error.code === 'ENOSPC') {
    return unreadable(
      file,
      'does not fit in the temporary folder',
      'Set TMPDIR to a folder with more room.',
      error,
    );
  }
  return unreadable(
    file,
    `cannot be read (${error.message})`,
    'Check the file and the disk that it is on.',
    error,
  );
}

/** `; did you mean X?` for a missing file, if its folder has a file with a similar name. */
export function didYouMeanFile(path: string): string {
  // The folder may be missing too.
  return resultOrNull(() => didYouMean(basename(path), readdirSync(dirname(path)))) ?? '';
}
