import type { z } from 'zod';
import { type Clock, steadyTime } from '../../base/clock.ts';
import { checkSent, problemText } from '../../base/schema-issues.ts';
import { type Call, formatPath } from '../../contract/credits.ts';
import { NO_DATA_CODE } from '../../contract/envelopes.ts';
import { HEADERS } from '../../contract/headers.ts';
import type { Location } from '../../geo/coordinates.ts';

export interface CheckOptions {
  readonly send: Send;
  readonly key: string;
  /** A key with the scope of one topic only; undefined if the user has none. */
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

export interface Statement {
  /** The sections of the API's description that it follows from. */
  readonly numbers: readonly string[];
  /** The statement, in words. */
  readonly statement: string;
  /** Credits that its calls cost. Default: 0. */
  readonly credits?: number;
  /** Credits beyond these that a service charges if it breaks the statement. Default: 0. */
  readonly atRisk?: number;
  /** Whether it is checked only with a key that lacks a scope. */
  readonly needsNarrowKey?: boolean;
  /** Resolves when the statement holds. Throws `Broken` when it does not, `NotChecked` when that is unknown. */
  readonly check: (context: CheckContext) => Promise<void> | void;
}

export interface CheckContext
  extends Pick<CheckOptions, 'key' | 'narrowKey' | 'location' | 'elsewhere'> {
  readonly ask: Ask;
  /** All requests of the check so far, with their replies. */
  readonly exchanges: readonly CheckedExchange[];
}

export interface CheckedStatement extends Pick<Statement, 'numbers' | 'statement'> {
  /** Whether the service keeps it. */
  readonly outcome: 'pass' | 'fail' | 'skipped';
  /** Why it failed or was skipped; empty when it passed. */
  readonly reason: string;
}

export interface CheckRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Null: without the header. */
  readonly key: string | null;
  /** The call to charge if it is answered. */
  readonly call: Call;
  readonly location: Location;
}

export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed; null when it is not JSON. */
  readonly body: unknown;
}

/** Sends a request of a check. The caller limits the size of replies, and writes what a request may cost into the ledger.
 * @throws Broken when the reply is not an answer, NotChecked when the request may not be made */
export type Send = (request: CheckRequest) => Promise<Reply>;

export interface CheckedExchange {
  readonly request: CheckRequest;
  readonly reply: Reply;
  /** Steady time in milliseconds. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** When it was received, in milliseconds since the epoch. */
  readonly at: number;
}

/** Asks the service under test about the location of the check, with its key, unless the options say otherwise. */
export type Ask = (call: Call, options?: Partial<CheckRequest>) => Promise<Reply>;

const MOST_RATE_WAITS = 2;
const LONGEST_WAIT_S = 65;

/** Makes the function that asks, and adds to `exchanges`. After a 429 with a time it waits: checks may cost more than a minute allows. */
export function createAsk(check: CheckOptions, exchanges: CheckedExchange[]): Ask {
  const { send, key, clock, interrupt } = check;
  return async (call, options = {}) => {
    const location = options.location ?? check.location;
    const path = formatPath(call, location.lat, location.lng);
    const request: CheckRequest = { method: 'GET', path, key, call, location, ...options };
    for (let waits = 0; ; waits++) {
      const sentAt = steadyTime(clock);
      const reply = await send(request);
      exchanges.push({ request, reply, sentAt, receivedAt: steadyTime(clock), at: clock.now() });
      const seconds = Number(reply.headers[HEADERS.retryAfter] ?? Number.NaN);
      if (reply.status !== 429 || !(seconds <= LONGEST_WAIT_S) || waits === MOST_RATE_WAITS)
        return reply;
      await clock.sleep(Math.max(1, seconds) * 1_000, interrupt);
    }
  };
}

/** `data`, `meta` or `error` of a body of any shape. */
export function partOf(body: unknown, name: 'data' | 'meta' | 'error'): Record<string, unknown> {
  return (body as Record<string, Record<string, unknown>> | null)?.[name] ?? {};
}

/** The statement does not hold. */
export class Broken extends Error {}

/** Whether the statement holds is unknown. */
export class NotChecked extends Error {}

/** Ends the check of a statement that does not hold. @param problem what the service did */
export function expect(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new Broken(problem);
}

/** The parsed body. @throws Broken with the first thing that is wrong with it */
export function expectShape<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const { data, problem } = checkSent(schema, value);
  if (problem === null) return data;
  throw new Broken(problemText({ ...problem, path: [what, ...problem.path] }));
}

/** Puts the name of the checked part before the problem. */
export function nameInReason(name: string, check: () => void): void {
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
  const isNoData = reply.status === 404 && partOf(reply.body, 'error').code === NO_DATA_CODE;
  if (isNoData) throw new NotChecked('there is no data on the location (404)');
  if (reply.status === 502) throw new NotChecked('the service has no data for it now (502)');
  expect(reply.status === 200, `the status is ${reply.status}, not 200`);
}
