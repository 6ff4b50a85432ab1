import type { PeriodSpending, Spending } from './port.ts';

/** The stored sums of one period of an account. */
export interface PeriodRow extends Spending {
  readonly exhaustedAt: number | null;
  readonly exhaustedLeft: number | null;
  readonly elsewhere: number | null;
  readonly correctedAt: number | null;
}

export const NOTHING_SPENT: Spending = { charged: 0, unknown: 0, open: 0 };

/** @param later credits of the account in periods that begin later */
export function periodSpending(row: PeriodRow | undefined, later: number): PeriodSpending {
  const counted = later === 0 ? {} : { later };
  if (!row) return { ...NOTHING_SPENT, exhaustedAt: null, ...counted };
  const { charged, unknown, open, exhaustedAt, exhaustedLeft, elsewhere, correctedAt } = row;
  return {
    ...{ charged, unknown, open, exhaustedAt },
    ...(exhaustedLeft === null ? {} : { exhaustedLeft }),
    ...(elsewhere === null || correctedAt === null ? {} : { correction: { elsewhere, at: correctedAt } }),
    ...counted,
  };
}
