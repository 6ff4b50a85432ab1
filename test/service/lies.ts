import type { TopicSlug } from '../../src/contract/topics.ts';
import type { StillClock } from './small-data.ts';

/** A reply of our own service, which a lie changes. */
export interface TrueReply {
  readonly method: string;
  readonly path: string;
  /** The single call's topic; null for a bundle and for a topic that does not exist. */
  readonly topic: string | null;
  readonly bundle: 'standard' | 'enterprise' | null;
  readonly key: 'full' | 'narrow' | 'malformed' | 'empty' | 'missing';
  /** How many successes came before this reply. */
  readonly successes: number;
  status: number;
  readonly headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: lies change any part of a body
  body: any;
  /** The true reply to a call with the full key. */
  readonly replyTo: (path: string) => Pick<TrueReply, 'status' | 'headers' | 'body'>;
  /** The clock of the check. */
  readonly clock: StillClock;
}

/** What a service that answers otherwise than ours does to a reply. */
export type Tell = (reply: TrueReply) => void;
/** What differs, by path (`additionalInfo.maxAqi`), undefined where it is left out; or a function that returns this, or changes the part. */
// biome-ignore lint/suspicious/noExplicitAny: lies change any part of a body
type Change = Readonly<Record<string, unknown>> | ((part: any) => unknown);
function apply(change: Change, part: object): void {
  const changes = typeof change === 'function' ? change(part) : change;
  for (const [path, value] of Object.entries(changes ?? {})) {
    const names = path.split('.');
    const last = names.pop()!;
    const owner = names.reduce((inner, name) => Reflect.get(inner, name), part);
    if (value === undefined) Reflect.deleteProperty(owner, last);
    else Reflect.set(owner, last, value);
  }
}

const SITES = '/v1/park/risk?lat=40.25&lng=-99.75';
const isSuccess = ({ status }: TrueReply) => status === 200;
/** Changes the replies for which the condition holds. */
const where =
  (holds: (reply: TrueReply) => boolean, change: Change): Tell =>
  (reply) => {
    if (holds(reply)) apply(change, reply);
  };
const success = (change: Change) => where(isSuccess, change);
const refusal = (change: Change) => where((reply) => !isSuccess(reply), change);
const single = (topic: TopicSlug, change: Change) =>
  where((reply) => isSuccess(reply) && reply.topic === topic, change);
const bundle = (kind: TrueReply['bundle'], change: Change) =>
  where((reply) => isSuccess(reply) && reply.bundle === kind, change);
const wrongKey = (key: TrueReply['key'], change: Change) =>
  where((reply) => reply.key === key, change);
const wrongRequest = (part: string | RegExp, change: Change) =>
  where(
    (reply) => !isSuccess(reply) && reply.key === 'full' && reply.path.search(part) >= 0,
    change,
  );
const resultOf = (topic: TopicSlug, change: Change) =>
  single(topic, ({ body }) => apply(change, body.data.result));
const valueIn = (topic: TopicSlug, change: Change) =>
  resultOf(topic, ({ value }) => apply(change, value));
const parksOf = (change: Change) =>
  resultOf('park', ({ details }) => {
    for (const feature of details.features) apply(change, feature);
  });
const topicsOf = (kind: TrueReply['bundle'], change: Change) =>
  bundle(kind, ({ body }) => apply(change, body.data.topics));
const header = (name: string, text: string) => success({ [`headers.${name}`]: text });
const meta = (change: Change) => success(({ body }) => apply(change, body.meta));
const resolved = (change: Change) => success(({ body }) => apply(change, body.data.location));
const remaining = (of: (left: number, reply: TrueReply) => number) =>
  success(({ headers, ...reply }: TrueReply) => {
    const left = of(Number(headers['x-ratelimit-remaining']), { headers, ...reply });
    headers['x-ratelimit-remaining'] = String(left);
  });
const costOf = ({ headers }: TrueReply) => Number(headers['x-credit-cost']);
/** Answers what must be refused. */
const answer = (reply: TrueReply) => {
  const { status, headers, body } = reply.replyTo(SITES);
  Object.assign(reply, { status, body });
  Object.assign(reply.headers, headers);
};

