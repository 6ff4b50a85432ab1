import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  globSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import {
  type DatabaseFormat,
  migrationSteps,
  openSqlite,
  openSqliteReadOnly,
} from '../../src/sql/open-sqlite.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const FORMAT: DatabaseFormat = {
  migrations: new URL('../../src/store/migrations/sqlite/', import.meta.url),
  pragmas: [],
  busyTimeoutMs: 30_000,
  otherVersion: (version, known) => new Error(`version ${version}, not ${known}`),
};

/** A file that another program holds for some milliseconds. */
async function heldFile(t: TestContext, holdMs: number): Promise<string> {
  const folder = temporaryFolder(t);
  const file = join(folder, 'older.db');
  openSqlite(file, formatOf(folder, [7])).close();
  new Database(file).exec('PRAGMA journal_mode = DELETE').close();
  const writer = new Worker(new URL('./first-writer.ts', import.meta.url), {
    workerData: { file, holdMs },
  });
  t.after(() => writer.terminate());
  await once(writer, 'message');
  return file;
}

test('a file that another program writes first is waited for', async (t) => {
  const file = await heldFile(t, 300);
  using database = openSqlite(file, formatOf(dirname(file), [7, 8]));
  assert.equal(database.pragma('journal_mode', { simple: true }), 'wal');
  assert.equal(database.pragma('user_version', { simple: true }), 8);
});

test('a file of 0 bytes is not taken for a new one; a new one is never seen with 0 bytes', (t) => {
  const file = join(temporaryFolder(t), 'a.db');
  writeFileSync(file, '');
  assert.throws(() => openSqlite(file, FORMAT), { code: 'EMPTY_FILE' });
  assert.equal(statSync(file).size, 0);
  rmSync(file);
  openSqlite(file, FORMAT).close();
  assert.deepEqual(readdirSync(dirname(file)), ['a.db']);
});

test('a file that is held for longer than the timeout is refused as busy', async (t) => {
  const file = await heldFile(t, 60_000);
  const format = { ...formatOf(dirname(file), [7, 8]), busyTimeoutMs: 50 };
  assert.throws(() => openSqlite(file, format), { code: 'SQLITE_BUSY' });
});

test('only a file that does not exist is a new one', (t) => {
  const folder = temporaryFolder(t);
  const noTables = join(folder, 'no-tables.db');
  new Database(noTables).exec('CREATE TABLE t (a); DROP TABLE t').close();
  const whole = join(folder, 'whole.db');
  openSqlite(whole, FORMAT).close();
  const bytes = readFileSync(whole);
  for (const [name, content, code] of [
    ['one-byte.db', 'S', 'SQLITE_NOTADB'],
    ['one-zero.db', '\0', 'SQLITE_NOTADB'],
    ['text.db', 'id,lat,lng\n', 'SQLITE_NOTADB'],
    ['head.db', bytes.subarray(0, 16), 'SQLITE_NOTADB'],
    ['zeros.db', Buffer.alloc(4096), 'SQLITE_NOTADB'],
    ['no-tables.db', readFileSync(noTables), 'EMPTY_FILE'],
  ] as const) {
    const file = join(folder, name);
    writeFileSync(file, content);
    assert.throws(() => openSqlite(file, FORMAT), { code }, name);
    assert.deepEqual(readFileSync(file), Buffer.from(content), name);
  }
});

/** A format whose steps have these numbers; each makes a table of its own. */
function formatOf(folder: string, steps: readonly number[]): DatabaseFormat {
  const migrations = join(folder, `steps-${steps.join('-')}`);
  mkdirSync(migrations);
  for (const step of steps) {
    writeFileSync(
      join(migrations, `${String(step).padStart(4, '0')}-step.sql`),
      `CREATE TABLE t${step} (a);`,
    );
  }
  return { ...FORMAT, migrations: pathToFileURL(`${migrations}/`) };
}

test('a new file gets the number of the last step, and a later program adds the steps that it lacks', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'a.db');
  openSqlite(file, formatOf(folder, [7])).close();
  using database = openSqlite(file, formatOf(folder, [7, 8, 9]));
  assert.equal(database.pragma('user_version', { simple: true }), 9);
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE name LIKE 't%'")
    .pluck()
    .all();
  assert.deepEqual(tables, ['t7', 't8', 't9']);
});

test('a database of another program is refused and left as it is, also where both have no version', (t) => {
  const file = join(temporaryFolder(t), 'policies.db');
  const other = new Database(file);
  other.exec('CREATE TABLE policies (id)');
  other.close();
  const before = readFileSync(file);
  assert.throws(() => openSqlite(file, FORMAT), /a database of another program/);
  assert.throws(() => openSqliteReadOnly(file, FORMAT), /a database of another program/);
  assert.deepEqual([readFileSync(file), readdirSync(dirname(file))], [before, ['policies.db']]);
});

