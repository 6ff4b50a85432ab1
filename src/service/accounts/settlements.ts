import type { CallKind } from '../../contract/credits.ts';
import type { AccountsDatabase } from './accounts-database.ts';
import { crashedInstances } from './instances.ts';

/** Ids of charges whose responses have ended. */
export interface Ended {
  readonly delivered: readonly number[];
  readonly undelivered: readonly number[];
}

/** What becomes of charges that are pending. */
export interface Settlements {
  /** Makes charges final (their answers were handed over whole) and takes others back, in one transaction. Only charges
   * that are still pending are touched. */
  settle(ended: Ended): void;
  /** The same, in a transaction that the caller has begun. */
  settleWithin(ended: Ended): void;
  /** Takes back all that an instance left pending. */
  release(instance: number): void;
  /** Takes back what crashed instances left pending; returns whether there was any. */
  releaseCrashed(self: number | null): boolean;
}

interface Released {
  readonly account: number;
  readonly kind: CallKind;
  readonly credits: number;
  readonly charged_at: number;
  readonly period_start: number;
}

/** Prepares the statements that settle charges, and that keep the sums of minute and period true to them. */
export function createSettlements(accounts: AccountsDatabase): Settlements {
  const RETURNED = 'RETURNING account, kind, credits, charged_at, period_start';
  const finish = accounts.prepare(
    'UPDATE charges NOT INDEXED SET pending_by = NULL WHERE id BETWEEN ? AND ? AND pending_by IS NOT NULL',
  );
  const remove = accounts.prepare<[number], Released>(
    `DELETE FROM charges WHERE id = ? AND pending_by IS NOT NULL ${RETURNED}`,
  );
  const removeOf = accounts.prepare<[number], Released>(`DELETE FROM charges WHERE pending_by = ? ${RETURNED}`);
  const lessPeriod = accounts.prepare<[Released]>(
    `UPDATE periods SET credits = credits - @credits, single = single - (@kind = 'single'),
       standard = standard - (@kind = 'standard'), enterprise = enterprise - (@kind = 'enterprise')
     WHERE account = @account AND period_start = @period_start`,
  );
  const lessMinute = accounts.prepare<[Released]>(
    'UPDATE minutes SET minute_credits = minute_credits - @credits WHERE account = @account AND minute_from < @charged_at',
  );

  function takeBack(released: readonly Released[]): void {
    for (const charge of released) {
      lessPeriod.run(charge);
      lessMinute.run(charge);
    }
  }

  function settleWithin({ delivered, undelivered }: Ended): void {
    for (const [first, last] of runsOf(delivered)) finish.run(first, last);
    for (const id of undelivered) takeBack(remove.all(id));
  }

  const settle = accounts.transaction(settleWithin);
  const release = accounts.transaction((instances: readonly number[]) => {
    for (const instance of instances) takeBack(removeOf.all(instance));
  });

  return {
    settle: (ended) => settle.immediate(ended),
    settleWithin,
    release: (instance) => release.immediate([instance]),
    releaseCrashed(self) {
      const crashed = crashedInstances(accounts, self);
      if (crashed.length === 0) return false;
      release.immediate(crashed);
      return true;
    },
  };
}

/** The runs of ids that follow one another without a gap: the calls of a turn are charged together, and mostly end so. */
function runsOf(ids: readonly number[]): [first: number, last: number][] {
  const runs: [number, number][] = [];
  for (const id of ids.toSorted((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run !== undefined && id === run[1] + 1) run[1] = id;
    else runs.push([id, id]);
  }
  return runs;
}
