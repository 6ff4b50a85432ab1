import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import test, { type TestContext } from 'node:test';
import { checkCalls } from '../../src/service/accounts/calls.ts';
import { SQLITE, type SqlValue, type SqlWork } from '../../src/sql/sql-work.ts';
import { driverOf } from './file-accounts.ts';
import { setUp } from './small-data.ts';

/** Work whose statements and values are listed in `given` on the way; `others` take the place of the values. */
function* overheard<T>(
  work: SqlWork<T>,
  given: unknown[],
  others?: readonly SqlValue[],
): SqlWork<T> {
  let step = work.next();
  while (!step.done) {
    const { isRead, statements } = step.value;
    for (const { sql, values } of statements) given.push(sql, ...values);
    step = work.next(
      yield {
        isRead,
        statements: statements.map(({ sql, values }) => ({ sql, values: others ?? values })),
      },
    );
  }
  return step.value;
}

/** The pairs that are compared in constant time from now on. */
function comparisons(t: TestContext): (readonly [Buffer, Buffer])[] {
  const pairs: (readonly [Buffer, Buffer])[] = [];
  const real = crypto.timingSafeEqual;
  t.mock.method(crypto, 'timingSafeEqual', (a: Buffer, b: Buffer) => {
    pairs.push([Buffer.from(a), Buffer.from(b)]);
    return real(a, b);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return pairs;
}

const hashOf = (text: string) => crypto.createHash('sha256').update(text).digest();
const checkOf = (key: string | undefined) => checkCalls(SQLITE, 'refused', [{ key, call: null }]);

test('a key is looked up and compared by its SHA-256 only, in constant time', async (t) => {
  const { accounts, key, keyId, clock } = await setUp(t);
  const { readNow } = driverOf(accounts, clock);
  const given: unknown[] = [];
  const pairs = comparisons(t);
  const checked = (text: string | undefined, others?: readonly SqlValue[]) =>
    readNow(() => overheard(checkOf(text), given, others)).checks[0]!;
  const check = checked(key);
  assert.ok(typeof check === 'object' && check.caller.key === keyId);
  assert.deepEqual(pairs, [[hashOf(key), hashOf(key)]]);
  const values = () => given.filter((value) => typeof value !== 'string');
  assert.ok(values().every((value) => hashOf(key).equals(value as Buffer)));

  const nearly = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
  const before = values().length;
  assert.equal(checked(nearly), 'invalid');
  assert.equal(checked(nearly, [hashOf(key)]), 'invalid', 'a row of another hash');
  const nearlyAsked = values().length;
  assert.deepEqual(given.at(-1), hashOf(nearly));
  for (const text of [undefined, '', 'pb_', `${key} `, key.slice(1)])
    assert.equal(checked(text), 'invalid');
  assert.deepEqual(
    [nearlyAsked > before, values().length],
    [true, nearlyAsked],
    'no look-up of what cannot be a key',
  );
  for (const value of given) {
    const text = Buffer.isBuffer(value) ? value.toString('latin1') : String(value);
    assert.ok(!text.includes(key.slice(3)) && !text.includes(nearly.slice(3)));
  }
});
