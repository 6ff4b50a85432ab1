import type { ClaimLimits } from '../../src/store/ledger/port.ts';

/** The cells that all processes want, at 15 credits each. */
export const CELLS = Array.from({ length: 60 }, (_, place) => ({ lat7: 340_000_000 + place, lng7: -1_180_000_000 }));

export const PERIOD = { start: 0, end: Date.UTC(2099, 0) };

/** What each account may spend: the first gets every cell, the others 20 of them. */
export const SCENARIOS: Readonly<Record<string, Partial<ClaimLimits>>> = {
  cells: {},
  minute: { creditsPerMinute: 310 },
  quota: { periodLimit: 310 },
};
