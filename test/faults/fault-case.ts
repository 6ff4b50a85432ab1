import { type Edit, instead } from './edits.ts';
import type { Fault } from './fault-proxy.ts';

/** What becomes of the money under a fault.
 * `free`: neither side counts anything. `exact`: what the service charged is what the ledger calls charged or unknown.
 * `bounded`: the client cannot know that nothing was charged, and says so. `lied`: the service states a wrong cost; the
 * ledger never counts less than was charged. */
export type Money = 'free' | 'exact' | 'bounded' | 'lied';

export interface FaultCase extends Fault {
  readonly money: Money;
  /** Which end of a run under this fault alone is the right one; see `ENDS`. */
  readonly end: string;
  /** What the user must do before a later run can finish. */
  readonly believed?: 'quota' | 'scope' | 'place';
  /** Too slow, too large or too lasting for the random mix. */
  readonly alone?: boolean;
}

type Extra = Partial<Pick<FaultCase, 'believed' | 'alone' | 'delivers'>>;

export function fault(name: string, end: string, money: Money, act: Fault['act'], extra: Extra = {}): FaultCase {
  return { name, end, money, act, ...extra };
}

type Named<What> = readonly (readonly [name: string, what: What])[];

/** Faults of one kind: each asks the service, which charges, and hands on something else. */
export function edited(end: string, money: Money, edits: Named<Edit>, extra: Extra = {}): FaultCase[] {
  return edits.map(([name, edit]) => fault(name, end, money, instead(edit), extra));
}

/** Faults of one kind that never reach the service. */
export function unasked(end: string, acts: Named<Fault['act']>, extra: Extra = {}): FaultCase[] {
  return acts.map(([name, act]) => fault(name, end, 'free', act, extra));
}
