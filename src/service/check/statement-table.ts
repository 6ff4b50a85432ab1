import {
  BUNDLE_KINDS,
  type BundleKind,
  type Call,
  CREDITS,
  formatPath,
} from '../../contract/credits.ts';
import { bundleEnvelope, singleEnvelope, UNAVAILABLE } from '../../contract/envelopes.ts';
import {
  NATURAL_SLUGS,
  ofPollutants,
  PAID_SLUGS,
  PAID_TOPICS,
  type PaidMeasurementSlug,
  POLLUTANTS,
  type Topic,
  type TopicSlug,
  topicOf,
} from '../../contract/topics.ts';
import { CALL_STATEMENTS } from './call-statements.ts';
import {
  Broken,
  type CheckedExchange,
  type CheckedStatement,
  type CheckOptions,
  type CheckRequest,
  createAsk,
  expect,
  expectAnswered,
  expectShape,
  NotChecked,
  partOf,
  type Statement,
} from './statement.ts';
import { checkResult } from './topic-results.ts';

const DROUGHT = { kind: 'single', topic: 'drought' } as const;
const AT_SEA = formatPath(DROUGHT, 30, -140);

/** The statement on the value of each measurement. */
const MEASUREMENTS: Readonly<Record<PaidMeasurementSlug, string>> = {
  airQuality: '4.6',
  ...ofPollutants(() => '4.7'),
  radon: '4.8',
};

/** All statements, in the order of checking: answered calls, refused calls, every call. */
export const STATEMENTS: readonly Statement[] = [
  ...PAID_TOPICS.map(singleCall),
  bundleCall('standard', ['2.2', '2.9'], 'the natural topics', (slugs) => {
    const foreign = slugs.filter((slug) => !(NATURAL_SLUGS as readonly string[]).includes(slug));
    expect(foreign.length === 0, `it returns ${foreign.join(', ')}, which are not natural topics`);
    // The contract names all but avalanche.
    const missing = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche' && !slugs.includes(slug));
    expect(missing.length === 0, `it lacks ${missing.join(', ')}`);
  }),
  bundleCall('enterprise', ['1.1', '2.3'], 'all 37 topics', (slugs) => {
    const missing = PAID_SLUGS.filter((slug) => !slugs.includes(slug));
    expect(missing.length === 0, `it lacks ${missing.join(', ')}`);
    expect(
      slugs.length === PAID_SLUGS.length,
      `it returns more than the ${PAID_SLUGS.length} topics`,
    );
  }),
  {
    numbers: ['4.8'],
    statement: 'radon: the description is the same in every call, also in another county',
    credits: CREDITS.single,
    async check({ ask, elsewhere, exchanges }) {
      const reply = await ask({ kind: 'single', topic: 'radon' }, { location: elsewhere });
      const descriptions = new Set(
        exchanges.flatMap(({ reply: { body } }) => radonDescriptions(body)),
      );
      expect(descriptions.size <= 1, 'it differs');
      expectAnswered(reply);
    },
  },
  {
    numbers: ['4.7'],
    statement: 'ozone, pm25 and pm10 are current measurements',
    check({ exchanges }) {
      const measured = exchanges.flatMap(measurementsIn);
      const old = measured.filter(({ timestamp, at }) => at - Date.parse(timestamp) > CURRENT_MS);
      const [oldest] = old.filter(({ isSample }) => !isSample);
      expect(oldest === undefined, `${oldest?.slug}: timestamp is ${oldest?.timestamp}`);
      if (measured.length === 0) throw new NotChecked('the service answered none of them');
      if (old.length > 0)
        throw new NotChecked('the service says that its data is made up: the measurements are old');
    },
  },
  wrongKey('A missing key is 401', null),
  wrongKey('A malformed key is 401', 'no-key-of-this-service'),
  wrongKey('An empty key is 401', ''),
  narrowKey(
    'A valid key that lacks the scope bundle is 403',
    BUNDLE_KINDS.map((kind) => ({ kind })),
    (statuses) => {
      const wrong = statuses.find((status) => status !== 403);
      expect(wrong === undefined, `the status is ${wrong}, not 403`);
    },
  ),
  narrowKey(
    'A key of one topic is 403 for the others',
    [DROUGHT, { ...DROUGHT, topic: 'hail' }],
    (statuses) => {
      const refused = statuses.filter((status) => status === 403);
      expect(refused.length > 0, `drought and hail are ${statuses.join(' and ')}, not 403`);
    },
  ),
  refused(['6.8'], 'A topic that is none of the 37 slugs is refused', (path) => ({
    path: path.replace('/drought/', '/noSuchTopic/'),
  })),
  refused(['2.4', '6.8'], 'lat is required', (path) => ({ path: path.replace(/lat=[^&]*&/, '') })),
  refused(['2.4', '6.8'], 'lng is required', (path) => ({ path: path.replace(/&lng=.*/, '') })),
  refused(['2.4', '6.8'], 'lat and lng are numbers', (path) => ({
    path: path.replace(/lat=[^&]*/, 'lat=north'),
  })),
  refused(['2.4', '2.8'], 'A location outside the US is refused', () => ({ path: AT_SEA })),
  refused(['1.3', '2.11'], 'All endpoints use GET', () => ({ method: 'POST' })),
  ...CALL_STATEMENTS,
  unchecked(
    ['6.3', '7.4', '7.9'],
    'A used-up quota is 429 with QUOTA_EXCEEDED',
    'it would take the whole quota',
  ),
  unchecked(
    ['6.4', '6.9', '7.7'],
    'More credits a minute than the plan allows are refused',
    "it would take a minute's credits of the plan",
  ),
  unchecked(['6.5'], 'An upstream failure is 502', 'it cannot be caused from outside'),
  unchecked(['5.5'], 'Rotation, revocation and expiry of keys', 'the account manager does it'),
];

