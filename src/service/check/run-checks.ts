import type { Clock } from '../../base/clock.ts';
import type { Location } from '../../geo/coordinates.ts';
import { Broken, NotChecked } from './checked-statement.ts';
import { type CheckedExchange, createAsk, type Send } from './exchanges.ts';
import { STATEMENTS } from './statement-table.ts';

/** The credits of a run if every statement holds. */
export const CREDITS_NEEDED = STATEMENTS.reduce((sum, { credits }) => sum + credits, 0);

/** The credits that it may spend beyond that, if the service answers calls that it must refuse. */
export function creditsAtRisk(hasNarrowKey: boolean): number {
  return STATEMENTS.reduce(
    (sum, { atRisk, needsNarrowKey }) => sum + (needsNarrowKey && !hasNarrowKey ? 0 : atRisk),
    0,
  );
}

type Outcome = 'pass' | 'fail' | 'skipped';

export interface CheckedStatement {
  /** The statements of docs/developer/service-api.md. */
  readonly numbers: readonly string[];
  readonly statement: string;
  readonly outcome: Outcome;
  /** Why it failed or was skipped; '' when it passed. */
  readonly reason: string;
}

export interface CheckResult {
  readonly statements: readonly CheckedStatement[];
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface CheckOptions {
  readonly send: Send;
  readonly key: string;
  readonly narrowKey?: string | undefined;
  readonly location: Location;
  /** A location in another county. */
  readonly elsewhere: Location;
  readonly clock: Clock;
  /** Ends a wait for the minute's credits. */
  readonly interrupt: AbortSignal;
  /** Removes keys and control characters from a reason, which may quote the service. */
  readonly clean: (reason: string) => string;
  readonly onStatement?: ((statement: CheckedStatement) => void) | undefined;
}

/** Checks a service against docs/developer/service-api.md, one statement after the other. */
export async function runChecks(options: CheckOptions): Promise<CheckResult> {
  const exchanges: CheckedExchange[] = [];
  const { key, narrowKey = null, location, elsewhere } = options;
  const context = { ask: createAsk(options, exchanges), key, narrowKey, location, elsewhere, exchanges };
  const statements: CheckedStatement[] = [];
  for (const { numbers, statement, check } of STATEMENTS) {
    const { outcome, reason } = await outcomeOf(() => check(context));
    const checked = { numbers, statement, outcome, reason: options.clean(reason) };
    statements.push(checked);
    options.onStatement?.(checked);
  }
  const count = (wanted: Outcome) => statements.filter(({ outcome }) => outcome === wanted).length;
  return {
    statements,
    passed: count('pass'),
    failed: count('fail'),
    skipped: count('skipped'),
  };
}

async function outcomeOf(check: () => Promise<void> | void): Promise<{ outcome: Outcome; reason: string }> {
  try {
    await check();
    return { outcome: 'pass', reason: '' };
  } catch (error) {
    if (error instanceof Broken) return { outcome: 'fail', reason: error.message };
    if (error instanceof NotChecked) return { outcome: 'skipped', reason: error.message };
    throw error;
  }
}
