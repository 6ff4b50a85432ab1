import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Claim } from '../../src/store/ledger/port.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { MovedClock } from '../moved-clock.ts';
import { startPostgres } from '../postgres-server.ts';
import { type CommitFault, startTcpProxy } from '../tcp-proxy.ts';
import { ANSWER, callAt, chargedFor, RUN, termsOf } from './claims.ts';

const server = await startPostgres();
const OWNER = { name: 'me', isAlive: () => true };
const settled = (claim: Claim) => chargedFor(claim, 15, { answers: [ANSWER] });

/** Only the last fault of a list may let the COMMIT reach the server: after a COMMIT that was done, no other follows. */
const FAULTS: readonly (readonly CommitFault[])[] = [
  ['answer lost'],
  ['request lost'],
  ['cut at once'],
  ['request lost', 'request lost', 'cut at once'],
];

for (const faults of FAULTS) {
  test(`a COMMIT that is not answered is looked up, never guessed: ${faults.join(', then ')}`, async () => {
    await using proxy = await startTcpProxy(server.port);
    await using store = await openPostgresStore(
      server.storeAddress({ port: proxy.port }),
      systemClock,
      OWNER,
    );
    const limits = await termsOf(store, { budget: 30, periodLimit: 30 });
    proxy.commitFaults.push(...faults);
    const claims = await store.claim(limits, [callAt(1), callAt(2), callAt(3)]);
    assert.equal(proxy.commitFaults.length, 0);
    const outcomes = claims.map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, ['granted', 'granted', 'budget']);
    assert.deepEqual((await store.stats()).calls, { sent: 2, charged: 0, free: 0, unknown: 0 });
    assert.deepEqual(await store.runSpending(limits.run), { charged: 0, unknown: 0, open: 30 });
    proxy.commitFaults.push(...faults);
    await store.settle(claims.slice(0, 2).map(settled));
    assert.equal(proxy.commitFaults.length, 0);
    assert.deepEqual(await store.runSpending(limits.run), { charged: 30, unknown: 0, open: 0 });
    const [record] = await store.read(limits.source, [callAt(1).cell]);
    assert.deepEqual(record!.answers.get('hail')!.fields, ANSWER.fields);
    proxy.commitFaults.push(...faults);
    const started = await store.startRun(RUN);
    const runs = (await store.runs()).map(({ run }) => run);
    assert.deepEqual(runs, [started, limits.run]);
  });
}

test('a connection that is cut, or refused for a while, makes an operation wait and go on', async () => {
  await using proxy = await startTcpProxy(server.port);
  await using store = await openPostgresStore(
    server.storeAddress({ port: proxy.port }),
    systemClock,
    OWNER,
  );
  const limits = await termsOf(store);
  const granted: Claim[] = [];
  for (let number = 0; number < 10; number++) {
    const claiming = store.claim(limits, [callAt(number)]);
    if (number % 2) proxy.cut();
    proxy.refusing = number === 4;
    setTimeout(() => {
      proxy.refusing = false;
    }, 100);
    granted.push(...(await claiming));
  }
  await Promise.all(granted.map((claim) => store.settle([settled(claim)])));
  assert.deepEqual(await store.runSpending(limits.run), { charged: 150, unknown: 0, open: 0 });
});

test('a server that crashes and starts again in the middle loses nothing that was answered', async () => {
  await using store = await openPostgresStore(server.storeAddress(), systemClock, OWNER);
  const limits = await termsOf(store);
  let granted = 0;
  const crash = server.stop('immediate').then(() => server.start());
  for (let number = 0; number < 20; number++) {
    const [claim] = await store.claim(limits, [callAt(number)]);
    if (claim!.outcome === 'granted') granted++;
    await store.settle([settled(claim!)]);
  }
  await crash;
  assert.equal(granted, 20);
  assert.deepEqual(await store.runSpending(limits.run), { charged: 300, unknown: 0, open: 0 });
});

test('a server that stays away is an error that says so, without a password', async () => {
  await using proxy = await startTcpProxy(server.port);
  const address = server.storeAddress({ port: proxy.port });
  const clock = new MovedClock(0);
  await using store = await openPostgresStore(address, clock, OWNER);
  proxy.refusing = true;
  proxy.cut();
  await assert.rejects(store.source('somewhere'), (error: { code?: string; message: string }) => {
    assert.equal(error.code, 'STORE_UNREACHABLE');
    assert.match(
      error.message,
      /^The store postgres:\/\/postgres@127\.0\.0\.1:\d+\/postgres cannot be reached: /,
    );
    return true;
  });
  assert.ok(clock.now() > 60_000 && clock.now() <= 120_000, `${clock.now()}`);
});

test('a worker that stands still in a transaction holds up the others for seconds, and then goes on', async () => {
  const address = server.storeAddress();
  await using proxy = await startTcpProxy(server.port);
  const behind = address.replace(`:${server.port}/`, `:${proxy.port}/`);
  await using store = await openPostgresStore(behind, systemClock, OWNER);
  await using other = await openPostgresStore(address, systemClock, {
    name: 'other',
    isAlive: () => true,
  });
  const [limits, ofOther] = [await termsOf(store), await termsOf(other)];
  const stuck = store.claim(limits, [callAt(1)]);
  // Its BEGIN and its locks have passed; nothing passes any more.
  await new Promise((resolve) => setTimeout(resolve, 5));
  proxy.frozen = true;
  const [claim] = await other.claim(ofOther, [callAt(2)]);
  assert.equal(claim!.outcome, 'granted');
  proxy.frozen = false;
  proxy.cut();
  const [late] = await stuck;
  assert.equal(late!.outcome, 'granted');
  assert.deepEqual((await other.stats()).calls, { sent: 2, charged: 0, free: 0, unknown: 0 });
});