/** Lies that a service can tell, each after the statement of docs/developer/service-api.md that a failed check must name. */
export const LIES: Readonly<Record<string, Tell>> = {
  // 2: calls, charges, rate headers
  '2.1 a topic is answered with 201': single('drought', { status: 201 }),
  '2.1 a topic is redirected': single('hail', { status: 302, body: null }),
  '2.1 a single call costs 2': single('tsunami', {
    'headers.x-credit-cost': '2',
    'body.meta.credit_cost': 2,
  }),
  '2.3 an enterprise bundle lacks a topic': topicsOf('enterprise', { radon: undefined }),
  '2.3 an enterprise bundle has a topic too many': topicsOf('enterprise', ({ hail }) => ({
    flood: hail,
  })),
  '2.9 a standard bundle has a topic that is not natural': topicsOf('standard', ({ hail }) => ({
    park: hail,
  })),
  '2.9 a standard bundle lacks hail': topicsOf('standard', { hail: undefined }),
  '2.6 X-Credit-Cost differs from the body': single('tsunami', { 'headers.x-credit-cost': '2' }),
  '2.6 X-RateLimit-Reset is missing': single('volcano', { 'headers.x-ratelimit-reset': undefined }),
  '2.6 X-RateLimit-Reset is a year away': header(
    'x-ratelimit-reset',
    String(Date.UTC(2027, 2, 15) / 1_000),
  ),
  '2.6 X-RateLimit-Reset is ten years away': header(
    'x-ratelimit-reset',
    String(Date.UTC(2036, 2, 15) / 1_000),
  ),
  '2.6 X-RateLimit-Limit changes from call to call': success((reply) => {
    reply.headers['x-ratelimit-limit'] = String(1_200 + reply.successes);
  }),
  '2.6 X-RateLimit-Remaining counts requests': remaining((_, { successes }) => 1_199 - successes),
  '2.6 X-RateLimit-Remaining is what was used': remaining((left) => 1_200 - left),
  // 1 and 3: bodies
  '1.5 a body says that it is HTML': single('park', { 'headers.content-type': 'text/html' }),
  '1.5 a refusal is a page of HTML': refusal({ body: null }),
  '3.1 another topic is answered': single('tornado', { 'body.data.topic': 'hail' }),
  '3.1 details are left out': resultOf('drought', { details: undefined }),
  '3.1 a single call has failed and is charged': resultOf('drought', { error: 'unavailable' }),
  '3.2 the topics of a bundle are a list': bundle('standard', ({ body }) => ({
    'body.data.topics': Object.values(body.data.topics),
  })),
  '3.2 a failed topic has another error': topicsOf('enterprise', { hail: { error: 'timeout' } }),
  '3.3 the body says that a success is free': meta({ credit_cost: 0 }),
  '3.3 a request id is no UUID': meta({ request_id: 'one' }),
  '3.3 all requests have the same id': meta({ request_id: 'f7a3c7f0-9d3c-4a56-8f6e-0c9f5a3a4a01' }),
  '3.3 refusals have the id of a success': refusal(({ replyTo }) => ({
    'body.meta.request_id': replyTo(SITES).body.meta.request_id,
  })),
  '3.3 the time of the answer is local time called UTC': meta(({ timestamp }) => ({
    timestamp: timestamp.replace('T12', 'T07'),
  })),
  '3.5 a bundle costs less where a topic failed': bundle('standard', {
    'body.data.topics.hail': { error: 'unavailable' },
    'headers.x-credit-cost': '14',
    'body.meta.credit_cost': 14,
  }),
  '3.7 lat and lng are exchanged': resolved(({ lat, lng }) => ({ lat: lng, lng: lat })),
  '3.7 a bundle is of the place next door': bundle('standard', { 'body.data.location.lat': 40.35 }),
  '3.8 a bundle rates otherwise than the single call': topicsOf('standard', {
    'drought.value.rating': 'Very Low',
  }),
  '3.8 a bundle has another concentration of the same hour': topicsOf('enterprise', {
    'ozone.value.measurement.value': 99,
  }),
  // 4: values
  '4.1 a rating is none of the eight': valueIn('drought', { rating: 'High' }),
  '4.1 a rated hazard has no score': valueIn('drought', { score: null }),
  '4.1 a rated hazard has no frequency': valueIn('hail', { frequency: null }),
  '3.4 a title in a bundle is empty': topicsOf('enterprise', { 'hail.value.title': '' }),
  '4.1 a hazard happens less than never': valueIn('drought', { frequency: -2 }),
  '4.1 a title is empty': valueIn('drought', { title: '' }),
  '4.4 reports of hail are null': resultOf('hail', { details: null }),
  '4.4 reports of tornadoes are a list of nulls': resultOf('tornado', { details: [null, null] }),
  '4.4 earthquakes are a list': resultOf('earthquake', ({ details }) => ({
    details: details.features,
  })),
  '4.4 fires lack their perimeters': resultOf('wildfire', { 'details.perimeters': undefined }),
  '4.4 fires are null': resultOf('wildfire', { details: null }),
  '4.5 sites are a list': resultOf('park', ({ details }) => ({ details: details.features })),
  '4.5 features are of no type': parksOf({ type: 'Site' }),
  '4.5 a count is negative': resultOf('park', { value: -1 }),
  '4.5 a count is larger than its features': resultOf('park', { value: 7 }),
  '4.5 features have no geometry': parksOf({ geometry: null }),
  '4.5 sites are on the other side of the country': parksOf({
    'geometry.coordinates': [-73.98, 40.75],
  }),
  '4.6 a year has more good days than days': valueIn('airQuality', {
    'additionalInfo.goodDays': 366,
  }),
  '4.6 a year has fewer good days than none': valueIn('airQuality', {
    'additionalInfo.goodDays': -1,
  }),
  '4.6 the good days are null': valueIn('airQuality', { 'additionalInfo.goodDays': null }),
  '4.6 a year has 3,650 days': valueIn('airQuality', { 'additionalInfo.daysWithAqi': 3_650 }),
  '4.6 the median exceeds the maximum': valueIn('airQuality', { 'additionalInfo.medianAqi': 300 }),
  '4.7 a concentration is in ppb': valueIn('ozone', { 'measurement.unit': 'ppb' }),
  '4.7 a concentration is null': valueIn('pm10', { 'measurement.value': null }),
  '4.7 air is measured next year': valueIn('ozone', { timestamp: '2027-03-15T11:00:00.000Z' }),
  '4.7 air was measured years ago': valueIn('ozone', { timestamp: '2019-03-15T11:00:00.000Z' }),
  '4.8 radon is described otherwise elsewhere': single('radon', (reply) => {
    if (!reply.path.includes('lat=40.25')) reply.body.data.result.value.description += ' Here too.';
  }),
  '4.9 radon has details': resultOf('radon', { details: {} }),

  // 5 and 6: keys, refusals
  '5.3 a missing key is 403': wrongKey('missing', { status: 403 }),
  '5.3 a malformed key is 404': wrongKey('malformed', { status: 404 }),
  '5.3 one topic refuses the key that all others accept': single('hail', { status: 401, body: {} }),
  '5.4 a key of one topic buys bundles': wrongKey('narrow', (reply) => {
    if (reply.bundle !== null) answer(reply);
  }),
  '5.2 a key of one topic buys all topics': wrongKey('narrow', (reply) => {
    if (reply.topic !== null) answer(reply);
  }),
  '6.6 a refusal costs a credit': refusal({ 'body.meta.credit_cost': 1 }),
  '6.6 a refusal has X-Credit-Cost: 1': refusal({ 'headers.x-credit-cost': '1' }),
  '6.6 a failed topic costs a credit': single('hail', {
    status: 502,
    body: { meta: { credit_cost: 1 } },
  }),
  '6.8 a topic that does not exist is answered': wrongRequest('noSuchTopic', answer),
  '2.4 a latitude that is a word is a failure': wrongRequest('lat=north', { status: 500 }),
  '2.4 a latitude that is a word is answered': wrongRequest('lat=north', answer),
  '2.8 a location at sea is answered': wrongRequest('lat=30&', answer),
  '2.11 a POST is answered': (reply) => {
    if (reply.method === 'POST') answer(reply);
  },
};

