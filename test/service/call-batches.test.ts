import assert from 'node:assert/strict';
import { connect } from 'node:net';
import test from 'node:test';
import { createCallBatches } from '../../src/service/http/call-batches.ts';
import { usage } from './account-usage.ts';
import { pathTo, setUp } from './small-data.ts';

/** Batches of numbers that are doubled; which were answered together is kept. */
function doubling(isLarge: (asked: number) => boolean = () => false) {
  const batches: number[][] = [];
  const ask = createCallBatches((asked: readonly number[]) => {
    batches.push([...asked]);
    return asked.map((number) => number * 2);
  }, isLarge);
  return { ask, batches };
}

test('calls of one turn are answered together, up to 64, each with its own answer', async () => {
  const { ask, batches } = doubling();
  const numbers = Array.from({ length: 70 }, (_, index) => index);
  assert.deepEqual(
    await Promise.all(numbers.map(ask)),
    numbers.map((number) => number * 2),
  );
  assert.deepEqual(
    batches.map(({ length }) => length),
    [64, 6],
  );
});

test('a large call is answered by itself, in its turn', async () => {
  const { ask, batches } = doubling((asked) => asked >= 100);
  await Promise.all([1, 2, 100, 3, 200, 300].map(ask));
  assert.deepEqual(batches, [[1, 2], [100], [3], [200], [300]]);
});

test('when answering fails, each call of the batch fails, and later ones do not', async () => {
  let broken = true;
  const ask = createCallBatches(
    (asked: readonly number[]) => {
      if (broken) throw new Error('no disk');
      return asked;
    },
    () => false,
  );
  const ended = await Promise.allSettled([1, 2].map(ask));
  assert.deepEqual(
    ended.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  broken = false;
  assert.equal(await ask(3), 3);
});

test('who leaves while the call waits for its turn is not charged', async (t) => {
  const { service, key, accounts, clock } = await setUp(t);
  const count = () => accounts.prepare<[], number>('SELECT count(*) FROM charges').pluck().get();
  // Requests and the end of the connection come in one turn; some are read before the end is heard, and wait.
  const head = (path: string) => `GET ${pathTo(path)} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`;
  for (let round = 0; round < 20; round++) {
    const socket = connect(service.port, '127.0.0.1');
    socket.on('error', () => {});
    await new Promise((done) => socket.write(head('/v1/bundle/enterprise').repeat(3), done));
    socket.resetAndDestroy();
  }
  const end = Date.now() + 30_000;
  // One that is answered whole afterwards, so that all before it have been read.
  assert.equal((await fetch(service.url + pathTo('/v1/drought/risk'), { headers: { 'x-api-key': key } })).status, 200);
  while (count() !== 1 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(count(), 1);
  assert.equal(usage(accounts, 'tester', clock.now()).creditsCharged, 1);
});
