import type { CallKind } from '../../../contract/credits.ts';
import type { EndedCharges } from '../port.ts';
import type { AccountsDatabase } from './accounts-database.ts';
import { crashedInstances } from './instances.ts';

/** Settles pending charges; final ones are not touched. Each method is a transaction, or part of the one it is called in. */
export interface Settlements {
  /** Makes delivered charges of an instance final and takes its undelivered ones back. */
  settle(instance: number, ended: EndedCharges): void;
  /** Takes back all that an instance left pending. */
  release(instance: number): void;
  /** Takes back what crashed instances left pending; returns whether there was any. */
  releaseCrashed(self: number | null): boolean;
}

interface TakenBack {
  readonly account: number;
  readonly kind: CallKind;
  readonly credits: number;
  readonly charged_at: number;
  readonly period_start: number;
}

/** Prepares the statements that settle charges and keep the sums of minute and period equal to them. */
export function createSettlements(accounts: AccountsDatabase): Settlements {
  const RETURNED = 'RETURNING account, kind, credits, charged_at, period_start';
  const finish = accounts.prepare(
    'UPDATE charges NOT INDEXED SET pending_by = NULL WHERE id BETWEEN ? AND ? AND pending_by = ?',
  );
  const remove = accounts.prepare<[number, number], TakenBack>(
    `DELETE FROM charges WHERE id = ? AND pending_by = ? ${RETURNED}`,
  );
  const removeOf = accounts.prepare<[number], TakenBack>(`DELETE FROM charges WHERE pending_by = ? ${RETURNED}`);
  const subtractFromPeriod = accounts.prepare<[TakenBack]>(
    `UPDATE periods SET credits = credits - @credits, single = single - (@kind = 'single'),
       standard = standard - (@kind = 'standard'), enterprise = enterprise - (@kind = 'enterprise')
     WHERE account = @account AND period_start = @period_start`,
  );
  const subtractFromMinute = accounts.prepare<[TakenBack]>(
    'UPDATE minutes SET minute_credits = minute_credits - @credits WHERE account = @account AND minute_from < @charged_at',
  );

  function takeBack(charges: readonly TakenBack[]): void {
    for (const charge of charges) {
      subtractFromPeriod.run(charge);
      subtractFromMinute.run(charge);
    }
  }

  const settle = accounts.transaction((instance: number, { delivered, undelivered }: EndedCharges) => {
    for (const [first, last] of consecutive(delivered)) finish.run(first, last, instance);
    for (const id of undelivered) takeBack(remove.all(id, instance));
  });
  const release = accounts.transaction((instances: readonly number[]) => {
    for (const instance of instances) takeBack(removeOf.all(instance));
  });

  return {
    settle: (instance, ended) => settle.immediate(instance, ended),
    release: (instance) => release.immediate([instance]),
    releaseCrashed(self) {
      const crashed = crashedInstances(accounts, self);
      if (crashed.length > 0) release.immediate(crashed);
      return crashed.length > 0;
    },
  };
}

/** Ranges of consecutive ids: calls of a batch are charged together, and mostly end together. */
function consecutive(ids: readonly number[]): [first: number, last: number][] {
  const ranges: [number, number][] = [];
  for (const id of ids.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range !== undefined && id === range[1] + 1) range[1] = id;
    else ranges.push([id, id]);
  }
  return ranges;
}
