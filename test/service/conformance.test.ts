import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { AccountsDatabase } from '../../src/service/accounts/sqlite/accounts-database.ts';
import { createKey } from '../../src/service/accounts/sqlite/keys.ts';
import type { Send } from '../../src/service/conformance/asker.ts';
import { Broken, NotChecked } from '../../src/service/conformance/checked-statement.ts';
import { CREDITS_NEEDED, creditsAtRisk, runChecks, STATEMENTS } from '../../src/service/conformance/run-checks.ts';
import { HERE, releaseLater, setUp } from './small-data.ts';

const sleep = () => Promise.reject(new Error('Nothing is waited for'));
const common = { location: HERE, sleep, clean: (reason: string) => reason };

/** Sends without a ledger: what the checks say is tested here, what they spend in test/cli/service-check.test.ts. */
function sendTo(baseUrl: string): Send {
  return async ({ method, path, key }) => {
    const reply = await fetch(baseUrl + path, { method, headers: key === null ? {} : { 'x-api-key': key } });
    const body: unknown = await reply.json().catch(() => null);
    return { status: reply.status, headers: Object.fromEntries(reply.headers), body };
  };
}

const spentAt = (accounts: AccountsDatabase) => accounts.prepare('SELECT sum(credits) FROM charges').pluck().get();

test('our own service meets every statement that can be checked, for the credits announced', async (t) => {
  const { service, accounts, clock, key } = await setUp(t);
  const narrow = createKey(accounts, 'tester', ['wildfire'], clock);
  const result = await runChecks({ ...common, key, narrowKey: narrow.key, send: sendTo(service.url) });
  const failed = result.statements.filter(({ outcome }) => outcome === 'fail');
  assert.deepEqual(failed, []);
  assert.deepEqual([result.skipped, result.passed], [4, STATEMENTS.length - 4]);
  assert.equal(CREDITS_NEEDED, 37 + 15 + 35);
  assert.equal(spentAt(accounts), CREDITS_NEEDED);
  // Five requests that are wrong, a POST, and with a narrow key both bundles.
  assert.deepEqual([creditsAtRisk(false), creditsAtRisk(true)], [6, 6 + 15 + 35]);
});

test('a statement that the key or the data cannot check is skipped, not failed', async (t) => {
  const { service, database, accounts, clock } = await setUp(t);
  database.exec("DELETE FROM datasets WHERE name IN ('radon', 'sites:park')");
  const { key } = createKey(accounts, 'tester', ['drought', 'radon', 'park'], clock);
  const { statements, failed } = await runChecks({ ...common, key, send: sendTo(service.url) });
  assert.equal(failed, 0);
  assert.equal(spentAt(accounts), 1);
  const of = (part: string) => statements.find(({ statement }) => statement.startsWith(part))!;
  assert.equal(of('drought').outcome, 'pass');
  assert.deepEqual([of('radon').outcome, of('radon').reason], ['skipped', 'the service has no data for it now (502)']);
  assert.deepEqual([of('hail').outcome, of('hail').reason], ['skipped', 'the key lacks the scope (403)']);
  assert.equal(of('A valid key that lacks').outcome, 'skipped');
});

