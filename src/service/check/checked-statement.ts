import type { z } from 'zod';
import { NO_DATA_CODE } from '../../contract/failures.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Ask, CheckedExchange, Reply } from './exchanges.ts';

/** A statement that `service check` verifies. */
export interface Statement {
  /** The sections of docs/developer/service-api.md that it follows from. */
  readonly numbers: readonly string[];
  readonly statement: string;
  /** Credits that its calls cost. */
  readonly credits: number;
  /** Credits beyond these that a service charges if it breaks the statement. */
  readonly atRisk: number;
  /** Whether it is checked only with a key that lacks a scope. */
  readonly needsNarrowKey?: boolean;
  /** Resolves when the statement holds. Throws `Broken` when it does not, `NotChecked` when that is unknown. */
  readonly check: (context: CheckContext) => Promise<void> | void;
}

/** The shared context of the checks. */
export interface CheckContext {
  readonly ask: Ask;
  readonly key: string;
  /** A key with the scope of one topic only; null if the user has none. */
  readonly narrowKey: string | null;
  readonly location: Location;
  /** A location in another county. */
  readonly elsewhere: Location;
  /** All requests of the check so far, with their replies. */
  readonly exchanges: readonly CheckedExchange[];
}

/** The statement does not hold. */
export class Broken extends Error {}

/** Whether the statement holds is unknown. */
export class NotChecked extends Error {}

export function expect(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new Broken(problem);
}

/** The parsed body. @throws Broken with the first thing that is wrong with it */
export function expectShape<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Broken(`${what}${issue!.path.length ? `.${issue!.path.join('.')}` : ''}: ${issue!.message}`);
}

/** Puts the name of the checked part before the problem. */
export function naming(name: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof Broken ? new Broken(`${name}: ${error.message}`) : error;
  }
}

/** Expects a 200. A call that fails for lack of scope or data breaks no statement. */
export function expectAnswered(reply: Reply): void {
  if (reply.status === 401) throw new NotChecked('the key is refused (401)');
  if (reply.status === 403) throw new NotChecked('the key lacks the scope (403)');
  if (reply.status === 429) throw new NotChecked('the quota or the minute is used up (429)');
  if (reply.status === 404 && codeOf(reply) === NO_DATA_CODE)
    throw new NotChecked('there is no data on the location (404)');
  if (reply.status === 502) throw new NotChecked('the service has no data for it now (502)');
  expect(reply.status === 200, `the status is ${reply.status}, not 200`);
}

function codeOf({ body }: Reply): unknown {
  return (body as { error?: { code?: unknown } } | null)?.error?.code;
}