/** Services that keep the contract in another way than ours. */
export const ALLOWED: Readonly<Record<string, Tell>> = {
  'credits come back evenly, and calls take half a second': (reply) => {
    reply.clock.at += 500;
    remaining((left, { successes }) => Math.min(1_200 - costOf(reply), left + 10 * successes))(
      reply,
    );
  },
  'credits come back all at once after the 38th call': remaining((left, { successes }) =>
    successes < 38 ? left : left + 52,
  ),
  'each call takes a minute': (reply) => {
    reply.clock.at += 60_000;
    reply.body.meta.timestamp = new Date(reply.clock.at).toISOString();
    remaining(() => 1_200 - costOf(reply))(reply);
  },
  'other clients spend too': remaining((left, { successes }) => left - 3 * successes),
  'X-RateLimit-Reset in epoch seconds': header(
    'x-ratelimit-reset',
    String(Date.UTC(2026, 2, 15, 12, 1) / 1_000),
  ),
  'the standard bundle lacks avalanche': topicsOf('standard', { avalanche: undefined }),
  'measurements are old where the data is said to be made up': success((reply: TrueReply) => {
    valueIn('pm25', { timestamp: '1999-03-15T11:00:00.000Z' })(reply);
    reply.body.meta.sample_data = true;
  }),
  'a topic fails in a bundle': topicsOf('enterprise', { hail: { error: 'unavailable', value: 0 } }),
  'a hazard without a score': success(({ topic, body: { data } }) => {
    const tsunami = topic === 'tsunami' ? data.result : data.topics?.tsunami;
    if (tsunami) apply({ rating: 'Not Applicable', score: null, frequency: null }, tsunami.value);
  }),
  'a pollutant is measured anew between two calls': topicsOf('enterprise', {
    'ozone.value.timestamp': '2026-03-15T12:00:00Z',
    'ozone.value.measurement.value': 13,
  }),
  'there is no fire': resultOf('wildfire', { details: {} }),
  'a count comes without its features': resultOf('park', { 'details.features': [] }),
  'a POST and a topic that fails are pages of a proxy': where(
    ({ method, topic }) => method === 'POST' || topic === 'hail',
    (reply) => {
      if (reply.method === 'GET') reply.status = 502;
      apply(
        { body: null, 'headers.x-credit-cost': undefined, 'headers.content-type': 'text/html' },
        reply,
      );
    },
  ),
  'errors are of another shape': refusal((reply) => {
    reply.body = { code: 'NO' };
    reply.headers['content-type'] = 'application/problem+json';
  }),
};
