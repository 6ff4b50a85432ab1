import { isDeepStrictEqual } from 'node:util';
import { counted } from '../../base/format-numbers.ts';
import { CREDITS, formatPath } from '../../contract/credits.ts';
import {
  bundleEnvelope,
  location as locationShape,
  singleEnvelope,
} from '../../contract/envelopes.ts';
import { count, HEADERS, resetMs } from '../../contract/headers.ts';
import { RATE_WINDOW_MS } from '../../contract/subscriptions.ts';
import { distanceMeters } from '../../geo/coordinates.ts';
import {
  type CheckContext,
  type CheckedExchange,
  type CheckRequest,
  expect,
  expectShape,
  NotChecked,
  nameInReason,
  partOf,
  type Statement,
} from './statement.ts';
import { CLOCKS_APART_MS } from './topic-results.ts';

/** How far the resolved location may lie from the one asked, in metres (docs/developer/service-api.md, 3.7). */
const RESOLVED_METERS = 1_000;

/** Statements on all replies to the requests of the other statements. They need no further calls. */
export const CALL_STATEMENTS: readonly Statement[] = [
  ofSuccesses(
    ['2.1', '2.2', '2.3', '2.6', '3.3', '3.5'],
    'Every success costs its price, 1, 15 or 35 credits, in X-Credit-Cost and in meta.credit_cost, whatever topics failed',
    ({ request: { call }, reply }) => {
      const price = CREDITS[call.kind];
      const { credit_cost: cost } = partOf(reply.body, 'meta');
      expect(cost === price, `meta.credit_cost is ${cost}, not ${price}`);
      const header = reply.headers[HEADERS.creditCost];
      expect(header === String(price), `X-Credit-Cost is ${header ?? 'missing'}, not ${price}`);
    },
  ),
  ofSuccesses(
    ['2.6'],
    'Every success carries X-RateLimit-Limit, -Remaining and -Reset as integers, and the limit less its price remains at most',
    ({ request: { call }, reply: { headers }, at }, [first]) => {
      for (const name of [HEADERS.rateLimit, HEADERS.rateRemaining, HEADERS.rateReset]) {
        expect(count(headers[name]) !== null, `${name} is ${headers[name] ?? 'missing'}`);
      }
      const [limit, remaining] = [headers[HEADERS.rateLimit], headers[HEADERS.rateRemaining]].map(
        Number,
      );
      const before = first!.reply.headers[HEADERS.rateLimit];
      expect(Number(before) === limit, `the limit is ${limit}, and was ${before} before`);
      const price = CREDITS[call.kind];
      const words = `${counted(remaining!, 'credit')} of ${limit} remain after a call of ${price}`;
      expect(remaining! <= limit! - price, words);
      const reset = resetMs(headers[HEADERS.rateReset], at);
      const away = reset === null ? 'more than a year' : `${Math.round(reset / 60_000)} minutes`;
      const isSoon = reset !== null && reset <= RATE_WINDOW_MS + CLOCKS_APART_MS;
      expect(isSoon, `X-RateLimit-Reset is ${headers[HEADERS.rateReset]}: ${away} from now`);
    },
  ),
  {
    numbers: ['2.6'],
    statement: 'X-RateLimit-Remaining falls by the credits of each call',
    check: checkRemaining,
  },
  ofReplies(
    ['1.5'],
    'Bodies are JSON and say so',
    ({ request, reply: { status, headers, body } }) => {
      // No endpoint accepts POST, and a gateway may answer for a service that is down.
      if (request.method === 'POST' || status >= 500) return;
      expect(body !== null, 'the body is not JSON');
      const type = headers['content-type'] ?? 'missing';
      expect(/^application\/([\w.-]+\+)?json *(;|$)/i.test(type), `the content type is ${type}`);
    },
  ),
  ofReplies(['3.3'], 'meta.request_id is another for each request', ({ reply }, all) => {
    const id = partOf(reply.body, 'meta').request_id;
    if (id === undefined) return;
    const others = all.filter((exchange) => exchange.reply !== reply);
    const isOther = others.every(
      (exchange) => partOf(exchange.reply.body, 'meta').request_id !== id,
    );
    expect(isOther, `${id} is that of another`);
  }),
  ofReplies(
    ['3.3'],
    'meta.timestamp is the time of the answer, by the clock of this machine',
    ({ reply, at }) => {
      const { timestamp } = partOf(reply.body, 'meta');
      if (timestamp === undefined) return;
      const apart = Math.abs(Date.parse(String(timestamp)) - at);
      expect(
        apart <= CLOCKS_APART_MS,
        `it is ${timestamp}, and here it is ${new Date(at).toISOString()}`,
      );
    },
  ),
  ofSuccesses(
    ['3.7'],
    'data.location is the location that was asked about',
    ({ request, reply }) => {
      const resolved = expectShape(
        locationShape,
        partOf(reply.body, 'data').location,
        'data.location',
      );
      const meters = distanceMeters(request.location, resolved);
      expect(meters <= RESOLVED_METERS, `it is ${Math.round(meters)} m away`);
    },
  ),
  {
    numbers: ['3.8'],
    statement: 'A topic has the same value in the single call and in both bundles',
    check: checkValuesAgree,
  },
  ofReplies(['6.6'], 'A failure costs nothing', ({ reply: { status, headers, body } }) => {
    if (status === 200) return;
    const { credit_cost: cost = 0 } = partOf(body, 'meta');
    expect(cost === 0, `meta.credit_cost is ${cost}, not 0`);
    const header = headers[HEADERS.creditCost] ?? '0';
    expect(header === '0', `X-Credit-Cost is ${header}`);
  }),
  ofReplies(
    ['5.3'],
    'A key that is accepted once is accepted each time',
    ({ request, reply }, all) => {
      const isAccepted = all.some(
        (exchange) => exchange.request.key === request.key && exchange.reply.status === 200,
      );
      expect(
        reply.status !== 401 || !isAccepted,
        'the status is 401, and another call with this key was answered',
      );
    },
  ),
];

