import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { billingPeriod } from '../../src/contract/billing-period.ts';
import { type Call, CREDITS } from '../../src/contract/credits.ts';
import type { Chargeable } from '../../src/service/accounts/port.ts';
import { createAccount } from '../../src/service/accounts/sqlite/accounts.ts';
import { type AccountsDatabase, openAccounts } from '../../src/service/accounts/sqlite/accounts-database.ts';
import { type Charges, createCharges } from '../../src/service/accounts/sqlite/charges.ts';
import { registerInstance } from '../../src/service/accounts/sqlite/instances.ts';
import { createKey } from '../../src/service/accounts/sqlite/keys.ts';
import { createSettlements } from '../../src/service/accounts/sqlite/settlements.ts';
import { usage } from './account-usage.ts';
import { releaseLater, StillClock, subscriptionOf } from './small-data.ts';

/** So low that a few calls of one turn cross them. */
const MINUTE_LIMIT = 100;
const MONTH_LIMIT = 600;
const SIGNED_UP = Date.UTC(2025, 0, 31);
const CALLS: readonly Call[] = [{ kind: 'single', topic: 'hail' }, { kind: 'standard' }, { kind: 'enterprise' }];

/** What is done to the books: calls that come together, clients that take their answers or leave, time that passes. */
type Step =
  | { readonly calls: readonly number[] }
  | { readonly end: number; readonly delivered: boolean }
  | { readonly moveMs: number };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ calls: fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 8 }) }) },
  { weight: 3, arbitrary: fc.record({ end: fc.nat({ max: 10 }), delivered: fc.boolean() }) },
  // A whole minute exactly, too: who is on its edge counts no more.
  { weight: 2, arbitrary: fc.record({ moveMs: fc.constantFrom(0, 1, 59_999, 60_000, 60_000, 60_001) }) },
  { weight: 1, arbitrary: fc.record({ moveMs: fc.integer({ min: -70_000, max: 90_000 }) }) },
  { weight: 1, arbitrary: fc.record({ moveMs: fc.constantFrom(16, -16, -1 / 24).map((days) => days * 86_400_000) }) },
);

interface Row {
  readonly kind: Call['kind'];
  readonly topic: string | null;
  readonly credits: number;
  readonly charged_at: number;
  readonly period_start: number;
}

class Books {
  readonly clock = new StillClock();
  readonly accounts: AccountsDatabase;
  readonly charges: Charges;
  readonly #caller: Chargeable['caller'];
  readonly #settlements;
  readonly #pending: number[] = [];
  readonly #minuteLimit: number;

  constructor(t: TestContext, minuteLimit = MINUTE_LIMIT) {
    this.#minuteLimit = minuteLimit;
    this.accounts = openAccounts(':memory:');
    releaseLater(t, () => this.accounts.close());
    const subscription = subscriptionOf(MONTH_LIMIT, minuteLimit);
    const account = createAccount(this.accounts, { name: 'tester', subscription, signedUpAt: SIGNED_UP }, this.clock);
    const { id } = createKey(this.accounts, 'tester', ['bundle', 'hail'], this.clock);
    this.#caller = { key: id, account, may: () => true };
    this.charges = createCharges(this.accounts, registerInstance(this.accounts, this.clock).id, 'sliding');
    this.#settlements = createSettlements(this.accounts);
  }

  take(step: Step): void {
    if ('moveMs' in step) this.clock.at += step.moveMs;
    else if ('end' in step) this.#end(step.end, step.delivered);
    else this.#charge(step.calls.map((index) => CALLS[index]!));
  }

  #charge(calls: readonly Call[]): void {
    const before = this.#minute();
    const used = this.#rows().filter(({ period_start }) => period_start === this.#periodStart());
    let minute = before;
    let period = used.reduce((sum, { credits }) => sum + credits, 0);
    const asked = calls.map((call) => ({ caller: this.#caller, call, requestId: 'r' }));
    const charged = this.accounts.transaction(() => this.charges.chargeAll(asked, this.clock.now())).immediate();
    for (const [index, made] of charged.entries()) {
      const credits = CREDITS[calls[index]!.kind];
      if (period + credits > MONTH_LIMIT) assert.deepEqual(made, { failure: 'QUOTA_EXCEEDED' });
      else if (minute + credits > this.#minuteLimit) {
        assert.ok('failure' in made && made.failure === 'RATE_LIMITED');
        assert.ok(made.retryAfter >= 1 && made.retryAfter <= 60, `Retry-After: ${made.retryAfter}`);
      } else {
        assert.ok('id' in made, JSON.stringify(made));
        minute += credits;
        period += credits;
        assert.deepEqual([made.credits, made.remaining], [credits, this.#minuteLimit - minute]);
        this.#pending.push(made.id);
      }
    }
  }

  #end(which: number, delivered: boolean): void {
    const ids = this.#pending.splice(which % Math.max(1, this.#pending.length), 1 + (which % 3));
    this.#settlements.settle(delivered ? { delivered: ids, undelivered: [] } : { delivered: [], undelivered: ids });
  }

  #rows(): Row[] {
    return this.accounts.prepare<[], Row>('SELECT * FROM charges').all();
  }

  #minute(): number {
    const [rows, now] = [this.#rows(), this.clock.now()];
    // Where the clock was set back, the newest charge was made just now, and others that lie ahead as long before it.
    const newest = Math.max(now, ...rows.map(({ charged_at }) => charged_at));
    const recent = rows.filter(({ charged_at: at }) => at > (at > now ? newest : now) - 60_000);
    return recent.reduce((sum, { credits }) => sum + credits, 0);
  }

  #periodStart(): number {
    return billingPeriod(31, this.clock.now()).start;
  }

  /** The sums that are kept are those of the rows. */
  check(): void {
    const rows = this.#rows();
    const ofPeriod = rows.filter(({ period_start }) => period_start === this.#periodStart());
    const callsOf = (kind: Call['kind']) => ofPeriod.filter((row) => row.kind === kind).length;
    const { creditsCharged, calls } = usage(this.accounts, 'tester', this.clock.now());
    assert.equal(
      creditsCharged,
      ofPeriod.reduce((sum, { credits }) => sum + credits, 0),
    );
    assert.deepEqual(calls, {
      single: callsOf('single'),
      standard: callsOf('standard'),
      enterprise: callsOf('enterprise'),
    });
    for (const { kind, topic } of rows) assert.equal(topic, kind === 'single' ? 'hail' : null);
  }
}

test('in any order of calls the sums of minute and period equal the charges, and no limit is exceeded', (t) => {
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 1, maxLength: 40 }), (steps) => {
      const books = new Books(t);
      for (const step of steps) {
        books.take(step);
        books.check();
      }
      books.accounts.close();
    }),
    { numRuns: 200 },
  );
});

test('more charges than one statement writes are all written', (t) => {
  const books = new Books(t, MONTH_LIMIT);
  books.take({ calls: Array.from({ length: 150 }, () => 0) });
  assert.equal(books.accounts.prepare('SELECT count(DISTINCT id) FROM charges').pluck().get(), 150);
  books.check();
});
