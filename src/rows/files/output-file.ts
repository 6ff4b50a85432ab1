import { createWriteStream, fstatSync, lstatSync, type Stats, write } from 'node:fs';
import {
  type FileHandle,
  lstat,
  open,
  readlink,
  realpath,
  rename,
  stat,
  unlink,
} from 'node:fs/promises';
import { dirname, join, parse, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { hasSystemCode, PerilbookError } from '../../base/errors.ts';
import { windowsNameFault } from '../../base/path-names.ts';
import { writePipe } from '../../base/pipes.ts';
import { isSamePath } from '../../base/same-path.ts';
import { isPlanted, PLANTED } from '../../base/users.ts';
import type { TableTarget } from '../port.ts';
import type { DirectFile } from './byte-buffer.ts';
import { endTemporary, removeAbandoned, temporaryName } from './temporary-files.ts';

/** An output. Nothing is visible under its name before `commit`. */
export interface OutputFile {
  write(bytes: Buffer): Promise<void>;
  /** The file, where it is one: threads write parts of it. */
  readonly direct?: DirectFile;
  /** Makes the output durable, then gives it its name. */
  commit(): Promise<void>;
  /** Removes the written bytes. Call it on any failure; it does nothing after a commit. */
  discard(): Promise<void>;
}

/** The input's identity and its permissions: the output must be another file, which no more users may read. */
export type InputIdentity = Pick<Stats, 'dev' | 'ino' | 'mode'>;

/** Refuses an output that cannot be written, before anything is bought: the input itself, a directory, or a file in a folder
 * that does not exist or may not be written. Leaves no file. */
export async function checkOutput(output: string, input: string): Promise<void> {
  if (output === '-') return;
  const old = await stat(output).catch(() => undefined);
  // Opening a pipe would block until it has a reader.
  if (old && !old.isFile() && !old.isDirectory()) return await refusePlanted(output);
  const file = await openFile({ output }, await identityOfInput(input));
  await file.discard();
}

/** The identity of a job's input; null for standard input and part files. */
export async function identityOfInput(input: string): Promise<InputIdentity | null> {
  const stats = input === '-' ? null : await stat(input).catch(() => null);
  return stats?.isFile() ? stats : null;
}

/** Refuses an output that would fail only when it gets its name, after everything was bought, or that another user has laid there to get
 * the rows: in a shared folder a link, a pipe, or a file whose permissions the new one would get; anywhere a file that is a mount. */
async function refusePlanted(output: string): Promise<void> {
  const entry = await lstat(output).catch(() => null);
  const folder = await stat(dirname(resolve(output))).catch(() => null);
  if (isPlanted(resolve(output))) throw unwritable(output, PLANTED, OTHER_FOLDER);
  if (entry?.isFile() && entry.dev !== folder?.dev) {
    const what = 'is a mount of its own, which cannot be replaced';
    throw unwritable(output, what, 'Mount its folder, or choose another output file.');
  }
}

const OTHER_FOLDER = 'Choose another output file, in a folder of your own.';

/** A path without links, and the identity of its file. */
export interface ResolvedPath {
  /** The path with symbolic links resolved, even if nothing is there. */
  readonly target: string;
  readonly stats: Stats | undefined;
}

/** @throws OUTPUT_UNWRITABLE if the path cannot be resolved: a loop of links, or a folder that may not be read */
export async function resolvedPath(path: string): Promise<ResolvedPath> {
  return await orUnwritable(path, async () => {
    // A pipe of `>(command)` has no path without links.
    const found = await stat(path).catch(ignoreMissing);
    if (found?.isFIFO()) return { target: resolve(path), stats: found };
    const target = await resolveLinks(path);
    return { target, stats: await stat(target).catch(ignoreMissing) };
  });
}

/** Whether two paths lead to one file: by name, or by inode where it has several names. */
export function isSameFile(a: ResolvedPath, b: ResolvedPath): boolean {
  return isSamePath(a.target, b.target) || isSameInode(a.stats, b.stats);
}

/** Whether two files are one, by whatever names; none is never the same. */
function isSameInode(
  a: InputIdentity | null | undefined,
  b: InputIdentity | null | undefined,
): boolean {
  return a?.ino !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

/** Opens the output: a path, or `-` for `stdout`. */
export async function openOutput(
  target: TableTarget,
  input: InputIdentity | null,
): Promise<OutputFile> {
  const { output, stdout, signal } = target;
  if (output !== '-') return await openFile(target, input);
  if (!stdout)
    throw new PerilbookError(
      'USAGE',
      'There is no standard output to write to',
      'Give the name of a file.',
    );
  const { fd } = stdout as { fd?: unknown };
  if (typeof fd === 'number') refuseInput('standard output', fstatSync(fd), input);
  return streamOutput(stdout, 'standard output', signal);
}

/** Writes an output whole or not at all: the file gets its name when `write` is done; after a failure or an interrupt nothing has changed. */
export async function writeWhole<Result>(
  output: OutputFile,
  signal: AbortSignal | undefined,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await write();
    signal?.throwIfAborted();
    await output.commit();
    return result;
  } catch (error) {
    await output.discard();
    throw error;
  }
}

async function openFile(
  { output, signal, interrupt }: TableTarget,
  input: InputIdentity | null,
): Promise<OutputFile> {
  return await orUnwritable(output, async () => {
    refuseWindowsName(output);
    await refusePlanted(output);
    const { target, stats: old } = await resolvedPath(output);
    if (old?.isDirectory()) throw unwritable(output, 'is a directory', 'Give the name of a file.');
    refuseInput(output, old, input);
    // A pipe or a device cannot be renamed: bytes are written to it directly.
    if (old?.isFIFO()) {
      const ends = AbortSignal.any([signal, interrupt].filter((some) => some !== undefined));
      return pipeOutput(output, await writePipe(target, ends), signal);
    }
    if (old && !old.isFile()) return pipeOutput(output, createWriteStream(target), signal);
    if (old) await refuseHeld(output, target);
    await removeAbandoned(target);
    const temporary = temporaryName(target);
    const handle = await open(
      temporary,
      'wx',
      old ? old.mode & 0o777 : 0o600 | ((input?.mode ?? 0o666) & 0o066),
    );
    if (old) await handle.chmod(old.mode & 0o777).catch(() => {});
    return renamedOutput(output, handle, temporary, target);
  });
}

function refuseInput(output: string, stats: Stats | undefined, input: InputIdentity | null): void {
  if (isSameInode(stats, input))
    throw unwritable(output, 'is the input itself', 'Choose another output file.');
}

/** Syncs while rows are still written: a single sync at the end of a large file takes long. */
const BYTES_A_SYNC = 32 * 1024 * 1024;

function renamedOutput(
  output: string,
  handle: FileHandle,
  temporary: string,
  target: string,
): OutputFile {
  let left = false;
  let unsynced = 0;
  let syncing: Promise<void> = Promise.resolve();
  let position = 0;
  const take = (bytes: number): number => {
    position += bytes;
    unsynced += bytes;
    if (unsynced >= BYTES_A_SYNC) {
      unsynced = 0;
      syncing = syncing.then(() => handle.datasync());
      // `commit` reports a failure; until then it must not count as unhandled.
      syncing.catch(() => {});
    }
    return position - bytes;
  };
  return {
    direct: { name: output, fd: handle.fd, take },
    write: (bytes) => orUnwritable(output, () => writeAt(handle.fd, bytes, take(bytes.length))),
    commit: () =>
      orUnwritable(output, async () => {
        await syncing;
        await handle.sync();
        await handle.close();
        const isHeld = await rename(temporary, target).catch((error) => heldByOther(error, target));
        if (isHeld) await rename(temporary, besideOf(target));
        left = true;
        endTemporary(temporary);
        if (isHeld)
          throw unwritable(
            output,
            `${HELD}: the rows are in ${besideOf(target)}`,
            CLOSE_AND_RENAME,
          );
        await syncFolder(dirname(target));
      }),
    async discard() {
      if (left) return;
      left = true;
      await syncing.catch(() => {});
      await handle.close().catch(() => {});
      await unlink(temporary).catch(() => {});
      endTemporary(temporary);
    },
  };
}

const writeFd = promisify(write);

/** Writes all bytes at a position. @throws errors of the system */
export async function writeAt(fd: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; )
    at += (await writeFd(fd, bytes, at, bytes.length - at, position + at)).bytesWritten;
}

