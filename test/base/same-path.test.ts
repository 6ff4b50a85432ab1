import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSamePath } from '../../src/base/same-path.ts';

test('Windows and macOS name a file in any case; elsewhere another case is another file', () => {
  const same = (system: NodeJS.Platform) =>
    isSamePath('C:\\Books\\HÄUSER.csv', 'c:\\books\\Häuser.csv', system);
  assert.deepEqual([same('win32'), same('darwin'), same('linux')], [true, true, false]);
  assert.equal(isSamePath('/a/b.csv', '/a/b.csv', 'linux'), true);
  assert.equal(isSamePath('C:\\a.csv', 'C:\\b.csv', 'win32'), false);
});
