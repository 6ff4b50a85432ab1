import { type Call, pathOf } from '../../contract/credits.ts';
import type { Location } from '../../geo/coordinates.ts';
import { createAsk, type Reply, type Send } from './asker.ts';
import { Broken, type CheckContext, NotChecked, type Statement } from './checked-statement.ts';
import { FAILURE_STATEMENTS } from './failure-statements.ts';
import { SUCCESS_STATEMENTS } from './success-statements.ts';

/** All statements, in the order in which they are checked. */
export const STATEMENTS: readonly Statement[] = [...SUCCESS_STATEMENTS, ...FAILURE_STATEMENTS];

/** What a run spends when every statement holds. */
export const CREDITS_NEEDED = STATEMENTS.reduce((sum, { credits }) => sum + credits, 0);

/** What it may spend beyond that, when the service answers what it must refuse. */
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
  readonly narrowKey?: string;
  readonly location: Location;
  readonly sleep: (ms: number) => Promise<void>;
  /** Removes keys and control characters from a reason, which may quote the service. */
  readonly clean: (reason: string) => string;
  readonly onStatement?: (statement: CheckedStatement) => void;
}

/** Checks a service against docs/developer/service-api.md, one statement after the other. */
export async function runChecks(options: CheckOptions): Promise<CheckResult> {
  const { send, key, narrowKey = null, location, sleep } = options;
  const ask = createAsk(send, key, sleep);
  const replies = new Map<string, Promise<Reply>>();
  const once = (call: Call) => {
    const path = pathOf(call, location.lat, location.lng);
    const reply = replies.get(path) ?? ask(path, call);
    replies.set(path, reply);
    return reply;
  };
  const context: CheckContext = { ask, call: once, location, narrowKey };
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

async function outcomeOf(check: () => Promise<void>): Promise<{ outcome: Outcome; reason: string }> {
  try {
    await check();
    return { outcome: 'pass', reason: '' };
  } catch (error) {
    if (error instanceof Broken) return { outcome: 'fail', reason: error.message };
    if (error instanceof NotChecked) return { outcome: 'skipped', reason: error.message };
    throw error;
  }
}