function pipeOutput(output: string, pipe: Writable, signal?: AbortSignal): OutputFile {
  const stream = streamOutput(pipe, output, signal);
  const end = async () => {
    await stream.commit();
    pipe.end();
    await finished(pipe);
  };
  return {
    ...stream,
    commit: () => orUnwritable(output, end),
    discard: async () => void pipe.destroy(),
  };
}

function streamOutput(stdout: Writable, name: string, signal?: AbortSignal): OutputFile {
  // A failed write also emits 'error', which would end the process without a listener; the write itself reports it.
  const ignore = () => {};
  stdout.on('error', ignore);
  const release = async () => {
    stdout.off('error', ignore);
  };
  return {
    write: (bytes) =>
      new Promise((done, fail) => {
        // An earlier abort sends no event now, and a stopped reader would block the output for ever.
        signal?.throwIfAborted();
        const onAbort = () => fail(signal?.reason);
        signal?.addEventListener('abort', onAbort, { once: true });
        stdout.write(bytes, (error) => {
          signal?.removeEventListener('abort', onAbort);
          if (error) fail(asUnwritable(name, error));
          else done();
        });
      }),
    commit: release,
    discard: release,
  };
}

/** Resolves symbolic links: the link stays and its target is replaced, even when that does not exist yet. */
async function resolveLinks(output: string): Promise<string> {
  let path = resolve(output);
  for (let links = 0; links < 40; links++) {
    const real = await realpath(path).catch(ignoreMissing);
    if (real) return real;
    const entry = await lstat(path).catch(ignoreMissing);
    if (!entry?.isSymbolicLink()) return path;
    path = resolve(dirname(path), await readlink(path));
  }
  throw unwritable(output, 'is a loop of links', 'Choose another output file.');
}

