import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { createKeyGuesses } from '../../src/service/accounts/key-guesses.ts';
import { pathTo, setUp } from './small-data.ts';

const PATH = pathTo('/v1/drought/risk');
const guess = () => `pb_${randomBytes(32).toString('base64url')}`;

test('after 20 unknown keys in a minute further ones are answered 429; keys that work or worked are not', async (t) => {
  const { get, single, clock, port, charged } = await setUp(t);
  for (let i = 0; i < 20; i++) {
    assert.equal((await get(PATH, guess())).status, 401);
    clock.at += 1_000;
  }
  const refused = await get(PATH, guess());
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '40');
  assert.equal(refused.body.error.code, 'RATE_LIMITED');
  assert.equal(refused.body.meta.credit_cost, 0);
  assert.equal((await single()).status, 200);
  const leaked = await port.createKey('tester', ['drought'], null);
  await port.revokeKey(leaked.id);
  for (const key of [null, 'malformed', leaked.key]) assert.equal((await get(PATH, key)).status, 401, `${key}`);
  clock.at += 39_999;
  assert.equal((await get(PATH, guess())).status, 429);
  clock.at += 1;
  assert.equal((await get(PATH, guess())).status, 401);
  assert.equal(charged(), 1);
});

test('simultaneous unknown keys are each counted, and a key that works is served', async (t) => {
  const { get, single } = await setUp(t);
  const statuses = Array.from({ length: 100 }, () => get(PATH, guess()));
  const good = Array.from({ length: 20 }, () => single());
  const guessed = (await Promise.all(statuses)).map(({ status }) => status);
  assert.equal(guessed.filter((status) => status === 401).length, 20);
  assert.equal(guessed.filter((status) => status === 429).length, 80);
  for (const { status } of await Promise.all(good)) assert.equal(status, 200);
});

test('addresses are counted separately, up to a limit: the oldest is forgotten', () => {
  const take = createKeyGuesses(3);
  const useUp = (address: string, now: number) => {
    for (let i = 0; i < 20; i++) assert.equal(take(address, now), null);
  };
  for (const [index, address] of ['a', 'b', 'c'].entries()) useUp(address, index);
  assert.equal(take('a', 10), 60);
  assert.equal(take('d', 10), null);
  assert.equal(take('b', 10), 60);
  assert.equal(take('c', 10), 60);
  assert.equal(take('a', 10), null, 'a was the oldest');
});

test('a renewed minute is the newest: another address is forgotten before it', () => {
  const take = createKeyGuesses(3);
  take('a', 0);
  take('b', 30_000);
  for (let i = 0; i < 20; i++) assert.equal(take('a', 60_000), null);
  for (const address of ['c', 'd']) assert.equal(take(address, 61_000), null);
  assert.equal(take('a', 62_000), 58, 'a is still counted');
});

test('a clock that is set back starts a new minute', () => {
  const take = createKeyGuesses();
  for (let i = 0; i < 20; i++) take('a', 1_000_000);
  assert.equal(take('a', 1_000_000), 60);
  assert.equal(take('a', 5_000), null);
});
