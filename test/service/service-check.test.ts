import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  Broken,
  type CheckedStatement,
  type CheckRequest,
  createAsk,
  expectAnswered,
  NotChecked,
  type Reply,
  type Send,
} from '../../src/service/check/statement.ts';
import {
  CREDITS_NEEDED,
  creditsAtRisk,
  runChecks,
  STATEMENTS,
} from '../../src/service/check/statement-table.ts';
import { ALLOWED, LIES, type Tell, type TrueReply } from './lies.ts';
import { HERE, NEXT_DOOR, StillClock, setUp } from './small-data.ts';

const common = {
  ...{ location: HERE, elsewhere: NEXT_DOOR, clock: new StillClock() },
  ...{ interrupt: new AbortController().signal, clean: (reason: string) => reason },
};

/** Sends without a ledger: what the checks say is tested here, what they spend in test/cli/service-check-long.test.ts. */
function sendTo(baseUrl: string): Send {
  return async ({ method, path, key }) => {
    const reply = await fetch(baseUrl + path, {
      method,
      headers: key === null ? {} : { 'x-api-key': key },
    });
    const body: unknown = await reply.json().catch(() => null);
    return { status: reply.status, headers: Object.fromEntries(reply.headers), body };
  };
}

test('our own service meets every statement that can be checked, for the credits announced', async (t) => {
  const { service, port, charged, key } = await setUp(t);
  const narrow = await port.createKey('tester', ['wildfire'], null);
  const result = await runChecks({
    ...common,
    key,
    narrowKey: narrow.key,
    send: sendTo(service.url),
  });
  const failed = result.statements.filter(({ outcome }) => outcome === 'fail');
  assert.deepEqual(failed, []);
  assert.ok(result.statements.every(({ numbers }) => numbers.length > 0));
  assert.deepEqual([result.skipped, result.passed], [4, STATEMENTS.length - 4]);
  // Each topic, both bundles, and radon in another county.
  assert.equal(CREDITS_NEEDED, 37 + 15 + 35 + 1);
  assert.equal(charged(), CREDITS_NEEDED);
  // Five requests that are wrong, a POST, and with a narrow key both bundles and two topics.
  assert.deepEqual([creditsAtRisk(false), creditsAtRisk(true)], [6, 6 + 15 + 35 + 2]);
});

test('a statement that the key or the data cannot check is skipped, not failed', async (t) => {
  const { service, database, port, charged } = await setUp(t);
  database.exec("DELETE FROM datasets WHERE name IN ('radon', 'sites:park')");
  const { key } = await port.createKey('tester', ['drought', 'radon', 'park'], null);
  const { statements, failed } = await runChecks({ ...common, key, send: sendTo(service.url) });
  assert.equal(failed, 0);
  assert.equal(charged(), 1);
  const of = (part: string) => statements.find(({ statement }) => statement.startsWith(part))!;
  assert.equal(of('drought').outcome, 'pass');
  assert.deepEqual(
    [of('radon').outcome, of('radon').reason],
    ['skipped', 'the service has no data for it now (502)'],
  );
  assert.deepEqual(
    [of('hail').outcome, of('hail').reason],
    ['skipped', 'the key lacks the scope (403)'],
  );
  assert.equal(of('A valid key that lacks').outcome, 'skipped');
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
  const reasons = named('fail').map(([, reason]) => reason);
  assert.deepEqual(reasons, ['it is larger than 5 bytes']);
  assert.deepEqual(named('skipped')[0], ['park', 'no credits are left']);
});

test('with a key that is refused no statement fails, and none is met by an answer', async (t) => {
  const { service } = await setUp(t);
  const { statements, failed } = await runChecks({
    ...common,
    key: 'pb_unknown',
    send: sendTo(service.url),
  });
  assert.equal(failed, 0);
  const reasons = new Set(statements.map(({ reason }) => reason));
  for (const reason of [
    'the key is refused (401)',
    'no call was answered',
    'the service answered none of them',
  ]) {
    assert.ok(reasons.has(reason), reason);
  }
});

test('a request that the minute refuses is repeated after the time that is named, twice at most', async () => {
  for (const [replies, sent, slept] of [
    [['429 7', '200'], 2, [7_000]],
    [['429 65', '429 0', '429 1', '200'], 3, [65_000, 1_000]],
    [['429 66', '200'], 1, []],
    [['429', '200'], 1, []],
    [['503 7', '200'], 1, []],
  ] as const) {
    const waits: number[] = [];
    const clock = { now: () => 0, sleep: async (ms: number) => void waits.push(ms) };
    let at = 0;
    const send: Send = async () => {
      const [status, seconds] = replies[at++]!.split(' ');
      return {
        status: Number(status),
        headers: seconds === undefined ? {} : { 'retry-after': seconds },
        body: null,
      };
    };
    await createAsk({ ...common, clock, key: 'k', send }, [])({ kind: 'standard' });
    assert.deepEqual([at, waits], [sent, slept]);
  }
});