/** Makes the rename durable, where the system can sync a folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

const HELD = 'is held by another program';
const IS_HELD = [HELD, 'Close it there, or choose another output file.'] as const;
const CLOSE_AND_RENAME =
  'Close it there, then give it the rows: move the new file over it, or run again.';

/** Whether a file could not be replaced because another program has it open: a workbook in Excel. @throws any other error, also that of
 * a folder, to which Windows gives the same code */
function heldByOther(error: unknown, target: string): true {
  if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory()) throw error;
  if (['EBUSY', 'EPERM', 'EACCES'].some((code) => hasSystemCode(error, code))) return true;
  throw error;
}

/** A name for the rows beside an output that is held. */
function besideOf(target: string): string {
  const { dir, name, ext } = parse(target);
  return join(dir, `${name} (new)${ext}`);
}

/** Windows finds a file that another program holds only when it is opened, so an old output is opened before anything is bought. */
async function refuseHeld(output: string, target: string): Promise<void> {
  const handle = await open(target, 'r+').catch((error: unknown) => {
    if (
      hasSystemCode(error, 'EBUSY') ||
      (process.platform === 'win32' && heldByOther(error, target))
    )
      return null;
    return undefined;
  });
  if (handle === null) throw unwritable(output, ...IS_HELD);
  await handle?.close();
}

/** Refuses an output that Windows would give to a device or hide. @throws OUTPUT_UNWRITABLE */
export function refuseWindowsName(output: string, system = process.platform): void {
  const fault = windowsNameFault(output, system);
  if (fault === null) return;
  const hint = 'Choose another name, without < > : " | ? * and control characters.';
  throw unwritable(output, fault, hint);
}

function ignoreMissing(error: unknown): undefined {
  if (hasSystemCode(error, 'ENOENT')) return undefined;
  throw error;
}

function unwritable(file: string, what: string, hint: string, cause?: unknown): PerilbookError {
  return new PerilbookError('OUTPUT_UNWRITABLE', `${file} ${what}`, hint, { file }, cause);
}

const ROOM = 'Make room or choose another output file, then run again: nothing is bought twice.';
const NO_ROOM = ['does not fit on its disk', ROOM] as const;

const REASONS: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  ENOENT: [
    'lies in a folder that does not exist',
    'Create the folder, or choose another output file.',
  ],
  ENOTDIR: [
    'lies in a folder that does not exist',
    'Create the folder, or choose another output file.',
  ],
  EACCES: [
    'may not be written by this user',
    'Choose another output file, or change the permissions of its folder.',
  ],
  EPERM: [
    'may not be written by this user',
    'Choose another output file, or change the permissions of its folder.',
  ],
  EBUSY: IS_HELD,
  EROFS: ['lies on a disk that is read-only', 'Choose another output file.'],
  ENOSPC: NO_ROOM,
  EDQUOT: NO_ROOM,
  EFBIG: NO_ROOM,
  EPIPE: [
    'was closed by its reader',
    'Run again with a reader that takes all rows: nothing is bought twice.',
  ],
};

async function orUnwritable<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asUnwritable(file, error);
  }
}

/** What is thrown in place of an error of the system. */
export function asUnwritable(file: string, error: unknown): unknown {
  if (error instanceof PerilbookError || !(error instanceof Error) || !('code' in error))
    return error;
  const other = [`cannot be written (${error.message})`, 'Choose another output file.'] as const;
  const [what, hint] = REASONS[String(error.code)] ?? other;
  return unwritable(file, what, hint, error);
}
