import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { billingPeriod } from '../../src/contract/billing-period.ts';
import { type Call, CREDITS } from '../../src/contract/credits.ts';
import { fc } from '../properties.ts';
import type { AccountsUnderTest, ChargeRow } from './accounts-under-test.ts';
import { subscriptionOf } from './small-data.ts';

/** So low that a few calls of one turn cross them. */
const MINUTE_LIMIT = 100;
const MONTH_LIMIT = 600;
const SIGNED_UP = Date.UTC(2025, 0, 31);
const CALLS: readonly Call[] = [
  { kind: 'single', topic: 'hail' },
  { kind: 'standard' },
  { kind: 'enterprise' },
];

/** What is done to the books: calls that come together, clients that take their answers or leave, time that passes. */
type Step =
  | { readonly calls: readonly number[] }
  | { readonly end: number; readonly delivered: boolean }
  | { readonly moveMs: number };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ calls: fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 8 }) }),
  },
  { weight: 3, arbitrary: fc.record({ end: fc.nat({ max: 10 }), delivered: fc.boolean() }) },
  // A whole minute exactly, too: who is on its edge counts no more.
  {
    weight: 2,
    arbitrary: fc.record({ moveMs: fc.constantFrom(0, 1, 59_999, 60_000, 60_000, 60_001) }),
  },
  { weight: 1, arbitrary: fc.record({ moveMs: fc.integer({ min: -70_000, max: 90_000 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      moveMs: fc.constantFrom(16, -16, -1 / 24).map((days) => days * 86_400_000),
    }),
  },
);

let books = 0;

/** An account with a key, the calls that it makes, and what they must cost. */
async function openBooks(accounts: AccountsUnderTest, minuteLimit = MINUTE_LIMIT) {
  const name = `tester ${++books}`;
  const subscription = subscriptionOf(MONTH_LIMIT, minuteLimit);
  await accounts.port.createAccount({ name, subscription, signedUpAt: SIGNED_UP });
  const { key } = await accounts.port.createKey(name, ['bundle', 'hail'], null);
  const instance = await accounts.port.register(() => {});
  const [first] = await instance.check([{ key, call: CALLS[0]! }]);
  assert.ok(typeof first === 'object' && first.refusal === null);
  const { caller } = first;
  const rows = () => accounts.charges(caller.account.id);
  let pending: number[] = [];

  async function charge(calls: readonly Call[]): Promise<void> {
    const before = await rows();
    const periodStart = billingPeriod(31, accounts.now()).start;
    const used = before.filter(({ period_start }) => period_start === periodStart);
    let [minute, period] = [minuteOf(before), sumOf(used)];
    const asked = calls.map((call) => ({ caller, call, requestId: randomUUID() }));
    const charged = await instance.charge(asked);
    for (const [index, made] of charged.entries()) {
      const credits = CREDITS[calls[index]!.kind];
      if (period + credits > MONTH_LIMIT) assert.deepEqual(made, { failure: 'QUOTA_EXCEEDED' });
      else if (minute + credits > minuteLimit) {
        assert.ok('failure' in made && made.failure === 'RATE_LIMITED');
        assert.ok(made.retryAfter >= 1 && made.retryAfter <= 60, `Retry-After: ${made.retryAfter}`);
      } else {
        assert.ok('id' in made, JSON.stringify(made));
        minute += credits;
        period += credits;
        assert.deepEqual([made.credits, made.remaining], [credits, minuteLimit - minute]);
        pending.push(made.id);
      }
    }
  }

  async function end(which: number, delivered: boolean): Promise<void> {
    // Two neighbours end, and the two behind them do not.
    const { ended: ids = [], open = [] } = Object.groupBy(pending, (_, index) =>
      (index + which) % 4 < 2 ? 'ended' : 'open',
    );
    pending = open;
    await instance.settle(
      delivered ? { delivered: ids, undelivered: [] } : { delivered: [], undelivered: ids },
    );
  }

  function minuteOf(charges: readonly ChargeRow[]): number {
    const now = accounts.now();
    // Where the clock was set back, the newest charge was made just now, and others that lie ahead as long before it.
    const newest = Math.max(now, ...charges.map(({ charged_at }) => charged_at));
    return sumOf(charges.filter(({ charged_at: at }) => at > (at > now ? newest : now) - 60_000));
  }

  /** The sums that are kept are those of the rows. */
  async function check(): Promise<void> {
    const charges = await rows();
    const sums = new Map<number, number[]>();
    for (const { period_start, kind, topic, credits } of charges) {
      const sum = sums.get(period_start) ?? [0, 0, 0, 0];
      sum[0]! += credits;
      sum[1 + KINDS.indexOf(kind)]! += 1;
      sums.set(period_start, sum);
      assert.equal(topic, kind === 'single' ? 'hail' : null);
    }
    const kept = (await accounts.periods(caller.account.id)).filter(([, credits]) => credits > 0);
    const expected = [...sums].sort(([a], [b]) => a - b).map(([start, sum]) => [start, ...sum]);
    assert.deepEqual(kept, expected);
  }

  return {
    ...{ rows, check },
    async take(step: Step): Promise<void> {
      if ('moveMs' in step) await accounts.moveClock(step.moveMs);
      else if ('end' in step) await end(step.end, step.delivered);
      else await charge(step.calls.map((index) => CALLS[index]!));
    },
    async close(): Promise<void> {
      const before = await rows();
      await instance[Symbol.asyncDispose]();
      assert.equal(
        (await rows()).length,
        before.length - pending.length,
        'what is pending is taken back',
      );
      await check();
    },
  };
}

const sumOf = (charges: readonly ChargeRow[]) =>
  charges.reduce((sum, { credits }) => sum + credits, 0);

const KINDS = ['single', 'standard', 'enterprise'] as const;

/** What the charges of either database must be. */
export function tryCharges(
  name: string,
  open: () => Promise<AccountsUnderTest>,
  numRuns: number,
): void {
  test(`${name}: in any order of calls the sums of minute and period equal the charges, and no limit is exceeded`, async () => {
    await using accounts = await open();
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 40 }), async (steps) => {
        const books = await openBooks(accounts);
        for (const step of steps) {
          await books.take(step);
          await books.check();
        }
        await books.close();
      }),
      { numRuns },
    );
  });

  test(`${name}: an instance settles its own charges only, and an id is never given twice`, async () => {
    await using accounts = await open();
    const { id: account } = await accounts.port.createAccount({
      name: 'one',
      subscription: subscriptionOf(100, 100),
    });
    const { key } = await accounts.port.createKey('one', ['hail'], null);
    const register = () => accounts.port.register(() => {});
    await using first = await register();
    await using second = await register();
    const [check] = await first.check([{ key, call: CALLS[0]! }]);
    assert.ok(typeof check === 'object');
    const chargedId = async (instance = first) => {
      const asked = { caller: check.caller, call: CALLS[0]!, requestId: randomUUID() };
      const [made] = await instance.charge([asked]);
      assert.ok(made && 'id' in made);
      return made.id;
    };
    const ids = async () => (await accounts.charges(account)).map(({ id }) => id);
    const id = await chargedId();
    await second.settle({ delivered: [], undelivered: [id] });
    assert.deepEqual(await ids(), [id], 'another instance cannot take it back');
    await second.settle({ delivered: [id], undelivered: [] });
    const other = await chargedId(second);
    await second.settle({ delivered: [], undelivered: [other] });
    await first.settle({ delivered: [], undelivered: [id] });
    assert.deepEqual(await ids(), [], 'another instance cannot make it final');
    const next = await chargedId();
    // A settlement that is repeated because its COMMIT was not answered must not meet another call's charge.
    await first.settle({ delivered: [], undelivered: [id] });
    assert.deepEqual(await ids(), [next]);
  });

  test(`${name}: more charges than one statement writes are all written`, async () => {
    await using accounts = await open();
    const books = await openBooks(accounts, MONTH_LIMIT);
    await books.take({ calls: Array.from({ length: 150 }, () => 0) });
    assert.equal(new Set((await books.rows()).map(({ id }) => id)).size, 150);
    await books.check();
    await books.close();
  });
}
