import { createHash } from 'node:crypto';
import {
  constants,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { systemClock } from '../src/base/clock.ts';
import { NATURAL_SLUGS, TOPIC_SLUGS, type TopicSlug } from '../src/contract/topics.ts';
import { openDataDatabase } from '../src/data/tables/data-database.ts';
import { addSample } from '../src/sample/add-sample.ts';
import { sharedFolder, temporaryFolder } from './temporary-folder.ts';

const SOURCE = join(import.meta.dirname, '../src');
const KEPT = join(import.meta.dirname, '../node_modules/.cache/perilbook');
const DAY_MS = 86_400_000;

let fingerprint: string | undefined;

/** Copies the service's database with sample data to `file`. It is built once for each version of
 * the source, and kept in `node_modules/.cache`; the first process that needs it builds it, the others wait. */
export function copySampleDatabase(file: string, topics = TOPIC_SLUGS): void {
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(builtDatabase(topics), file, constants.COPYFILE_FICLONE);
}

/** Puts the sample service's database where a run with this store looks for it, so that the run does not build it: by default for
 * natural topics alone, without readings that each run must renew. */
export function provideSampleData(
  store: string,
  topics: readonly TopicSlug[] = NATURAL_SLUGS,
): void {
  copySampleDatabase(join(dirname(store), 'sample-data.db'), topics);
}

/** A folder with files, which is gone when the test ends. With `store`, a run with that store in it answers from sample data at once. */
export function folderWith(
  t: TestContext,
  files: Readonly<Record<string, string | Uint8Array>>,
  store?: string,
): string {
  const folder = temporaryFolder(t);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  if (store !== undefined) provideSampleData(join(folder, store));
  return folder;
}

function builtDatabase(topics: readonly TopicSlug[]): string {
  fingerprint ??= fingerprintOfSource();
  const built = join(KEPT, `sample-${topics.length}-${fingerprint}.db`);
  if (existsSync(built)) return built;
  mkdirSync(KEPT, { recursive: true });
  // A lock of SQLite's ends with the process that holds it, however that ends.
  const lock = new Database(join(KEPT, 'lock'), { timeout: 300_000 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    if (!existsSync(built)) {
      removeOldDatabases();
      makeSampleDatabase(`${built}.tmp`, topics);
      renameSync(`${built}.tmp`, built);
    }
  } finally {
    lock.close();
  }
  return built;
}

/** Makes the service's database with sample data. What a killed process left there is replaced. */
export function makeSampleDatabase(file: string, topics = TOPIC_SLUGS): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  using database = openDataDatabase(file);
  addSample(database, topics, systemClock);
}

/** Each version of the source leaves 12 MB. */
function removeOldDatabases(): void {
  for (const old of globSync(join(KEPT, 'sample-*.db'))) {
    if (Date.now() - statSync(old).mtimeMs > DAY_MS) rmSync(old, { force: true });
  }
}

function fingerprintOfSource(): string {
  const hash = createHash('sha256');
  for (const file of globSync('{contract,data,geo,sample,service}/**/*.{ts,sql}', {
    cwd: SOURCE,
  }).sort()) {
    hash.update(file).update(readFileSync(join(SOURCE, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Puts the sample's data, as if it were real, where a run with this `XDG_DATA_HOME` looks for local data. The readings are as old
 * as `measuredAt`, to ten minutes. */
export function provideLocalData(home: string, measuredAt?: number): string {
  const file = join(home, 'perilbook/data.db');
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(madeLocalData(measuredAt), file, constants.COPYFILE_FICLONE);
  return file;
}

const READINGS_MS = 600_000;

/** Made once for each ten minutes of readings: to change the readings takes four times as long as a copy. */
function madeLocalData(measuredAt: number | undefined): string {
  const topics = TOPIC_SLUGS.length;
  const time = measuredAt === undefined ? null : measuredAt - (measuredAt % READINGS_MS);
  const file = join(sharedFolder(), `local-data-${topics}-${time ?? 'as-made'}.db`);
  if (existsSync(file)) return file;
  const making = `${file}.${process.pid}`;
  copySampleDatabase(making);
  const database = new Database(making);
  try {
    database.exec("UPDATE datasets SET sample = 0; UPDATE parts SET source = 'test'");
    if (time !== null) database.prepare('UPDATE reading_boxes SET measured_at = ?').run(time);
  } finally {
    database.close();
  }
  // Of two processes that make it at the same time, the second replaces the file by an equal one.
  renameSync(making, file);
  return file;
}
