import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, extname, join, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { isRoomUsedUp, resultOrNull } from '../../base/errors.ts';
import { grouped } from '../../base/format-numbers.ts';
import type { JobFile } from '../../job/job-file.ts';
import { readJobFile } from '../../job/read-job-file.ts';
import { RefusedRequest } from './page-words.ts';

/** `path`: of the upload, or the one that the user named. */
const entrySchema = z.object({ name: z.string(), path: z.string(), isUpload: z.boolean() });

/** A file that the page works on. It has a folder in the workspace for the upload, the job file and the output. */
export type ChosenFile = Readonly<z.infer<typeof entrySchema>> & { readonly id: string };

const DAY_MS = 86_400_000;

const ID = /^[0-9a-f]{16}$/;

/** The folder of the page's files. It survives a restart. */
export class Workspace {
  readonly #folder: string;
  readonly #files = new Map<string, ChosenFile>();

  constructor(folder: string, now: number) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const id of readdirSync(folder).filter((name) => ID.test(name))) {
      const file = join(folder, id, 'book.json');
      const entry = resultOrNull(() => entrySchema.parse(JSON.parse(readFileSync(file, 'utf8'))));
      if (entry !== null)
        this.#files.set(id, {
          ...entry,
          id,
          path: entry.isUpload ? this.#inside(id, entry.name) : entry.path,
        });
      // A folder without its entry is an interrupted upload, or one that another process is receiving now.
      else if (statSync(join(folder, id)).mtimeMs < now - DAY_MS) this.discard(id);
    }
  }

  get(id: string): ChosenFile | null {
    return this.#files.get(id) ?? null;
  }

  /** A folder for an upload. `add` makes it a file of the page, `discard` removes it. */
  reserve(name: string): Pick<ChosenFile, 'id' | 'name' | 'path'> {
    const id = randomBytes(8).toString('hex');
    for (const part of ['input', 'output'])
      mkdirSync(join(this.#folder, id, part), { recursive: true, mode: 0o700 });
    return { id, name, path: this.#inside(id, name) };
  }

  /** The most bytes of an upload: half of what the disk has free. The output is larger than the file, and the store is on the same disk, mostly. */
  room(): number {
    const { bavail, bsize } = statfsSync(this.#folder);
    return Math.floor((bavail * bsize) / 2);
  }

  discard(id: string): void {
    this.#files.delete(id);
    rmSync(join(this.#folder, id), { recursive: true, force: true });
  }

  /** A file was opened: it stays for another day. */
  touch({ id }: ChosenFile, now: number): void {
    utimesSync(join(this.#folder, id), now / 1_000, now / 1_000);
  }

  /** Removes what nobody has used for a day: uploads and outputs would pile up. What was bought is in the store, and a run writes it again.
   * @param outputs those of runs that are at work, of this page or another */
  removeUnused(now: number, outputs: readonly string[]): void {
    for (const { id } of [...this.#files.values()]) {
      const folder = join(this.#folder, id);
      const isAtWork = outputs.some((output) => output.startsWith(folder + sep));
      const names = resultOrNull(() => readdirSync(folder, { recursive: true, encoding: 'utf8' }));
      const times = ['', ...(names ?? [])].map(
        (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
      );
      if (!isAtWork && Math.max(...times) < now - DAY_MS) this.discard(id);
    }
  }

  add(entry: ChosenFile): ChosenFile {
    const { id, ...kept } = entry;
    writeFileSync(join(this.#folder, id, 'book.json'), `${JSON.stringify(kept, null, 2)}\n`, {
      mode: 0o600,
    });
    this.#files.set(id, entry);
    return entry;
  }

  /** Adds a file of this machine. A path that was opened before returns its file. */
  addPath(path: string): ChosenFile {
    const opened = [...this.#files.values()].find((file) => !file.isUpload && file.path === path);
    if (opened) return opened;
    const { id } = this.reserve(basename(path));
    return this.add({ id, name: basename(path), path, isUpload: false });
  }

  /** The output path: always in the workspace, so that no file of the user is overwritten. */
  output({ id }: ChosenFile, ofJob: string): string {
    return join(this.#folder, id, 'output', basename(ofJob));
  }

  /** The settings of a file's last run; null before the first. */
  settings({ id }: ChosenFile): JobFile | null {
    const file = this.#jobFile(id);
    return existsSync(file) ? readJobFile(file, 'job.yaml') : null;
  }

  /** Saves the settings as a job file that `perilbook run` can use. JSON is YAML. */
  keepSettings({ id }: ChosenFile, settings: JobFile): void {
    writeFileSync(this.#jobFile(id), `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  }

  #jobFile(id: string): string {
    return join(this.#folder, id, 'job.yaml');
  }

  #inside(id: string, name: string): string {
    return join(this.#folder, id, 'input', basename(name));
  }
}

/** How long the rest of a refused upload is read: a browser reads the refusal when it has sent its file. */
const READ_ON_MS = 30_000;

/** Streams an upload into a folder of its own. It is added to the workspace when it is complete.
 * @param stated the bytes that it says to have; null if it says nothing
 * @throws RefusedRequest if the disk is full, or would be; the upload is then deleted */
export async function receiveUpload(
  workspace: Workspace,
  body: Readable,
  name: string,
  stated: number | null,
): Promise<ChosenFile> {
  const reserved = workspace.reserve(safeFileName(name));
  try {
    const most = workspace.room();
    if (stated !== null && stated > most) throw tooLarge(most);
    await writeFile(reserved.path, atMost(body, most), { flag: 'wx', mode: 0o600 });
    return workspace.add({ ...reserved, isUpload: true });
  } catch (error) {
    workspace.discard(reserved.id);
    body.resume();
    setTimeout(() => body.destroy(), READ_ON_MS).unref();
    throw isRoomUsedUp(error) ? noRoom('The disk is full') : error;
  }
}

/** The chunks of an upload, whose connection stays open for the refusal. @throws RefusedRequest after `most` bytes */
async function* atMost(body: Readable, most: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > most) throw tooLarge(most);
    yield chunk;
  }
}

function tooLarge(most: number): RefusedRequest {
  const room = `${grouped(Math.floor(most / 1_000_000))} MB`;
  return noRoom(`The file is larger than ${room}, half of the free space of the disk`);
}

function noRoom(message: string): RefusedRequest {
  const hint = 'Free some space, or open the file by its path instead.';
  return new RefusedRequest(507, 'NO_ROOM', message, hint);
}

/** In bytes: file systems allow 255, and the names of outputs and temporary files are longer. */
const LONGEST = 120;

/** The name of an upload on the disk, without characters that systems cannot handle. Never empty, hidden, or a path out of the folder. */
export function safeFileName(name: string): string {
  const base = name.split(/[/\\]/).at(-1) ?? '';
  const plain = base
    .normalize('NFC')
    // Control, format and surrogate characters: some change the direction of the text around them.
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/^[.\s]+|[.\s]+$/g, '');
  if (plain === '') return 'upload';
  const extension = shortenText(extname(plain), 16);
  const stem = plain.slice(0, plain.length - extname(plain).length);
  return shortenText(stem, LONGEST) + extension;
}

/** As many whole characters as fit into `most` bytes: a stream's decoder waits for the rest of the last one. */
function shortenText(text: string, most: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, most), { stream: true });
}
