import { type Call, CREDITS } from '../../contract/credits.ts';
import { bundleEnvelope, singleEnvelope } from '../../contract/envelopes.ts';
import { UNAVAILABLE } from '../../contract/failures.ts';
import { HEADERS } from '../../contract/headers.ts';
import { RESULT_SCHEMAS } from '../../contract/topic-values.ts';
import { isTopicSlug, NATURAL_SLUGS, TOPIC_SLUGS, TOPICS, type Topic, type TopicSlug } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import { distanceMeters } from '../../geo/distance.ts';
import type { Reply } from './asker.ts';
import {
  Broken,
  type CheckContext,
  expect,
  expectAnswered,
  expectShape,
  NotChecked,
  type Statement,
} from './checked-statement.ts';

/** How far the resolved location may lie from the one asked, in metres (docs/developer/service-api.md, 3.7). */
const RESOLVED_METERS = 1_000;

/** Fewest natural topics of the standard bundle: 17 of the 18 are named (docs/developer/service-api.md, 2.9). */
const STANDARD_LEAST = 17;

/** The statements on the values of each category. */
const VALUE_NUMBERS: Readonly<Record<Topic['category'], readonly string[]>> = {
  natural: ['4.1', '4.3', '4.4'],
  proximity: ['4.5'],
  measurement: ['4.9'],
};

const MEASUREMENT_NUMBERS: Partial<Readonly<Record<TopicSlug, readonly string[]>>> = {
  airQuality: ['4.6'],
  ozone: ['4.7'],
  pm25: ['4.7'],
  pm10: ['4.7'],
  radon: ['4.8'],
};

/** Statements on what is answered and charged, single calls first. */
export const SUCCESS_STATEMENTS: readonly Statement[] = [
  ...TOPICS.map(singleStatement),
  {
    numbers: ['2.2', '2.9', '3.2', '3.4'],
    statement: 'The standard bundle is the bundle envelope with the natural topics, each of its shape',
    credits: CREDITS.standard,
    atRisk: 0,
    async check(context) {
      const topics = entriesOf(await context.call({ kind: 'standard' }));
      const slugs = Object.keys(topics);
      const foreign = slugs.filter((slug) => !(NATURAL_SLUGS as readonly string[]).includes(slug));
      expect(foreign.length === 0, `it returns ${foreign.join(', ')}, which are not natural topics`);
      expect(slugs.length >= STANDARD_LEAST, `it returns ${slugs.length} topics, fewer than ${STANDARD_LEAST}`);
      for (const slug of slugs) checkEntry(slug, topics[slug]);
    },
  },
  {
    numbers: ['1.1', '2.3', '2.7', '3.2', '3.4'],
    statement: 'The enterprise bundle is the bundle envelope with all 37 topics, each of its shape',
    credits: CREDITS.enterprise,
    atRisk: 0,
    async check(context) {
      const topics = entriesOf(await context.call({ kind: 'enterprise' }));
      const missing = TOPIC_SLUGS.filter((slug) => topics[slug] === undefined);
      expect(missing.length === 0, `it lacks ${missing.join(', ')}`);
      expect(Object.keys(topics).length === TOPIC_SLUGS.length, 'it returns more than the 37 topics');
      for (const slug of TOPIC_SLUGS) checkEntry(slug, topics[slug]);
    },
  },
  ...(['standard', 'enterprise'] as const).map((kind) =>
    ofCallsMade(
      [kind === 'standard' ? '2.2' : '2.3', '3.5'],
      `The ${kind} bundle costs ${CREDITS[kind]} credits, in full whatever topics failed`,
      async (context) => {
        const reply = await context.call({ kind });
        expectAnswered(reply);
        expectCost(reply, CREDITS[kind]);
      },
    ),
  ),
  ofCallsMade(['2.6', '3.3'], 'Every success carries X-Credit-Cost, equal to meta.credit_cost', (context) =>
    eachSuccess(context, (reply) => expectCost(reply, creditCost(reply))),
  ),
  ofCallsMade(['2.6'], 'Every success carries X-RateLimit-Limit, -Remaining and -Reset as integers', (context) =>
    eachSuccess(context, ({ headers }) => {
      for (const name of [HEADERS.rateLimit, HEADERS.rateRemaining, HEADERS.rateReset]) {
        const value = headers[name];
        expect(value !== undefined && /^-?\d+$/.test(value), `${name} is ${value ?? 'missing'}`);
      }
      const [limit, remaining] = [HEADERS.rateLimit, HEADERS.rateRemaining].map((name) => Number(headers[name]));
      expect(remaining! <= limit!, `${remaining} credits remain of ${limit}`);
    }),
  ),
  ofCallsMade(['1.5'], 'Bodies are JSON and say so', (context) =>
    eachSuccess(context, ({ headers, body }) => {
      expect(body !== null, 'the body is not JSON');
      expect(/^application\/json\b/.test(headers['content-type'] ?? ''), 'the content type is not JSON');
    }),
  ),
  ofCallsMade(['3.3'], 'meta.request_id is a UUID, another for each request', async (context) => {
    const ids: unknown[] = [];
    await eachSuccess(context, ({ body }) => {
      ids.push((body as { meta?: { request_id?: unknown } }).meta?.request_id);
    });
    if (ids.length < 2) throw new NotChecked('fewer than two calls were answered');
    expect(new Set(ids).size === ids.length, 'two requests have the same request_id');
  }),
  ofCallsMade(['3.7'], 'data.location is the location that was asked about', (context) =>
    eachSuccess(context, ({ body }) => {
      const resolved = (body as { data: { location: Location } }).data.location;
      const meters = distanceMeters(context.location, resolved);
      expect(meters <= RESOLVED_METERS, `it is ${Math.round(meters)} m away`);
    }),
  ),
];

