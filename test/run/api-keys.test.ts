import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Scope } from '../../src/contract/credits.ts';
import { ApiKeys, hashSecret, type Key, readKeys } from '../../src/run/plan/api-keys.ts';
import type { Store } from '../../src/store/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { MovedClock } from '../moved-clock.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const key = (secret: string, ...scopes: Scope[]): Key => ({
  secret,
  fingerprint: hashSecret(secret),
  scopes: scopes.length > 0 ? new Set(scopes) : null,
});

async function openStore(
  t: TestContext,
  clock = new MovedClock('2026-03-15T12:00:00Z'),
): Promise<{ store: Store; source: number }> {
  const folder = temporaryFolder(t);
  const store = openSqliteStore(join(folder, 'store.db'), clock, { name: 'me', isAlive: () => true });
  t.after(() => store.close());
  return { store, source: await store.source('somewhere') };
}

test('the first key that holds a scope is used, in the order of the job', async (t) => {
  const { store, source } = await openStore(t);
  const [wildfire, bundle, all] = [key('a', 'wildfire'), key('b', 'bundle', 'wildfire'), key('c')];
  const ring = await ApiKeys.open([wildfire, bundle, all], store, source);
  assert.deepEqual([ring.keyFor('wildfire'), ring.keyFor('bundle'), ring.keyFor('park')], [wildfire, bundle, all]);
  assert.equal((await ApiKeys.open([wildfire], store, source)).keyFor('park'), null);
});

test('a 401 ends a key: the next takes its place, until none is left', async (t) => {
  const { store, source } = await openStore(t);
  const [old, young] = [key('old'), key('young')];
  const ring = await ApiKeys.open([old, young], store, source);
  ring.markInvalid(old);
  assert.deepEqual([ring.keyFor('park'), ring.keyFor('bundle'), ring.exhausted], [young, young, false]);
  ring.markInvalid(young);
  assert.deepEqual([ring.keyFor('park'), ring.exhausted], [null, true]);
});

test('a 403 takes one scope from one key: its others stay, and a ring without scopes is not exhausted', async (t) => {
  const { store, source } = await openStore(t);
  const [first, second] = [key('first'), key('second')];
  const ring = await ApiKeys.open([first, second], store, source);
  ring.denyScope(first, 'bundle');
  assert.deepEqual([ring.keyFor('bundle'), ring.keyFor('hail')], [second, first]);
  ring.denyScope(second, 'bundle');
  assert.deepEqual([ring.keyFor('bundle'), ring.keyFor('hail'), ring.exhausted], [null, first, false]);
});

test('what earlier runs learned of a key is known again, by its fingerprint, for that service only, and for a day', async (t) => {
  const clock = new MovedClock('2026-03-15T12:00:00Z');
  const { store, source } = await openStore(t, clock);
  const known = key('known');
  const run = await store.startRun({ job: 'j', input: 'i', output: 'o', account: 'a', plannedCredits: 0, budget: 9 });
  const period = { start: 0, end: Date.UTC(2099, 0) };
  const terms = { run, source, account: 'a', period, periodLimit: 9, creditsPerMinute: 9, budget: 9, leaseMs: 1e6 };
  const cell = { lat7: 1, lng7: 2 };
  const call = { kind: 'single', topic: 'hail' } as const;
  const [claim] = await store.claim(terms, [{ cell, call, credits: 1, key: known.fingerprint, wanted: [] }]);
  assert.ok(claim?.outcome === 'granted');
  await store.settle([
    {
      call: claim.call,
      charge: 'free',
      credits: 0,
      period,
      outcome: '403',
      answers: [],
      failures: [],
      refused: 'hail',
    },
  ]);
  const ring = await ApiKeys.open([known, key('other')], store, source);
  assert.equal(ring.keyFor('hail')!.secret, 'other');
  assert.equal(ring.keyFor('park'), known);
  const elsewhere = await ApiKeys.open([known], store, await store.source('elsewhere'));
  assert.equal(elsewhere.keyFor('hail'), known);
  for (const day of ['2026-03-16T11:59:00Z', '2026-03-14T12:01:00Z']) {
    clock.moveTo(day);
    assert.equal((await ApiKeys.open([known], store, source)).keyFor('hail'), null, day);
  }
  // Later, or learned by a clock that was ahead by more than a day.
  for (const day of ['2026-03-16T12:01:00Z', '2026-02-03T12:00:00Z']) {
    clock.moveTo(day);
    assert.equal((await ApiKeys.open([known], store, source)).keyFor('hail'), known, day);
  }
});

test('a key is used only while it is valid, the job states the scope for it, and the service has not refused that scope', async (t) => {
  const { store, source } = await openStore(t);
  const scopes: Scope[] = ['bundle', 'hail', 'park'];
  const learned = fc.oneof(
    fc.record({
      what: fc.constant('markInvalid' as const),
      key: fc.nat({ max: 2 }),
      scope: fc.constantFrom(...scopes),
    }),
    fc.record({ what: fc.constant('denyScope' as const), key: fc.nat({ max: 2 }), scope: fc.constantFrom(...scopes) }),
  );
  const said = fc.array(fc.subarray(scopes), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(said, fc.array(learned, { maxLength: 8 }), async (each, news) => {
      const keys = each.map((names, index) => key(`secret ${index}`, ...names));
      const ring = await ApiKeys.open(keys, store, source);
      const about = news.filter((item) => item.key < keys.length);
      for (const item of about) {
        if (item.what === 'markInvalid') ring.markInvalid(keys[item.key]!);
        else ring.denyScope(keys[item.key]!, item.scope);
      }
      const isDead = (index: number) => about.some((item) => item.what === 'markInvalid' && item.key === index);
      for (const scope of scopes) {
        const expected = keys.find(
          ({ scopes: held }, index) =>
            !isDead(index) &&
            (held === null || held.has(scope)) &&
            !about.some((item) => item.what === 'denyScope' && item.key === index && item.scope === scope),
        );
        assert.equal(ring.keyFor(scope), expected ?? null);
      }
      assert.equal(
        ring.exhausted,
        keys.every((_, index) => isDead(index)),
      );
    }),
  );
});

test('keys come from the environment and from the first line of files, without the space around them', async (t) => {
  const file = join(temporaryFolder(t), 'key');
  writeFileSync(file, '  pb_file \r\nsecond line\n');
  const keys = await readKeys(
    [
      { env: 'KEY', scopes: null },
      { file, scopes: ['bundle', 'park'] },
    ],
    { KEY: ' pb_env\n' },
  );
  assert.deepEqual(
    keys.map(({ secret, scopes }) => [secret, scopes]),
    [
      ['pb_env', null],
      ['pb_file', new Set(['bundle', 'park'])],
    ],
  );
});

test('a key that is missing where the job names it: the error names the place and what to do', async (t) => {
  const folder = temporaryFolder(t);
  const empty = join(folder, 'empty');
  writeFileSync(empty, '\npb_on_the_second_line\n');
  const missing = (source: { env?: string; file?: string }, message: RegExp) =>
    assert.rejects(readKeys([{ ...source, scopes: null }], { BLANK: '  ' }), { code: 'KEY_MISSING', message });
  await missing({ env: 'NONE' }, /environment variable NONE holds no API key/);
  await missing({ env: 'BLANK' }, /environment variable BLANK holds no API key/);
  await missing({ file: empty }, /empty is empty/);
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