/** The calls with the check's own key that were answered. */
function successesOf({ exchanges, key }: CheckContext): CheckedExchange[] {
  return exchanges.filter(
    ({ request, reply }) => reply.status === 200 && request.key === key && isCall(request),
  );
}

type Look = (exchange: CheckedExchange, all: readonly CheckedExchange[]) => void;

/** A statement that holds if it holds for each call that was answered. */
function ofSuccesses(numbers: readonly string[], statement: string, look: Look): Statement {
  return ofReplies(numbers, statement, look, successesOf);
}

/** A statement that holds if it holds for each reply, or each of the chosen ones. */
function ofReplies(
  numbers: readonly string[],
  statement: string,
  look: Look,
  choose = ({ exchanges }: CheckContext) => exchanges,
): Statement {
  return {
    numbers,
    statement,
    check(context) {
      const chosen = choose(context);
      if (!chosen.some(({ reply: { status } }) => status === 200))
        throw new NotChecked('no call was answered');
      for (const exchange of chosen) nameInReason(nameOf(exchange), () => look(exchange, chosen));
    },
  };
}

/** `tornado`, `standard`; of any other request method and path. */
function nameOf({ request }: CheckedExchange): string {
  const { method, path, call } = request;
  if (!isCall(request)) return `${method} ${path}`;
  return call.kind === 'single' ? call.topic : call.kind;
}

function isCall({ method, path, call, location: { lat, lng } }: CheckRequest): boolean {
  return method === 'GET' && path === formatPath(call, lat, lng);
}

/** Compares each answered call with the one before. The number rises when a new minute begins, and a service may return credits
 * evenly, at most the limit a minute. So a call proves nothing if it costs no more than the credits that may have returned meanwhile. */
function checkRemaining(context: CheckContext): void {
  const calls = successesOf(context);
  let [comparable, fallen] = [0, 0];
  for (const [index, after] of calls.slice(1).entries()) {
    const before = calls[index]!;
    const [limit, from, to] = [
      before.reply.headers[HEADERS.rateLimit],
      before.reply.headers[HEADERS.rateRemaining],
      after.reply.headers[HEADERS.rateRemaining],
    ].map(Number) as [number, number, number];
    const returned = Math.ceil((limit * (after.receivedAt - before.sentAt)) / RATE_WINDOW_MS);
    const price = CREDITS[after.request.call.kind];
    if (price <= returned) continue;
    comparable += 1;
    if (to < from) fallen += 1;
    const isBroken = to <= from && from - to < price - returned;
    expect(
      !isBroken,
      `${nameOf(after)}: ${counted(from, 'credit')} remain before and ${to} after a call of ${price}`,
    );
  }
  if (comparable === 0)
    throw new NotChecked('the calls took so long that their credits may have come back');
  expect(fallen > 0, 'it never falls');
}

function checkValuesAgree(context: CheckContext): void {
  const firsts = new Map<string, { readonly name: string; readonly value: unknown }>();
  for (const exchange of successesOf(context)) {
    if (exchange.request.location !== context.location) continue;
    const name = nameOf(exchange);
    for (const [slug, value] of valuesOf(exchange)) {
      const first = firsts.get(slug);
      if (first === undefined) firsts.set(slug, { name: exchange.request.call.kind, value });
      else if (haveSameTime(first.value, value)) {
        const isSame = isDeepStrictEqual(first.value, value);
        expect(
          isSame,
          `${slug}: the value of the ${first.name} call is another than that of the ${name} bundle`,
        );
      }
    }
  }
  if (firsts.size === 0) throw new NotChecked('no call was answered');
}

/** The values of the topics of an answer; empty if it has another shape. */
function valuesOf({
  request: { call },
  reply: { body },
}: CheckedExchange): [slug: string, value: unknown][] {
  if (call.kind === 'single') {
    const { data, success } = singleEnvelope.safeParse(body);
    return success ? [[data.data.topic, data.data.result.value]] : [];
  }
  const { data, success } = bundleEnvelope.safeParse(body);
  const topics = success ? Object.entries(data.data.topics) : [];
  return topics
    .filter(([, { error }]) => error === undefined)
    .map(([slug, { value }]) => [slug, value]);
}

/** A pollutant may be measured anew between two calls. */
function haveSameTime(a: unknown, b: unknown): boolean {
  const timeOf = (value: unknown) => (value as { timestamp?: unknown } | null)?.timestamp;
  return timeOf(a) === timeOf(b);
}