/** A statement on calls that other statements have paid for. */
function ofCallsMade(numbers: readonly string[], statement: string, check: Statement['check']): Statement {
  return { numbers, statement, credits: 0, atRisk: 0, check };
}

function singleStatement(topic: Topic): Statement {
  return {
    numbers: ['2.1', '3.1', ...VALUE_NUMBERS[topic.category], ...(MEASUREMENT_NUMBERS[topic.slug] ?? [])],
    statement: `${topic.slug}: the single call answers with its envelope, value and details, for 1 credit`,
    credits: CREDITS.single,
    atRisk: 0,
    async check(context) {
      const reply = await context.call({ kind: 'single', topic: topic.slug });
      expectAnswered(reply);
      const { data } = expectShape(singleEnvelope, reply.body, 'body');
      expect(data.topic === topic.slug, `data.topic is ${data.topic}`);
      checkResult(topic, data.result);
      expectCost(reply, CREDITS.single);
    },
  };
}

/** Checks value and details (docs/developer/service-api.md, section 4) more strictly than the client reads them. */
function checkResult(topic: Topic, result: { readonly value?: unknown; readonly details?: unknown }): void {
  const { value } = expectShape(RESULT_SCHEMAS.get(topic.slug)!, result, topic.slug);
  const { details } = result;
  switch (topic.details) {
    case 'none':
      expect(details === null || details === undefined, `${topic.slug}: details is not null`);
      break;
    case 'array':
      expect(Array.isArray(details), `${topic.slug}: details is not an array`);
      break;
    case 'features': {
      expect(details !== null && details !== undefined, `${topic.slug}: details is not a FeatureCollection`);
      const { length } = (details as { features: unknown[] }).features;
      expect(length === 0 || length === value, `${topic.slug}: ${length} features and a count of ${value}`);
      break;
    }
    default:
      expect(typeof details === 'object' && details !== null, `${topic.slug}: details is not an object`);
  }
}

function checkEntry(slug: string, entry: unknown): void {
  const { error } = entry as { error?: unknown };
  if (error !== undefined) {
    expect(error === UNAVAILABLE, `${slug}: error is ${JSON.stringify(error)}, not "${UNAVAILABLE}"`);
    return;
  }
  if (isTopicSlug(slug)) checkResult(TOPICS.find((topic) => topic.slug === slug)!, entry as { value?: unknown });
}

function entriesOf(reply: Reply): Readonly<Record<string, unknown>> {
  expectAnswered(reply);
  return expectShape(bundleEnvelope, reply.body, 'body').data.topics;
}

/** Looks at each call that was answered; all of them have been made and paid for. */
async function eachSuccess(context: CheckContext, look: (reply: Reply) => void): Promise<void> {
  const calls: Call[] = TOPIC_SLUGS.map((topic) => ({ kind: 'single', topic }));
  calls.push({ kind: 'standard' }, { kind: 'enterprise' });
  let answered = 0;
  for (const call of calls) {
    try {
      const reply = await context.call(call);
      if (reply.status !== 200) continue;
      answered += 1;
      look(reply);
    } catch (error) {
      if (error instanceof NotChecked) continue;
      const name = call.kind === 'single' ? call.topic : call.kind;
      throw error instanceof Broken ? new Broken(`${name}: ${error.message}`) : error;
    }
  }
  if (answered === 0) throw new NotChecked('no call was answered');
}

function creditCost({ body }: Reply): unknown {
  return (body as { meta?: { credit_cost?: unknown } } | null)?.meta?.credit_cost;
}

function expectCost(reply: Reply, credits: unknown): void {
  const header = reply.headers[HEADERS.creditCost];
  expect(creditCost(reply) === credits, `meta.credit_cost is ${creditCost(reply)}, not ${credits}`);
  expect(header === String(credits), `X-Credit-Cost is ${header ?? 'missing'}, not ${credits}`);
}