/** The credits of a run if every statement holds. */
export const CREDITS_NEEDED = STATEMENTS.reduce((sum, { credits = 0 }) => sum + credits, 0);

/** The credits that a run may spend beyond `CREDITS_NEEDED`, if the service answers calls that it must refuse. */
export function creditsAtRisk(hasNarrowKey: boolean): number {
  const checked = STATEMENTS.filter(({ needsNarrowKey }) => hasNarrowKey || !needsNarrowKey);
  return checked.reduce((sum, { atRisk = 0 }) => sum + atRisk, 0);
}

/** The checks of all statements. */
/** What was found of a service: each statement of the contract, and how many had which outcome. */
export interface CheckResult {
  /** Each statement of the contract. */
  readonly statements: readonly CheckedStatement[];
  /** How many hold. */
  readonly passed: number;
  /** How many do not. */
  readonly failed: number;
  /** How many were not checked. */
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
  const count = (wanted: CheckedStatement['outcome']) =>
    statements.filter(({ outcome }) => outcome === wanted).length;
  return { statements, passed: count('pass'), failed: count('fail'), skipped: count('skipped') };
}

async function runCheck(
  check: () => Promise<void> | void,
): Promise<Pick<CheckedStatement, 'outcome' | 'reason'>> {
  try {
    await check();
    return { outcome: 'pass', reason: '' };
  } catch (error) {
    if (error instanceof Broken) return { outcome: 'fail', reason: error.message };
    if (error instanceof NotChecked) return { outcome: 'skipped', reason: error.message };
    throw error;
  }
}

function valueNumbers({ slug, category }: Topic): string[] {
  if (category === 'natural') return ['4.1', '4.3', '4.4'];
  return category === 'proximity' ? ['4.5'] : [MEASUREMENTS[slug as PaidMeasurementSlug], '4.9'];
}

function singleCall(topic: Topic): Statement {
  return {
    numbers: ['2.1', '3.1', '3.3', ...valueNumbers(topic)],
    statement: `${topic.slug}: the single call answers with its envelope, value and details`,
    credits: CREDITS.single,
    async check(context) {
      const reply = await context.ask({ kind: 'single', topic: topic.slug });
      expectAnswered(reply);
      const { data } = expectShape(singleEnvelope, reply.body, 'body');
      expect(data.topic === topic.slug, `data.topic is ${data.topic}`);
      expect(
        data.result.error === undefined,
        `data.result.error is ${JSON.stringify(data.result.error)}`,
      );
      checkResult(topic, data.result, context);
    },
  };
}

