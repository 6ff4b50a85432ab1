import { PAGE, status } from './edits.ts';
import { type FaultCase, fault, unasked } from './fault-case.ts';
import type { Passage } from './fault-proxy.ts';

/** A redirect of every kind, to a server that must never be asked. */
const redirect = (code: number) => (passage: Passage) =>
  passage.answer({
    status: code,
    headers: { location: `${passage.elsewhere}${passage.path}` },
    body: Buffer.alloc(0),
  });

const inSeconds = (seconds: number) => (passage: Passage) => {
  const at = new Date(passage.clock.now() + seconds * 1_000).toUTCString();
  status(429, { error: { code: 'RATE_LIMITED' } }, { 'retry-after': at })(passage);
};

const YEAR_S = 365 * 86_400;

const RATE = unasked(
  'rate',
  [
    ['429', status(429)],
    ['429 and nothing else', status(429, '')],
    ['429 with a page', status(429, PAGE)],
    ['429 with a code', status(429, { error: { code: 'RATE_LIMITED' } })],
    ['429, Retry-After 0', status(429, {}, { 'retry-after': '0' })],
    ['429, Retry-After 2', status(429, {}, { 'retry-after': '2' })],
    ['429, Retry-After in words', status(429, {}, { 'retry-after': 'soon' })],
    ['429, Retry-After below zero', status(429, {}, { 'retry-after': '-5' })],
    ['429, Retry-After a date in three seconds', inSeconds(3)],
    ['429, Retry-After a date gone by', inSeconds(-3_600)],
    ['420 with a code', status(420, { error: { code: 'ENHANCE_YOUR_CALM' } })],
  ],
  { alone: true },
);

const PAUSES = unasked(
  'asked',
  [
    ['429, Retry-After a year', status(429, {}, { 'retry-after': String(YEAR_S) })],
    ['429, Retry-After the date of a year ahead', inSeconds(YEAR_S)],
    ['429, Retry-After 30,000 years', status(429, {}, { 'retry-after': '999999999999' })],
    ['503, Retry-After a year', status(503, {}, { 'retry-after': String(YEAR_S) })],
  ],
  { alone: true },
);

const FAILURES = unasked('upstream', [
  ['a storm of 502', status(502, { error: { code: 'UPSTREAM_UNAVAILABLE' } })],
  ['502 with a page', status(502, PAGE)],
  ['500', status(500)],
  ['503, Retry-After 1', status(503, {}, { 'retry-after': '1' })],
  ['504', status(504, '')],
  ['599', status(599, 'no')],
  ['408', status(408, '')],
  ['418 with a page', status(418, PAGE)],
  ['409 with a code', status(409, { error: { code: 'CONFLICT' } })],
  ['423 with a code', status(423, { error: { code: 'LOCKED' } })],
]);

const REFUSALS: readonly FaultCase[] = [
  fault('429 QUOTA_EXCEEDED', 'quota', 'free', status(429, { error: { code: 'QUOTA_EXCEEDED' } }), {
    believed: 'quota',
    alone: true,
  }),
  fault('401', 'keys', 'free', status(401), { alone: true }),
  fault('401 with a page', 'keys', 'free', status(401, PAGE), { alone: true }),
  fault('403', 'scope', 'free', status(403, { error: { code: 'SCOPE_REQUIRED' } }), { believed: 'scope', alone: true }),
  fault('403 with a page', 'scope', 'free', status(403, PAGE), { alone: true }),
  ...[400, 404].map((code) => fault(`${code} with a page`, 'unexplained', 'free', status(code, PAGE))),
  fault('404 with a code', 'unexplained', 'free', status(404, { error: { code: 'NOT_FOUND' } })),
  fault('422 with a code of no location', 'unexplained', 'free', status(422, { error: { code: 'VALIDATION_ERROR' } })),
  fault('402 with a code', 'denied', 'free', status(402, { error: { code: 'PAYMENT_REQUIRED' } }), { alone: true }),
  fault('407 with a page', 'denied', 'free', status(407, PAGE), { alone: true }),
  fault('451 with a page', 'denied', 'free', status(451, PAGE), { alone: true }),
  fault('422 with a code', 'rejected', 'free', status(422, { error: { code: 'OUTSIDE_COVERAGE' } }), {
    believed: 'place',
    alone: true,
  }),
  ...[300, 301, 302, 303, 304, 307, 308].map((code) =>
    fault(`${code} to another host`, 'misdirected', 'free', redirect(code), { alone: true }),
  ),
  fault('302 to itself', 'misdirected', 'free', (passage) => status(302, '', { location: passage.path })(passage), {
    alone: true,
  }),
  fault('302 to nowhere', 'misdirected', 'free', status(302), { alone: true }),
];

/** The service is never asked. */
export const REFUSED: readonly FaultCase[] = [...RATE, ...PAUSES, ...FAILURES, ...REFUSALS];
