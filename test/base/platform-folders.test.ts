import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dataFolderOf, formerFolder, isOfHome, withHome } from '../../src/base/platform-folders.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('each platform has its folder, and one that is set goes before', (t) => {
  const home = temporaryFolder(t);
  const local = join(home, 'AppData/Local');
  const env = { HOME: home };
  assert.equal(dataFolderOf(env, 'linux'), join(home, '.local/share/perilbook'));
  assert.equal(
    dataFolderOf({ ...env, LOCALAPPDATA: local }, 'darwin'),
    join(home, '.local/share/perilbook'),
  );
  assert.equal(
    dataFolderOf({ ...env, LOCALAPPDATA: join(home, 'x') }, 'win32'),
    join(home, 'x/perilbook'),
  );
  assert.equal(
    dataFolderOf({ ...env, LOCALAPPDATA: 'relative' }, 'win32'),
    join(local, 'perilbook'),
  );
  assert.equal(
    dataFolderOf({ ...env, XDG_DATA_HOME: join(home, 'y') }, 'win32'),
    join(home, 'y/perilbook'),
  );
});

test('a store of an earlier version on Windows is found, until there is one in the folder of today', (t) => {
  const home = temporaryFolder(t);
  const env = { HOME: home, LOCALAPPDATA: join(home, 'local') };
  const [former, today] = [join(home, '.local/share/perilbook'), join(home, 'local/perilbook')];
  const makeStore = (folder: string) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'store.db'), '');
  };
  assert.equal(formerFolder(env, 'win32'), null);
  makeStore(former);
  assert.equal(formerFolder(env, 'linux'), null);
  assert.deepEqual([formerFolder(env, 'win32'), dataFolderOf(env, 'win32')], [former, former]);
  makeStore(today);
  assert.deepEqual([formerFolder(env, 'win32'), dataFolderOf(env, 'win32')], [null, today]);
});

test('a leading ~ is the home folder before a slash, on Windows also before a backslash; elsewhere that is part of a name', () => {
  const home = join('/home', 'zoe');
  assert.equal(withHome('~/books/a.csv', home, 'win32'), join(home, 'books/a.csv'));
  assert.equal(withHome('~\\a.csv', home, 'win32'), join(home, 'a.csv'));
  assert.equal(withHome('~\\a.csv', home, 'linux'), '~\\a.csv');
  assert.throws(() => withHome('~ann\\a.csv', home, 'win32'), { code: 'USAGE' });
  assert.throws(() => withHome('~\\a.csv', null, 'win32'), { message: /has no home folder/ });
  assert.deepEqual([isOfHome('~\\a.csv', 'win32'), isOfHome('~\\a.csv', 'linux')], [true, false]);
});
