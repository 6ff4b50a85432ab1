import type { z } from 'zod';
import { NO_DATA_CODE } from '../../contract/failures.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Asker, Reply } from './asker.ts';

/** One sentence of the contract that can be checked from outside. */
export interface Statement {
  /** The heading of the contract under which it stands. */
  readonly section: string;
  readonly statement: string;
  /** Credits that its calls cost; calls that several statements look at count once, at the first. */
  readonly credits: number;
  /** Credits beyond these that a service charges if it breaks the statement. */
  readonly atRisk: number;
  /** It is checked with a key that lacks a scope, where there is one. */
  readonly needsNarrowKey?: boolean;
  /** Resolves when the service keeps it; throws `Broken` when it does not, `NotChecked` when that cannot be told. */
  readonly check: (context: CheckContext) => Promise<void>;
}

/** What checks share: the place they ask about, and calls that are made once for all of them. */
export interface CheckContext {
  readonly asker: Asker;
  readonly location: Location;
  /** A key that has the scope of one topic only, where the user has one. */
  readonly narrowKey: string | null;
  single(slug: string): Promise<Reply>;
  standard(): Promise<Reply>;
  enterprise(): Promise<Reply>;
}

/** The service does not keep the statement. */
export class Broken extends Error {}

/** Whether the service keeps the statement could not be found out. */
export class NotChecked extends Error {}

export function expect(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new Broken(problem);
}

/** A body as its schema says, or the first thing that is wrong with it. */
export function expectShape<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Broken(`${what}${issue!.path.length ? `.${issue!.path.join('.')}` : ''}: ${issue!.message}`);
}

/** A 200; what keeps a call from being answered for reasons of the key or the data is no fault of the service. */
export function expectAnswered(reply: Reply): void {
  if (reply.status === 401) throw new NotChecked('the key is refused (401)');
  if (reply.status === 403) throw new NotChecked('the key lacks the scope (403)');
  if (reply.status === 429) throw new NotChecked('the quota or the minute is used up (429)');
  if (reply.status === 404 && codeOf(reply) === NO_DATA_CODE)
    throw new NotChecked('there is no data on the place (404)');
  if (reply.status === 502) throw new NotChecked('the service has no data for it now (502)');
  expect(reply.status === 200, `the status is ${reply.status}, not 200`);
}

function codeOf({ body }: Reply): unknown {
  return (body as { error?: { code?: unknown } } | null)?.error?.code;
}
