import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { Worker } from 'node:worker_threads';
import { usage } from '../service/file-accounts.ts';
import { pathTo, request, setUp, subscriptionOf } from '../service/small-data.ts';

const PLENTY = subscriptionOf(1_000_000, 1_000_000);

test('calls beside another writer of the accounts wait for it: all are answered, each is charged once', {
  timeout: 300_000,
}, async (t) => {
  const { service, key, file, accounts, clock } = await setUp(t, { subscription: PLENTY });
  const workerData = { file, holdMs: 15, pauseMs: 3 };
  const writer = new Worker(new URL('./busy-writer.ts', import.meta.url), { workerData });
  t.after(() => writer.terminate());
  await once(writer, 'message');
  const paths = ['/v1/drought/risk', '/v1/hail/risk', '/v1/bundle/standard', '/v1/bundle/enterprise'];
  const statuses: number[] = [];
  const client = async () => {
    for (let i = 0; i < 4; i++) {
      const path = paths[(statuses.length + i) % paths.length]!;
      const { status, body } = await request(service.url + pathTo(path), key);
      statuses.push(status);
      credits += body.meta.credit_cost;
    }
  };
  let credits = 0;
  await Promise.all(Array.from({ length: 8 }, client));
  writer.postMessage('end');
  const [transactions] = (await once(writer, 'message')) as [number];
  t.diagnostic(`${statuses.length} calls beside ${transactions} transactions`);
  assert.ok(transactions > 3, 'another writer was at work');
  assert.deepEqual([...new Set(statuses)], [200]);
  assert.equal(usage(accounts, 'tester', clock.now()).totalCredits, credits);
});
