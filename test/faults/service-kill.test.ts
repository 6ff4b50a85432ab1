import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { makeRandom } from '../../src/sample/random.ts';
import {
  FORKED_SERVICE,
  pathTo,
  request,
  setUp,
  start,
  subscriptionOf,
} from '../service/small-data.ts';
import { firstSeed, times } from '../tier.ts';

const CALLERS = 16;
const SEED = firstSeed(1);
const KILLS = times({ long: 3, soak: 50 });

/** How many of some are not among others. */
function countMissing(some: ReadonlySet<string>, others: ReadonlySet<string>): number {
  return [...some].filter((one) => !others.has(one)).length;
}

/*
 * What is promised of a kill, after the restart. An answer that arrived whole is charged, except those whose charge was
 * still pending at the kill, at most the last answer of each connection: a charge becomes final right after its
 * response was handed over, and the next call of that connection comes later. Nothing is charged that was not handed over
 * whole to the system, and on the loopback the system delivers what it has: so nothing is charged that did not arrive.
 */
test('a service that is killed under load: each way apart, call by call', async (t) => {
  const { service, key, file, database, accounts, clock, charged } = await setUp(t, {
    subscription: subscriptionOf(1_000_000, 1_000_000),
  });
  await service.close();
  const random = makeRandom(SEED, 'service');
  const chargedIds = accounts.prepare('SELECT request_id FROM charges').pluck();
  const answered = new Set<string>();
  let [killed, uncharged, unanswered, most] = [0, 0, 0, 0];
  for (let kill = 0; kill < KILLS; kill++) {
    const child = fork(FORKED_SERVICE, [file]);
    t.after(() => child.kill('SIGKILL'));
    const [port] = (await once(child, 'message')) as [number];
    const url = `http://127.0.0.1:${port}${pathTo('/v1/drought/risk')}`;
    let here = 0;
    const killAt = 20 + Math.floor(random() * 200);
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        for (;;) {
          const reply = await request(url, key).catch(() => null);
          if (reply === null) return;
          assert.equal(reply.status, 200);
          here += 1;
          answered.add(reply.body.meta.request_id);
          if (here === killAt) child.kill('SIGKILL');
        }
      }),
    );
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    // A restart takes back what the killed service left pending.
    await (await start(t, { data: database, accounts, clock })).close();
    const paid = new Set(chargedIds.all() as string[]);
    const lost = countMissing(answered, paid) - uncharged;
    const unheard = countMissing(paid, answered) - unanswered;
    const place = `seed ${SEED}, kill ${kill} at answer ${killAt}`;
    assert.ok(lost <= CALLERS, `${place}: ${lost} answered and not charged`);
    assert.equal(unheard, 0, `${place}: ${unheard} charged and not answered`);
    [uncharged, unanswered, most] = [uncharged + lost, unanswered + unheard, Math.max(most, lost)];
    killed += 1;
  }
  t.diagnostic(
    `seed ${SEED}: ${killed} kills, ${answered.size} answers, ${uncharged} not charged (at most ${most} a kill), ${unanswered} charged and not answered`,
  );
  assert.equal(
    accounts.prepare('SELECT count(*) FROM charges WHERE pending_by IS NOT NULL').pluck().get(),
    0,
  );
  const sums = accounts.prepare('SELECT sum(credits) FROM charges').pluck().get();
  assert.equal(charged(), sums);
});
