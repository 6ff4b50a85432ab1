import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Scope } from '../../src/contract/credits.ts';
import { ApiKeys, hashSecret, type Key, readKeys } from '../../src/run/plan/api-keys.ts';
import type { Store } from '../../src/store/port.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const key = (secret: string, ...scopes: Scope[]): Key => ({
  secret,
  fingerprint: hashSecret(secret),
  scopes: scopes.length > 0 ? new Set(scopes) : null,
});

test('of the keys in order one is used that is valid, for which the job states the scope, and that the service has not refused', async () => {
  const scopes: Scope[] = ['bundle', 'hail', 'park'];
  const learned = fc.record({
    what: fc.constantFrom('markInvalid', 'denyScope'),
    of: fc.nat({ max: 2 }),
    scope: fc.constantFrom(...scopes),
  });
  // Without names a key is for every scope.
  const named = fc.array(fc.subarray(scopes), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(named, fc.array(learned, { maxLength: 8 }), fc.subarray(scopes), async (each, news, earlier) => {
      const keys = each.map((names, index) => key(`secret ${index}`, ...names));
      // An earlier run has learned of the first.
      const refusedScopes = async (_: number, of: string) => new Set(of === keys[0]!.fingerprint ? earlier : []);
      const apiKeys = await ApiKeys.open(keys, { refusedScopes } as unknown as Store, 1);
      const about = news.filter(({ of }) => of < keys.length);
      for (const { what, of, scope } of about) {
        if (what === 'markInvalid') apiKeys.markInvalid(keys[of]!);
        else apiKeys.denyScope(keys[of]!, scope);
      }
      const isRefused = (index: number, scope?: Scope) =>
        (index === 0 && scope !== undefined && earlier.includes(scope)) ||
        about.some(({ what, of, scope: denied }) => of === index && (what === 'markInvalid' || denied === scope));
      for (const scope of scopes) {
        const isOpen = ({ scopes }: Key, index: number) =>
          (scopes === null || scopes.has(scope)) && !isRefused(index, scope);
        assert.equal(apiKeys.keyFor(scope), keys.find(isOpen) ?? null);
      }
      const isEachRefused = keys.every((_, index) => isRefused(index));
      assert.equal(apiKeys.exhausted, isEachRefused);
    }),
  );
});

test('keys come from the environment and from the only line of files, without the space around them', async (t) => {
  const file = join(temporaryFolder(t), 'key');
  writeFileSync(file, '\n  pb_file \r\n\n');
  const named = { env: 'KEY', scopes: null };
  const [first, second] = await readKeys([named, { file, scopes: ['bundle', 'park'] }], { KEY: ' pb_env\n' });
  assert.deepEqual([first!.secret, first!.scopes], ['pb_env', null]);
  assert.deepEqual([second!.secret, second!.scopes], ['pb_file', new Set(['bundle', 'park'])]);
});

test('a key that is missing where the job names it: the error names the place and what to do', async (t) => {
  const folder = temporaryFolder(t);
  const [empty, table] = [join(folder, 'empty'), join(folder, 'table')];
  writeFileSync(empty, '\n \n');
  writeFileSync(table, 'id,latitude\n1,40\n');
  const missing = (source: { env?: string; file?: string }, message: RegExp) =>
    assert.rejects(readKeys([{ ...source, scopes: null }], { BLANK: '  ' }), { code: 'KEY_MISSING', message });
  await missing({ env: 'NONE' }, /environment variable NONE holds no API key/);
  await missing({ env: 'BLANK' }, /environment variable BLANK holds no API key/);
  await missing({ file: empty }, /empty is empty/);
  await missing({ file: table }, /table has 2 lines$/);
  await missing({ file: join(folder, 'gone') }, /gone cannot be read/);
  await missing({ file: folder }, /cannot be read/);
  const typed = 'pbk7Q2xR9vLm4TzWc8YdN3';
  await missing({ env: typed }, /looks like a key itself, and is not shown$/);
  await missing({ file: join(folder, typed) }, /looks like a key itself, and is not shown; there is no such file$/);
});

test('a pipe gives its key once, for each time that it is read', async (t) => {
  const pipe = join(temporaryFolder(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const writer = spawn('sh', ['-c', 'echo pb_piped > "$0"', pipe]);
  t.after(() => writer.kill());
  for (let time = 0; time < 2; time++) {
    const [read] = await readKeys([{ file: pipe, scopes: null }], {});
    assert.equal(read!.secret, 'pb_piped');
  }
});

test('a fingerprint is the same for the same key, differs between keys, and holds nothing of the key', () => {
  const secret = fc.string({ minLength: 8 });
  fc.assert(
    fc.property(secret, secret, (a, b) => {
      assert.match(hashSecret(a), /^[0-9a-f]{12}$/);
      assert.equal(hashSecret(a) === hashSecret(b), a === b);
      assert.ok(!hashSecret(a).includes(a));
    }),
  );
});