/** A service between the caller and ours that changes what ours says. */
async function broken(
  t: TestContext,
  target: string,
  // biome-ignore lint/suspicious/noExplicitAny: bodies are bent freely
  bend: (path: string, reply: { status: number; headers: Record<string, string>; body: any }) => void,
): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const key = request.headers['x-api-key'];
    const upstream = await fetch(target + request.url, {
      method: request.method!,
      headers: typeof key === 'string' ? { 'x-api-key': key } : {},
    });
    const reply = {
      status: upstream.status,
      headers: Object.fromEntries([...upstream.headers].filter(([name]) => /^x-|^content-type/.test(name))),
      body: await upstream.json(),
    };
    bend(request.url!, reply);
    response.writeHead(reply.status, reply.headers).end(JSON.stringify(reply.body));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  releaseLater(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a service that breaks the contract fails exactly the statements that it breaks', async (t) => {
  const { service, key } = await setUp(t);
  const baseUrl = await broken(t, service.url, (path, { headers, body, ...reply }) => {
    const topics = body.data?.topics;
    if (path.startsWith('/v1/drought/') && reply.status === 200) body.data.result.value.rating = 'High';
    if (path.startsWith('/v1/hail/')) body.data.result.details = null;
    if (path.startsWith('/v1/park/')) body.data.result.value = 7;
    if (path.startsWith('/v1/ozone/')) body.data.result.value.measurement.unit = 'ppb';
    if (path.startsWith('/v1/tornado/')) body.data.topic = 'hail';
    if (path.startsWith('/v1/tsunami/')) headers['x-credit-cost'] = '2';
    if (path.startsWith('/v1/volcano/')) delete headers['x-ratelimit-reset'];
    if (path.startsWith('/v1/avalanche/')) body.data.location.lat += 0.1;
    if (path.startsWith('/v1/radon/')) body.meta.request_id = 'one';
    if (path.includes('/standard')) topics.park = topics.hail;
    if (path.includes('/enterprise')) delete topics.radon;
    if (reply.status === 401) body.meta.credit_cost = 1;
  });
  const { statements } = await runChecks({ ...common, key, send: sendTo(baseUrl) });
  const failed = statements
    .filter(({ outcome }) => outcome === 'fail')
    .map(({ statement, reason }) => [statement.split(/[:,]/)[0], reason]);
  assert.deepEqual(failed, [
    [
      'drought',
      'drought.value.rating: Invalid option: expected one of "Very Low"|"Relatively Low"|"Relatively Moderate"|"Relatively High"|"Very High"|"No Rating"|"Insufficient Data"|"Not Applicable"',
    ],
    ['hail', 'hail: details is not an array'],
    ['tornado', 'data.topic is hail'],
    ['tsunami', 'X-Credit-Cost is 2, not 1'],
    ['park', 'park: 2 features and a count of 7'],
    ['ozone', 'ozone.value.measurement.unit: Invalid input: expected "\u00b5g/m\u00b3"'],
    ['radon', 'body.meta.request_id: Invalid UUID'],
    [
      'The standard bundle is the bundle envelope with the natural topics',
      'it returns park, which are not natural topics',
    ],
    ['The enterprise bundle is the bundle envelope with all 37 topics', 'it lacks radon'],
    ['Every success carries X-Credit-Cost', 'tsunami: X-Credit-Cost is 2, not 1'],
    ['Every success carries X-RateLimit-Limit', 'volcano: x-ratelimit-reset is missing'],
    ['data.location is the location that was asked about', 'avalanche: it is 11120 m away'],
    ['A missing key is 401', 'meta.credit_cost is 1, not 0'],
    ['A malformed key is 401', 'meta.credit_cost is 1, not 0'],
    ['An empty key is 401', 'meta.credit_cost is 1, not 0'],
  ]);
});

test('a call without an answer fails its statements, one that may not be made skips them, and the others are checked', async (t) => {
  const { service, key } = await setUp(t);
  const ours = sendTo(service.url);
  const send: Send = async (request) => {
    if (request.path.startsWith('/v1/hail/')) throw new Broken('it is larger than 5 bytes');
    if (request.path.startsWith('/v1/park/')) throw new NotChecked('no credits are left');
    return ours(request);
  };
  const { statements } = await runChecks({ ...common, key, send });
  const named = (outcome: string) =>
    statements
      .filter((one) => one.outcome === outcome)
      .map(({ statement, reason }) => [statement.split(/[:,]/)[0], reason]);
  assert.deepEqual(
    named('fail').map(([, reason]) => reason),
    ['it is larger than 5 bytes', ...Array(5).fill('hail: it is larger than 5 bytes')],
  );
  assert.deepEqual(named('skipped')[0], ['park', 'no credits are left']);
});
