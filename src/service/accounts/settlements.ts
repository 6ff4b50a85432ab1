import type { CallKind } from '../../contract/credits.ts';
import type { ServiceDatabase } from '../data/database.ts';
import { goneInstances } from './instances.ts';

/** What becomes of charges that are pending. */
export interface Settlements {
  /** Makes charges final (their answers were handed over whole) and takes others back, in one transaction. Only charges
   * that are still pending are touched. */
  settle(delivered: readonly number[], undelivered: readonly number[]): void;
  /** Takes back all that an instance left pending. */
  release(instance: number): void;
  /** Takes back what crashed instances left pending; returns whether there was any. */
  releaseGone(self: number | null): boolean;
}

interface Released {
  readonly account: number;
  readonly kind: CallKind;
  readonly credits: number;
  readonly charged_at: number;
  readonly period_start: number;
}

/** Prepares the statements that settle charges, and that keep the sums of minute and period true to them. */
export function createSettlements(database: ServiceDatabase): Settlements {
  const RETURNED = 'RETURNING account, kind, credits, charged_at, period_start';
  const finish = database.prepare('UPDATE charges SET pending_by = NULL WHERE id = ? AND pending_by IS NOT NULL');
  const remove = database.prepare<[number], Released>(
    `DELETE FROM charges WHERE id = ? AND pending_by IS NOT NULL ${RETURNED}`,
  );
  const removeOf = database.prepare<[number], Released>(`DELETE FROM charges WHERE pending_by = ? ${RETURNED}`);
  const lessPeriod = database.prepare<[Released]>(
    `UPDATE periods SET credits = credits - @credits, single = single - (@kind = 'single'),
       standard = standard - (@kind = 'standard'), enterprise = enterprise - (@kind = 'enterprise')
     WHERE account = @account AND period_start = @period_start`,
  );
  const lessMinute = database.prepare<[Released]>(
    'UPDATE minutes SET minute_credits = minute_credits - @credits WHERE account = @account AND minute_from < @charged_at',
  );

  function takeBack(released: readonly Released[]): void {
    for (const charge of released) {
      lessPeriod.run(charge);
      lessMinute.run(charge);
    }
  }

  const settle = database.transaction((delivered: readonly number[], undelivered: readonly number[]) => {
    for (const id of delivered) finish.run(id);
    for (const id of undelivered) takeBack(remove.all(id));
  });
  const release = database.transaction((instances: readonly number[]) => {
    for (const instance of instances) takeBack(removeOf.all(instance));
  });

  return {
    settle: (delivered, undelivered) => settle.immediate(delivered, undelivered),
    release: (instance) => release.immediate([instance]),
    releaseGone(self) {
      const gone = goneInstances(database, self);
      if (gone.length === 0) return false;
      release.immediate(gone);
      return true;
    },
  };
}