test('a file from before the first step, or after the last, is refused and left as it is', (t) => {
  const folder = temporaryFolder(t);
  const format = formatOf(folder, [7, 8]);
  for (const version of [1, 6, 9]) {
    const file = join(folder, `${version}.db`);
    new Database(file).exec(`CREATE TABLE old (a); PRAGMA user_version = ${version}`).close();
    assert.throws(() => openSqlite(file, format), { message: `version ${version}, not 8` });
    const left = new Database(file, { readonly: true });
    assert.deepEqual(left.prepare('SELECT name FROM sqlite_schema').pluck().all(), ['old']);
    left.close();
  }
});

const MODES = { skip: process.platform === 'win32' && 'Windows has no such modes' };

test(
  'a private file is of its owner alone, a new one and one that an earlier version made',
  MODES,
  (t) => {
    const folder = temporaryFolder(t);
    const umask = process.umask(0o022);
    t.after(() => process.umask(umask));
    const modeOf = (file: string) => statSync(file).mode & 0o777;
    const openedAs = (name: string, before: number | null) => {
      const file = join(folder, name);
      if (before !== null) {
        openSqlite(file, FORMAT).close();
        chmodSync(file, before);
      }
      using database = openSqlite(file, { ...FORMAT, isPrivate: true });
      database.exec('CREATE TABLE written (a)');
      return [modeOf(file), modeOf(`${file}-wal`)];
    };
    assert.deepEqual(openedAs('new.db', null), [0o600, 0o600]);
    assert.deepEqual(openedAs('old.db', 0o644), [0o600, 0o600]);
    assert.deepEqual(openedAs('of-a-group.db', 0o664), [0o660, 0o660], 'shared on purpose');
    openSqlite(join(folder, 'public.db'), FORMAT).close();
    assert.equal(modeOf(join(folder, 'public.db')), 0o644);
  },
);

const ROOT_ALONE = { skip: process.getuid?.() !== 0 && 'root alone can be somebody else' };

test(
  'what another user laid at a name of the database, in a folder that all share, is refused',
  ROOT_ALONE,
  (t) => {
    const parent = temporaryFolder(t);
    /** A database in a folder of user 1, whose file of this suffix belongs to this user. */
    const laid = (mode: number, suffix: string, uid: number) => {
      const folder = join(parent, `${mode}${suffix}-${uid}`);
      mkdirSync(folder);
      const file = join(folder, 'a.db');
      openSqlite(file, FORMAT).close();
      if (suffix !== '') writeFileSync(file + suffix, '');
      chownSync(file + suffix, uid, uid);
      chownSync(folder, 1, 1);
      chmodSync(folder, mode);
      return file;
    };
    const refused = { message: /belongs to another user, or .* in a folder that all users share/ };
    for (const mode of [0o1777, 0o777]) {
      for (const suffix of ['', '-wal', '-shm', '-journal']) {
        const file = laid(mode, suffix, 65_534);
        for (const isPrivate of [true, false])
          assert.throws(() => openSqlite(file, { ...FORMAT, isPrivate }), refused);
        assert.throws(() => openSqliteReadOnly(file, FORMAT), refused);
      }
    }
    assert.throws(
      () => openSqlite(laid(0o1777, '', 1), FORMAT),
      refused,
      "the sticky folder's owner",
    );
    const behindLink = join(dirname(laid(0o1777, '', 65_535)), 'link');
    symlinkSync(dirname(laid(0o2770, '', 65_533)), behindLink);
    lchownSync(behindLink, 65_534, 65_534);
    assert.throws(() => openSqlite(join(behindLink, 'a.db'), FORMAT), refused);
    for (const file of [laid(0o2770, '', 65_534), laid(0o777, '', 1), laid(0o1777, '', 0)]) {
      openSqlite(file, FORMAT).close();
    }
  },
);

test('each migration has a number of its own, one after the other', () => {
  const src = join(import.meta.dirname, '../../src');
  const folders = globSync('**/migrations/{,sqlite/,postgres/}', { cwd: src }).filter((folder) =>
    readdirSync(join(src, folder)).some((name) => name.endsWith('.sql')),
  );
  assert.equal(folders.length, 5);
  for (const folder of folders) {
    const steps = migrationSteps(pathToFileURL(`${join(src, folder)}/`));
    const first = steps[0]!.number;
    assert.deepEqual(
      steps.map(({ number }) => number),
      steps.map((_, index) => first + index),
      folder,
    );
  }
});
