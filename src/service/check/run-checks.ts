import {
  Broken,
  type CheckedExchange,
  type CheckedStatement,
  type CheckOptions,
  createAsk,
  NotChecked,
} from './statement.ts';
import { STATEMENTS } from './statement-table.ts';

/** The credits of a run if every statement holds. */
export const CREDITS_NEEDED = STATEMENTS.reduce((sum, { credits = 0 }) => sum + credits, 0);

/** The credits that it may spend beyond that, if the service answers calls that it must refuse. */
export function creditsAtRisk(hasNarrowKey: boolean): number {
  return STATEMENTS.reduce(
    (sum, { atRisk = 0, needsNarrowKey }) => sum + (needsNarrowKey && !hasNarrowKey ? 0 : atRisk),
    0,
  );
}

export interface CheckResult {
  readonly statements: readonly CheckedStatement[];
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Checks a service against docs/developer/service-api.md, one statement after the other. */
export async function runChecks(options: CheckOptions): Promise<CheckResult> {
  const exchanges: CheckedExchange[] = [];
  const context = { ...options, ask: createAsk(options, exchanges), exchanges };
  const statements: CheckedStatement[] = [];
  for (const { numbers, statement, check } of STATEMENTS) {
    const { outcome, reason } = await runCheck(() => check(context));
    const checked = { numbers, statement, outcome, reason: options.clean(reason) };
    statements.push(checked);
    options.onStatement?.(checked);
  }
  const count = (wanted: CheckedStatement['outcome']) => statements.filter(({ outcome }) => outcome === wanted).length;
  return { statements, passed: count('pass'), failed: count('fail'), skipped: count('skipped') };
}

async function runCheck(check: () => Promise<void> | void): Promise<Pick<CheckedStatement, 'outcome' | 'reason'>> {
  try {
    await check();
    return { outcome: 'pass', reason: '' };
  } catch (error) {
    if (error instanceof Broken) return { outcome: 'fail', reason: error.message };
    if (error instanceof NotChecked) return { outcome: 'skipped', reason: error.message };
    throw error;
  }
}