test('which replies are no answer, and which of them break the contract', () => {
  const noData = { error: { code: 'NO_DATA' } };
  for (const [status, body, outcome] of [
    [200, null, 'answered'],
    [401, null, 'the key is refused (401)'],
    [403, null, 'the key lacks the scope (403)'],
    [429, null, 'the quota or the minute is used up (429)'],
    [404, noData, 'there is no data on the location (404)'],
    [502, null, 'the service has no data for it now (502)'],
    [404, { error: {} }, 'Broken: the status is 404, not 200'],
    [404, {}, 'Broken: the status is 404, not 200'],
    [404, null, 'Broken: the status is 404, not 200'],
    [400, noData, 'Broken: the status is 400, not 200'],
  ] as const) {
    let said = 'answered';
    try {
      expectAnswered({ status, headers: {}, body });
    } catch (error) {
      said = `${error instanceof Broken ? 'Broken: ' : ''}${(error as Error).message}`;
    }
    assert.equal(said, outcome);
  }
});

type Check = (tell: Tell) => Promise<CheckedStatement[]>;

/** Records what our own service answers to a check, and returns the function that checks a variant of these replies. */
async function recorded(t: TestContext): Promise<Check> {
  const { service, port, key } = await setUp(t);
  const narrowKey = (await port.createKey('tester', ['wildfire'], null)).key;
  const ours = sendTo(service.url);
  const replies = new Map<string, Reply>();
  const nameOf = ({ method, path, key: sent }: Pick<CheckRequest, 'method' | 'path' | 'key'>) =>
    `${method} ${path} ${sent}`;
  const send: Send = async (request) => {
    const reply = await ours(request);
    replies.set(nameOf(request), reply);
    return reply;
  };
  const { failed } = await runChecks({ ...common, key, narrowKey, send });
  assert.equal(failed, 0);
  const keyOf = (sent: string | null): TrueReply['key'] => {
    if (sent === null || sent === '') return sent === null ? 'missing' : 'empty';
    return sent === key ? 'full' : sent === narrowKey ? 'narrow' : 'malformed';
  };
  return async (tell) => {
    const clock = new StillClock();
    let successes = 0;
    const send: Send = async (request) => {
      const { method, path, key: sent } = request;
      const { status, headers, body } = structuredClone(replies.get(nameOf(request))!);
      const reply: TrueReply = {
        ...{ method, path, status, headers, body, successes, clock },
        topic: /^\/v1\/(\w+)\/risk/.exec(path)?.[1] ?? null,
        bundle: (/^\/v1\/bundle\/(\w+)/.exec(path)?.[1] ?? null) as TrueReply['bundle'],
        key: keyOf(sent),
        replyTo: (other) =>
          structuredClone(replies.get(nameOf({ method: 'GET', path: other, key }))!),
      };
      if (status === 200) successes += 1;
      tell(reply);
      return reply;
    };
    const { statements } = await runChecks({ ...common, key, narrowKey, clock, send });
    return statements.filter(({ outcome }) => outcome === 'fail');
  };
}

test('a service that breaks the contract fails a check of the statement that it breaks, another way to keep it fails none', async (t) => {
  const check = await recorded(t);
  const reasons = new Map<string, string>();
  for (const [lie, tell] of Object.entries(LIES)) {
    const failed = await check(tell);
    reasons.set(lie, failed.map(({ reason }) => reason).join('\n'));
    const numbers = failed.flatMap((statement) => statement.numbers);
    assert.ok(numbers.includes(lie.split(' ')[0]!), `${lie} is not among ${numbers.join(', ')}`);
  }
  for (const [name, named] of [
    ['2.6 X-Credit-Cost differs from the body', /^tsunami: X-Credit-Cost is 2/],
    ['3.7 a bundle is of the place next door', /^standard: it is /],
    ['1.5 a refusal is a page of HTML', /^(GET \/v1\/drought\/|drought: )/],
  ] as const) {
    assert.match(reasons.get(name)!, named);
  }
  for (const [name, tell] of Object.entries(ALLOWED)) assert.deepEqual(await check(tell), [], name);
});
