import { type Call, CREDITS, pathOf } from '../../contract/credits.ts';
import { HEADERS } from '../../contract/headers.ts';
import type { Reply } from './asker.ts';
import { type CheckContext, expect, NotChecked, type Statement } from './checked-statement.ts';

const AT_SEA = { lat: 30, lng: -140 };
const DROUGHT: Call = { kind: 'single', topic: 'drought' };

/** Statements on what is refused, and that nothing is charged for it. */
export const FAILURE_STATEMENTS: readonly Statement[] = [
  keyless('A missing key is 401', null),
  keyless('A malformed key is 401', 'no-key-of-this-service'),
  keyless('An empty key is 401', ''),
  {
    ...refused(
      'Authentication',
      'A valid key that lacks the scope is 403',
      403,
      CREDITS.standard + CREDITS.enterprise,
      async ({ narrowKey, location: { lat, lng }, asker }) => {
        if (narrowKey === null) {
          throw new NotChecked('it needs a key with the scope of one topic only (--narrow-key-file)');
        }
        const replies: Reply[] = [];
        for (const call of [{ kind: 'standard' }, { kind: 'enterprise' }] as const) {
          replies.push(await asker.ask(pathOf(call, lat, lng), call, { key: narrowKey }));
        }
        return replies.find(({ status }) => status !== 403) ?? replies[0]!;
      },
    ),
    needsNarrowKey: true,
  },
  misasked('A topic that is none of the 37 slugs is refused', (path) => path.replace('/drought/', '/noSuchTopic/')),
  misasked('lat is required', (path) => path.replace(/lat=[^&]*&/, '')),
  misasked('lng is required', (path) => path.replace(/&lng=.*/, '')),
  misasked('lat and lng are numbers', (path) => path.replace(/lat=[^&]*/, 'lat=north')),
  misasked('A location outside the US is refused', () => pathOf(DROUGHT, AT_SEA.lat, AT_SEA.lng)),
  refused('Endpoints', 'All endpoints use GET', null, CREDITS.single, (context) =>
    context.asker.ask(path(context), DROUGHT, { method: 'POST' }),
  ),
  unchecked('Errors', 'A used-up quota is 429 with QUOTA_EXCEEDED', 'it would take the whole quota to see'),
  unchecked('Limits', 'More credits a minute than the plan allows are refused', 'it would take a minute of the plan'),
  unchecked('Errors', 'An upstream failure is 502, free of charge', 'nobody can bring it about from outside'),
  unchecked('API key lifecycle', 'Rotation, revocation and expiry of keys', 'it is done by the account manager'),
];

function path({ location }: CheckContext): string {
  return pathOf(DROUGHT, location.lat, location.lng);
}

function keyless(statement: string, key: string | null): Statement {
  return refused('Authentication', statement, 401, 0, (context) => context.asker.ask(path(context), DROUGHT, { key }));
}

/** A request that is wrong in its path or query. */
function misasked(statement: string, bend: (path: string) => string): Statement {
  return refused('Endpoints', statement, null, CREDITS.single, (context) =>
    context.asker.ask(bend(path(context)), DROUGHT),
  );
}

/** A statement that a request is refused, with a status of its own where the contract names one, and is free. */
function refused(
  section: string,
  statement: string,
  status: number | null,
  atRisk: number,
  ask: (context: CheckContext) => Promise<Reply>,
): Statement {
  return {
    section,
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

function unchecked(section: string, statement: string, reason: string): Statement {
  return {
    section,
    statement,
    credits: 0,
    atRisk: 0,
    check: () => Promise.reject(new NotChecked(reason)),
  };
}
