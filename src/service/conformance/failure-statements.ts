import { type Call, CREDITS, pathOf } from '../../contract/credits.ts';
import { HEADERS } from '../../contract/headers.ts';
import type { Reply } from './asker.ts';
import { type CheckContext, expect, NotChecked, type Statement } from './checked-statement.ts';

const AT_SEA = { lat: 30, lng: -140 };
const DROUGHT: Call = { kind: 'single', topic: 'drought' };

/** Statements on what is refused, and that refusals are free. */
export const FAILURE_STATEMENTS: readonly Statement[] = [
  keyless('A missing key is 401', null),
  keyless('A malformed key is 401', 'no-key-of-this-service'),
  keyless('An empty key is 401', ''),
  {
    ...refused({
      numbers: ['5.2', '5.4', '6.2', '6.6'],
      statement: 'A valid key that lacks the scope is 403',
      status: 403,
      atRisk: CREDITS.standard + CREDITS.enterprise,
      async ask({ narrowKey, location: { lat, lng }, ask }) {
        if (narrowKey === null) {
          throw new NotChecked('it needs a key with the scope of one topic only (--narrow-key-file)');
        }
        const replies: Reply[] = [];
        for (const call of [{ kind: 'standard' }, { kind: 'enterprise' }] as const) {
          replies.push(await ask(pathOf(call, lat, lng), call, { key: narrowKey }));
        }
        return replies.find(({ status }) => status !== 403) ?? replies[0]!;
      },
    }),
    needsNarrowKey: true,
  },
  malformed(['6.6', '6.8'], 'A topic that is none of the 37 slugs is refused', (path) =>
    path.replace('/drought/', '/noSuchTopic/'),
  ),
  malformed(['2.4', '6.6', '6.8'], 'lat is required', (path) => path.replace(/lat=[^&]*&/, '')),
  malformed(['2.4', '6.6', '6.8'], 'lng is required', (path) => path.replace(/&lng=.*/, '')),
  malformed(['2.4', '6.6', '6.8'], 'lat and lng are numbers', (path) => path.replace(/lat=[^&]*/, 'lat=north')),
  malformed(['2.4', '2.8', '6.6'], 'A location outside the US is refused', () =>
    pathOf(DROUGHT, AT_SEA.lat, AT_SEA.lng),
  ),
  refused({
    numbers: ['1.3', '2.11', '6.6'],
    statement: 'All endpoints use GET',
    status: null,
    atRisk: CREDITS.single,
    ask: (context) => context.ask(path(context), DROUGHT, { method: 'POST' }),
  }),
  unchecked(['6.3', '7.4', '7.9'], 'A used-up quota is 429 with QUOTA_EXCEEDED', 'it would take the whole quota'),
  unchecked(
    ['6.4', '6.9', '7.7'],
    'More credits a minute than the plan allows are refused',
    "it would take a minute's credits of the plan",
  ),
  unchecked(['6.5'], 'An upstream failure is 502, free of charge', 'it cannot be caused from outside'),
  unchecked(['5.5'], 'Rotation, revocation and expiry of keys', 'the account manager does it'),
];

function path({ location }: CheckContext): string {
  return pathOf(DROUGHT, location.lat, location.lng);
}

function keyless(statement: string, key: string | null): Statement {
  const ask = (context: CheckContext) => context.ask(path(context), DROUGHT, { key });
  return refused({ numbers: ['2.5', '5.3', '6.1', '6.6'], statement, status: 401, atRisk: 0, ask });
}

/** A request whose path or query is wrong. */
function malformed(numbers: readonly string[], statement: string, change: (path: string) => string): Statement {
  const ask = (context: CheckContext) => context.ask(change(path(context)), DROUGHT);
  return refused({ numbers, statement, status: null, atRisk: CREDITS.single, ask });
}

interface Refusal extends Pick<Statement, 'numbers' | 'statement' | 'atRisk'> {
  /** Null: any of 4xx. */
  readonly status: number | null;
  readonly ask: (context: CheckContext) => Promise<Reply>;
}

/** A statement that a request is refused, and is free. */
function refused({ numbers, statement, status, atRisk, ask }: Refusal): Statement {
  return {
    numbers,
    statement: `${statement}, and costs nothing`,
    credits: 0,
    atRisk,
    async check(context) {
      const reply = await ask(context);
      if (status === null) {
        expect(reply.status >= 400 && reply.status < 500, `the status is ${reply.status}, not one of 4xx`);
      } else {
        expect(reply.status === status, `the status is ${reply.status}, not ${status}`);
      }
      const charged = (reply.body as { meta?: { credit_cost?: unknown } } | null)?.meta?.credit_cost ?? 0;
      expect(charged === 0, `meta.credit_cost is ${charged}, not 0`);
      const header = reply.headers[HEADERS.creditCost] ?? '0';
      expect(header === '0', `X-Credit-Cost is ${header}`);
    },
  };
}

function unchecked(numbers: readonly string[], statement: string, reason: string): Statement {
  return { numbers, statement, credits: 0, atRisk: 0, check: () => Promise.reject(new NotChecked(reason)) };
}
