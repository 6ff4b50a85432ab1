import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { JobFile } from '../../job/settings/job-file.ts';
import { readJobFile } from '../../job/settings/read-job-file.ts';

/** A file that the page works on. Everything of it lies in a folder of its own in the workspace: an upload, the job as a job
 * file, the output. */
export interface ChosenFile {
  readonly id: string;
  readonly name: string;
  /** The input: an upload in the book's folder, or the file on this machine that was named. */
  readonly path: string;
  readonly isUpload: boolean;
  readonly addedAt: number;
}

const entrySchema = z.object({ name: z.string(), path: z.string(), isUpload: z.boolean(), addedAt: z.number() });

const DAY_MS = 86_400_000;

const ID = /^[0-9a-f]{16}$/;

/** The folder of the page's books; what is in it is still known after a restart. */
export class Workspace {
  readonly #folder: string;
  readonly #books = new Map<string, ChosenFile>();

  constructor(folder: string, now: number) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const id of readdirSync(folder).filter((name) => ID.test(name))) {
      const entry = readEntry(join(folder, id, 'book.json'));
      if (entry === null) this.#discardOld(id, now);
      else this.#books.set(id, { ...entry, id, path: entry.isUpload ? this.#inside(id, entry.name) : entry.path });
    }
  }

  get(id: string): ChosenFile | null {
    return this.#books.get(id) ?? null;
  }

  list(): ChosenFile[] {
    return [...this.#books.values()];
  }

  /** A folder for an upload that is to come; it becomes a book by `add`, or is taken away by `discard`. */
  reserve(name: string): Pick<ChosenFile, 'id' | 'name' | 'path'> {
    const id = randomBytes(8).toString('hex');
    for (const part of ['input', 'output']) mkdirSync(join(this.#folder, id, part), { recursive: true, mode: 0o700 });
    return { id, name, path: this.#inside(id, name) };
  }

  discard(id: string): void {
    rmSync(join(this.#folder, id), { recursive: true, force: true });
  }

  add(entry: ChosenFile): ChosenFile {
    const { id, ...kept } = entry;
    writeFileSync(join(this.#folder, id, 'book.json'), `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
    this.#books.set(id, entry);
    return entry;
  }

  /** A file of this machine that the user has named. The same file is the same book. */
  addPath(path: string, now: number): ChosenFile {
    const known = this.list().find((book) => !book.isUpload && book.path === path);
    if (known) return known;
    const { id } = this.reserve(basename(path));
    return this.add({ id, name: basename(path), path, isUpload: false, addedAt: now });
  }

  /** Where the output of a book lies: always in its folder, so that no file of the user's own is written over. */
  output({ id }: ChosenFile, ofJob: string): string {
    return join(this.#folder, id, 'output', basename(ofJob));
  }

  /** What the user chose last for a book; null before the first run. */
  settings({ id }: ChosenFile): JobFile | null {
    const file = this.#jobFile(id);
    return existsSync(file) ? readJobFile(file, 'job.yaml') : null;
  }

  /** Keeps the choice as a job file, which `perilbook run` takes as well. YAML reads JSON. */
  keepSettings({ id }: ChosenFile, settings: JobFile): void {
    writeFileSync(this.#jobFile(id), `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  }

  /** A folder without its entry is an upload that was cut off, or one that another process takes in at this moment. */
  #discardOld(id: string, now: number): void {
    if (statSync(join(this.#folder, id)).mtimeMs < now - DAY_MS) this.discard(id);
  }

  #jobFile(id: string): string {
    return join(this.#folder, id, 'job.yaml');
  }

  #inside(id: string, name: string): string {
    return join(this.#folder, id, 'input', basename(name));
  }
}

function readEntry(file: string): Omit<ChosenFile, 'id'> | null {
  try {
    return entrySchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}
