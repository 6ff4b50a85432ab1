import { pathOf } from '../../contract/credits.ts';
import { isTopicSlug, type TopicSlug } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import { createAsker, type Reply } from './asker.ts';
import { FAILURE_STATEMENTS } from './failure-statements.ts';
import { Broken, type CheckContext, NotChecked, type Statement } from './statement.ts';
import { SUCCESS_STATEMENTS } from './success-statements.ts';

/** All statements, in the order in which they are checked. */
export const STATEMENTS: readonly Statement[] = [...SUCCESS_STATEMENTS, ...FAILURE_STATEMENTS];

/** What a run will spend at most. */
export const CREDITS_NEEDED = STATEMENTS.reduce((sum, { credits }) => sum + credits, 0);

export type Outcome = 'pass' | 'fail' | 'skipped';

export interface CheckedStatement {
  readonly section: string;
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
  /** As the service said of each call. */
  readonly creditsSpent: number;
}

export interface CheckOptions {
  readonly baseUrl: string;
  readonly key: string;
  readonly narrowKey?: string;
  readonly location: Location;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onStatement?: (statement: CheckedStatement) => void;
}

/**
 * Checks a service against the contract, one statement after the other.
 *
 * @throws PerilbookError SERVICE_DOWN when it cannot be reached
 */
export async function runChecks(options: CheckOptions): Promise<CheckResult> {
  const asker = createAsker(options.baseUrl, options.key, options.sleep);
  const { lat, lng } = options.location;
  const calls = new Map<string, Promise<Reply>>();
  const once = (path: string) => {
    const known = calls.get(path) ?? asker.ask(path);
    calls.set(path, known);
    return known;
  };
  const context: CheckContext = {
    asker,
    location: options.location,
    narrowKey: options.narrowKey ?? null,
    single: (slug) => {
      if (!isTopicSlug(slug)) throw new TypeError(slug);
      return once(pathOf({ kind: 'single', topic: slug as TopicSlug }, lat, lng));
    },
    standard: () => once(pathOf({ kind: 'standard' }, lat, lng)),
    enterprise: () => once(pathOf({ kind: 'enterprise' }, lat, lng)),
  };
  const statements: CheckedStatement[] = [];
  for (const { section, statement, check } of STATEMENTS) {
    const checked = { section, statement, ...(await outcomeOf(() => check(context))) };
    statements.push(checked);
    options.onStatement?.(checked);
  }
  const count = (wanted: Outcome) => statements.filter(({ outcome }) => outcome === wanted).length;
  return {
    statements,
    passed: count('pass'),
    failed: count('fail'),
    skipped: count('skipped'),
    creditsSpent: asker.creditsSpent(),
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