function bundleCall(
  kind: BundleKind,
  numbers: readonly string[],
  topics: string,
  checkSlugs: (slugs: readonly string[]) => void,
): Statement {
  return {
    numbers: [...numbers, '3.2', '3.3', '3.4'],
    statement: `The ${kind} bundle is the bundle envelope with ${topics}, each of its shape`,
    credits: CREDITS[kind],
    async check(context) {
      const reply = await context.ask({ kind });
      expectAnswered(reply);
      const { data } = expectShape(bundleEnvelope, reply.body, 'body');
      checkSlugs(Object.keys(data.topics));
      for (const [slug, entry] of Object.entries(data.topics)) {
        if (entry.error === undefined) checkResult(topicOf(slug as TopicSlug), entry, context);
        else
          expect(
            entry.error === UNAVAILABLE,
            `${slug}: error is "${entry.error}", not "${UNAVAILABLE}"`,
          );
      }
    },
  };
}

/** An older measurement is not current; services differ in hours, not in weeks. */
const CURRENT_MS = 7 * 24 * 3_600_000;

/** The times of the pollutants in an answer, alone or in a bundle. Answers of another shape break other statements. */
function measurementsIn({ reply: { body }, at }: CheckedExchange) {
  const single = singleEnvelope.safeParse(body).data;
  const bundle = bundleEnvelope.safeParse(body).data;
  const results =
    single === undefined
      ? (bundle?.data.topics ?? {})
      : { [single.data.topic]: single.data.result };
  const isSample = (single ?? bundle)?.meta.sample_data === true;
  return POLLUTANTS.flatMap((slug) => {
    const timestamp = (results[slug] as { value?: { timestamp?: unknown } | null } | undefined)
      ?.value?.timestamp;
    return typeof timestamp === 'string' ? [{ slug, timestamp, at, isSample }] : [];
  });
}

function radonDescriptions(body: unknown): unknown[] {
  const { topic, result, topics } = partOf(body, 'data');
  const radon =
    topic === 'radon' ? result : (topics as { radon?: unknown } | null | undefined)?.radon;
  const description = (radon as { value?: { description?: unknown } | null } | null | undefined)
    ?.value?.description;
  return description === undefined ? [] : [description];
}

function wrongKey(statement: string, key: string | null): Statement {
  return {
    numbers: ['2.5', '5.3', '6.1'],
    statement,
    async check({ ask }) {
      const { status } = await ask(DROUGHT, { key });
      expect(status === 401, `the status is ${status}, not 401`);
    },
  };
}

/** A statement on calls with the key that lacks scopes. */
function narrowKey(
  statement: string,
  calls: readonly Call[],
  checkStatuses: (statuses: readonly number[]) => void,
): Statement {
  return {
    numbers: ['5.2', '5.4', '6.2'],
    statement,
    needsNarrowKey: true,
    atRisk: calls.reduce((sum, { kind }) => sum + CREDITS[kind], 0),
    async check({ ask, narrowKey: key }) {
      if (key === undefined) {
        throw new NotChecked('it needs a key with the scope of one topic only (--narrow-key-file)');
      }
      const statuses: number[] = [];
      for (const call of calls) statuses.push((await ask(call, { key })).status);
      checkStatuses(statuses);
    },
  };
}

/** A statement that a wrong request is refused; `change` makes a single call wrong. */
function refused(
  numbers: readonly string[],
  statement: string,
  change: (path: string) => Partial<CheckRequest>,
): Statement {
  return {
    numbers,
    statement,
    atRisk: CREDITS.single,
    async check({ ask, location: { lat, lng } }) {
      const { status } = await ask(DROUGHT, change(formatPath(DROUGHT, lat, lng)));
      if (status === 429) throw new NotChecked('the quota or the minute is used up (429)');
      expect(status >= 400 && status < 500, `the status is ${status}, not one of 4xx`);
    },
  };
}

function unchecked(numbers: readonly string[], statement: string, reason: string): Statement {
  const check = () => {
    throw new NotChecked(reason);
  };
  return { numbers, statement, check };
}
