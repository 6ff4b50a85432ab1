import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { runChecks } from '../../src/service/check/run-checks.ts';
import type { CheckedStatement, CheckRequest, Reply, Send } from '../../src/service/check/statement.ts';
import { createKey } from './file-accounts.ts';
import { ALLOWED, LIES, type Tell, type TrueReply } from './lies.ts';
import { HERE, NEXT_DOOR, NOON, StillClock, setUp } from './small-data.ts';

type Check = (tell: Tell) => Promise<CheckedStatement[]>;

/** Records what our own service answers to a check, and returns the function that checks a variant of these replies. */
async function recorded(t: TestContext): Promise<Check> {
  const { service, accounts, clock, key } = await setUp(t);
  const narrowKey = createKey(accounts, 'tester', ['wildfire'], clock).key;
  const options = {
    ...{ key, narrowKey, location: HERE, elsewhere: NEXT_DOOR },
    ...{ interrupt: new AbortController().signal, clean: (reason: string) => reason },
  };
  const replies = new Map<string, Reply>();
  const nameOf = ({ method, path, key: sent }: Pick<CheckRequest, 'method' | 'path' | 'key'>) =>
    `${method} ${path} ${sent}`;
  const truth: Send = async (request) => {
    const { method, path, key: sent } = request;
    const reply = await fetch(service.url + path, { method, headers: sent === null ? {} : { 'x-api-key': sent } });
    const kept = { status: reply.status, headers: Object.fromEntries(reply.headers), body: await reply.json() };
    replies.set(nameOf(request), kept);
    return kept;
  };
  const { failed } = await runChecks({ ...options, clock, send: truth });
  assert.equal(failed, 0);
  const keyOf = (sent: string | null): TrueReply['key'] => {
    if (sent === null || sent === '') return sent === null ? 'missing' : 'empty';
    return sent === key ? 'full' : sent === narrowKey ? 'narrow' : 'malformed';
  };
  return async (tell) => {
    const clock = new StillClock(NOON);
    let successes = 0;
    const send: Send = async (request) => {
      const { method, path, key: sent } = request;
      const { status, headers, body } = structuredClone(replies.get(nameOf(request))!);
      const reply: TrueReply = {
        ...{ method, path, status, headers, body, successes, clock },
        topic: /^\/v1\/(\w+)\/risk/.exec(path)?.[1] ?? null,
        bundle: (/^\/v1\/bundle\/(\w+)/.exec(path)?.[1] ?? null) as TrueReply['bundle'],
        key: keyOf(sent),
        replyTo: (other) => structuredClone(replies.get(nameOf({ method: 'GET', path: other, key }))!),
      };
      if (status === 200) successes += 1;
      tell(reply);
      return reply;
    };
    const { statements } = await runChecks({ ...options, clock, send });
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
