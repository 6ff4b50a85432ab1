import { pathOf } from '../../contract/credits.ts';
import { HEADERS } from '../../contract/headers.ts';
import type { Reply } from './asker.ts';
import { type CheckContext, expect, NotChecked, type Statement } from './statement.ts';

const AT_SEA = { lat: 30, lng: -140 };

/** Statements on what is refused, and that nothing is charged for it. */
export const FAILURE_STATEMENTS: readonly Statement[] = [
  refused('Authentication', 'A missing key is 401', 401, (context) => context.asker.ask(path(context), { key: null })),
  refused('Authentication', 'A malformed key is 401', 401, (context) =>
    context.asker.ask(path(context), { key: 'no-key-of-this-service' }),
  ),
  refused('Authentication', 'An empty key is 401', 401, (context) => context.asker.ask(path(context), { key: '' })),
  refused('Authentication', 'A valid key that lacks the scope is 403', 403, async (context) => {
    const { narrowKey } = context;
    if (narrowKey === null) {
      throw new NotChecked('it needs a key with the scope of one topic only (--narrow-key-file)');
    }
    const replies = await Promise.all(
      (['standard', 'enterprise'] as const).map((kind) =>
        context.asker.ask(pathOf({ kind }, context.location.lat, context.location.lng), { key: narrowKey }),
      ),
    );
    return replies.find(({ status }) => status !== 403) ?? replies[0]!;
  }),
  refused('Endpoints', 'A topic that is none of the 37 slugs is refused', null, (context) =>
    context.asker.ask(path(context).replace('/drought/', '/noSuchTopic/')),
  ),
  refused('Endpoints', 'lat is required', null, (context) =>
    context.asker.ask(path(context).replace(/lat=[^&]*&/, '')),
  ),
  refused('Endpoints', 'lng is required', null, (context) => context.asker.ask(path(context).replace(/&lng=.*/, ''))),
  refused('Endpoints', 'lat and lng are numbers', null, (context) =>
    context.asker.ask(path(context).replace(/lat=[^&]*/, 'lat=north')),
  ),
  refused('Endpoints', 'A location outside the US is refused', null, (context) =>
    context.asker.ask(pathOf({ kind: 'single', topic: 'drought' }, AT_SEA.lat, AT_SEA.lng)),
  ),
  refused('Endpoints', 'All endpoints use GET', null, (context) =>
    context.asker.ask(path(context), { method: 'POST' }),
  ),
  unchecked('Errors', 'A used-up quota is 429 with QUOTA_EXCEEDED', 'it would take the whole quota to see'),
  unchecked('Limits', 'More credits a minute than the plan allows are refused', 'it would take a minute of the plan'),
  unchecked('Errors', 'An upstream failure is 502, free of charge', 'nobody can bring it about from outside'),
  unchecked('API key lifecycle', 'Rotation, revocation and expiry of keys', 'it is done by the account manager'),
];

function path({ location }: CheckContext): string {
  return pathOf({ kind: 'single', topic: 'drought' }, location.lat, location.lng);
}

/** A statement that a request is refused, with a status of its own where the contract names one, and is free. */
function refused(
  section: string,
  statement: string,
  status: number | null,
  ask: (context: CheckContext) => Promise<Reply>,
): Statement {
  return {
    section,
    statement: `${statement}, and costs nothing`,
    credits: 0,
    async check(context) {
      const reply = await ask(context);
      if (status === null) {
        expect(reply.status >= 400 && reply.status < 500, `the status is ${reply.status}, not one of 4xx`);
      } else {
        expect(reply.status === status, `the status is ${reply.status}, not ${status}`);
      }
      const charged = (reply.body as { meta?: { credit_cost?: unknown } } | null)?.meta?.credit_cost ?? 0;
      expect(charged === 0, `meta.credit_cost is ${charged}, not 0`);
      const header = reply.headers.get(HEADERS.creditCost) ?? '0';
      expect(header === '0', `X-Credit-Cost is ${header}`);
    },
  };
}

function unchecked(section: string, statement: string, reason: string): Statement {
  return {
    section,
    statement,
    credits: 0,
    check: () => Promise.reject(new NotChecked(reason)),
  };
}
