import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EXIT, exitCodeOfRun } from '../../src/cli/exit-codes.ts';
import { noColor } from '../../src/cli/messages/color.ts';
import { runMessages } from '../../src/cli/messages/run-messages.ts';
import type { RunResult } from '../../src/run/run-job.ts';
import { serveHttp, serveRaw } from '../fetch/servers.ts';
import { type Harness, openHarness, places } from './harness.ts';

/** The answers to the first requests are lost on their way: the service charged them, and nobody here knows. */
function losingFirst(t: TestContext, { url }: Harness, lost: number): Promise<string> {
  let asked = 0;
  return serveHttp(t, async (request, response) => {
    const said = await fetch(url + request.url, { headers: { 'x-api-key': String(request.headers['x-api-key']) } });
    const body = await said.text();
    if (++asked <= lost) return void response.destroy();
    response.writeHead(said.status, { 'x-credit-cost': said.headers.get('x-credit-cost') ?? '0' });
    response.end(body);
  });
}

const wordsOf = (ended: RunResult) =>
  runMessages(ended, 'perilbook run x --yes', '/', { width: 400, color: noColor }).next.join(' ');

const JOB = { topics: ['wildfire' as const], concurrency: 1 };

test('lost answers use up the plan: no credit more is spent, no budget is spoken of, and the next run goes on', async (t) => {
  const harness = await openHarness(t, { factor: 50 });
  harness.writeInput(places(12));
  const baseUrl = await losingFirst(t, harness, 3);
  const ended = await harness.run(JOB, { baseUrl });
  assert.deepEqual([ended.state, exitCodeOfRun(ended)], ['paused', EXIT.paused]);
  assert.equal(harness.charged(), 12);
  assert.deepEqual(await harness.ledger(), { charged: 9, unknown: 3, open: 0 });
  assert.equal(
    wordsOf(ended),
    "The run's limit of 12 credits (the plan and its retries) is reached: 3 calls without a usable answer may have cost 3 of them. The rest is deferred. To resume: perilbook run x --yes",
  );
  const again = await harness.run(JOB, { baseUrl });
  assert.deepEqual([again.state, again.summary.status.ok, harness.charged()], ['complete', 12, 15]);
});

test('within the retries that the plan states, a lost bundle is bought again', async (t) => {
  const harness = await openHarness(t, { factor: 50 });
  harness.writeInput(places(2));
  const baseUrl = await losingFirst(t, harness, 1);
  const ended = await harness.run({ topics: 'natural', concurrency: 1 }, { baseUrl });
  const { credits_limit: limit, status } = ended.summary;
  assert.deepEqual([ended.state, status.ok], ['complete', 2]);
  assert.ok(harness.charged() <= limit && harness.charged() > 30, `${harness.charged()} credits of ${limit}`);
});

test('with a budget of the user’s own it is the budget that is reached', async (t) => {
  const harness = await openHarness(t, { factor: 50 });
  harness.writeInput(places(10));
  const baseUrl = await losingFirst(t, harness, 1);
  const ended = await harness.run({ ...JOB, budget: 5 }, { baseUrl });
  assert.equal(exitCodeOfRun(ended), EXIT.paused);
  assert.match(
    wordsOf(ended),
    /^The budget of 5 credits is reached: 1 call without a usable answer may have cost 1 of them\. .* To buy more: /,
  );
  assert.equal(harness.charged(), 5);
});

test('a budget that is too small for one location', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(2));
  const keys = [{ ...harness.key('bundle'), scopes: new Set(['bundle']) }];
  const natural = ['hail', 'drought', 'tornado'] as const;
  const ended = await harness.run({ topics: [...natural], budget: 5 }, { keys });
  assert.match(wordsOf(ended), /^Budget \(5 credits\) is too small for even one location\. .* with a larger budget: /);
  assert.equal(harness.charged(), 0);
});

test('under an approved plan, it is the plan that is used up', async (t) => {
  const harness = await openHarness(t, { factor: 50 });
  harness.writeInput(places(10));
  const baseUrl = await losingFirst(t, harness, 3);
  const ended = await harness.run(JOB, { baseUrl, approve: true });
  assert.equal(exitCodeOfRun(ended), EXIT.paused);
  assert.match(
    wordsOf(ended),
    /^The approved plan \(10 credits\) is used up: 3 calls .* may have cost 3 of them\. .* write a new plan .*: perilbook run x/,
  );
  assert.equal(harness.charged(), 10);
});

for (const [what, head, attempts] of [
  ['an interim answer that nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\n', 2],
  ['a length that is given twice', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\n', 1],
] as const) {
  test(`${what}: each charge is in the ledger as unknown, and ${attempts} of a location`, async (t) => {
    const harness = await openHarness(t, { factor: 50 });
    harness.writeInput(places(3));
    const baseUrl = await serveRaw(t, async (socket, request) => {
      const [, path = ''] = request.split(' ');
      const key = /x-api-key: (\S+)/i.exec(request)![1]!;
      const body = await (await fetch(harness.url + path, { headers: { 'x-api-key': key } })).text();
      socket.write(`${head}HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
    const ended = await harness.run({ ...JOB, budget: 10 }, { baseUrl });
    assert.equal(ended.summary.status.ok, 0);
    assert.equal(harness.charged(), 3 * attempts);
    assert.deepEqual(await harness.ledger(), { charged: 0, unknown: 3 * attempts, open: 0 });
  });
}
