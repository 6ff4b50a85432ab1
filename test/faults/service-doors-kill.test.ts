import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { usage } from '../../src/service/accounts/usage.ts';
import { pathTo, request, setUp, subscriptionOf } from '../service/small-world.ts';

const CALLERS = 16;
const KILLS = process.env.SOAK === '1' ? 50 : 6;

/*
 * What is promised of a kill: an answer that arrived whole is charged, but for those whose charge was still pending at the
 * kill, which are at most the last answer of each connection: a charge becomes final right after its response was handed
 * over, and the next call of that connection comes later. Nothing that did not arrive is charged, but for what was handed
 * to the system and did not reach the client: again at most one a connection.
 */
test('a service that is killed under load: charged and answered differ by the calls in flight at most', async (t) => {
  const { service, key, file, database, clock } = await setUp(t, {
    subscription: subscriptionOf(1_000_000, 1_000_000),
  });
  await service.close();
  let [answered, most] = [0, 0];
  for (let kill = 0; kill < KILLS; kill++) {
    const child = fork(new URL('../service/forked-service.ts', import.meta.url), [file], {
      execPath: process.execPath,
    });
    t.after(() => child.kill('SIGKILL'));
    const [port] = (await once(child, 'message')) as [number];
    const url = `http://127.0.0.1:${port}${pathTo('/v1/drought/risk')}`;
    const before = usage(database, 'tester', clock.now()).totalCredits;
    let here = 0;
    const killAt = 20 + Math.floor(Math.random() * 200);
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        for (;;) {
          const reply = await request(url, key).catch(() => null);
          if (reply === null) return;
          assert.equal(reply.status, 200);
          here += 1;
          if (here === killAt) child.kill('SIGKILL');
        }
      }),
    );
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    const charged = usage(database, 'tester', clock.now()).totalCredits - before;
    most = Math.max(most, Math.abs(charged - here));
    assert.ok(Math.abs(charged - here) <= CALLERS, `killed at answer ${killAt}: ${here} answered, ${charged} charged`);
    answered += here;
  }
  t.diagnostic(`${KILLS} kills, ${answered} answers, at most ${most} apart`);
  assert.equal(database.prepare('SELECT count(*) FROM charges WHERE pending_by IS NOT NULL').pluck().get(), 0);
  const sums = database.prepare('SELECT sum(credits) FROM charges').pluck().get();
  assert.equal(usage(database, 'tester', clock.now()).totalCredits, sums);
});
