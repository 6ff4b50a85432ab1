import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Verdict } from '../../src/client/verdict.ts';
import type { Call } from '../../src/contract/credits.ts';
import { fc } from '../properties.ts';
import { findVerdict, NOW, PLACE, received, STANDARD, WILDFIRE } from './answers.ts';

/** How providers say that a request comes too early, or that a quota is used up: status, body, headers, and what it is. */
const SAID: readonly (readonly [
  provider: string,
  status: number,
  body: unknown,
  kind: Verdict['kind'],
  headers?: Readonly<Record<string, string>>,
])[] = [
  ['contract', 429, { error: { code: 'QUOTA_EXCEEDED' } }, 'quota'],
  ['contract', 429, { code: 'QUOTA_EXCEEDED', message: 'Monthly quota exceeded' }, 'quota'],
  ['contract', 429, { error: { code: 'RATE_LIMITED' } }, 'rate', { 'retry-after': '9' }],
  ['contract', 429, '', 'rate'],
  // A code that only contains the contract's.
  [
    'gateway',
    429,
    { error: { code: 'token_quota_exceeded', message: 'Tokens per minute limit exceeded' } },
    'rate',
    { 'retry-after': '2' },
  ],
  ['gateway', 429, { code: 'QUOTA_EXCEEDED', message: 'Quota per minute exceeded' }, 'rate'],
  ['gateway', 429, { code: 'QUOTA_EXCEEDED', message: 'Daily quota exceeded' }, 'limit'],
  ['gateway', 429, { code: 'token_quota_exceeded' }, 'limit'],
  ['gateway', 403, { message: 'over rate limit' }, 'rate'],
  ['gateway', 403, { message: 'Too many concurrent requests' }, 'rate'],
  [
    'Google',
    429,
    {
      error: {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        message:
          "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service 'x.example'",
        details: [{ reason: 'RATE_LIMIT_EXCEEDED' }],
      },
    },
    'rate',
  ],
  [
    'Google',
    429,
    { error: { message: "Quota exceeded for quota metric 'Queries' and limit 'Queries per day'" } },
    'limit',
  ],
  [
    'Google',
    429,
    { error: { message: 'Resource has been exhausted (e.g. check quota).' } },
    'rate',
  ],
  [
    'Google',
    403,
    {
      error: {
        code: 403,
        errors: [{ domain: 'usageLimits', reason: 'userRateLimitExceeded' }],
        message: 'User Rate Limit Exceeded',
      },
    },
    'rate',
  ],
  [
    'Google',
    403,
    { error: { errors: [{ reason: 'rateLimitExceeded' }], message: 'Limit exceeded' } },
    'rate',
  ],
  [
    'Google',
    403,
    { error: { errors: [{ reason: 'dailyLimitExceeded' }], message: 'Daily Limit Exceeded' } },
    'limit',
  ],
  [
    'Google',
    403,
    {
      error: {
        errors: [{ reason: 'quotaExceeded' }],
        message: 'You have exceeded your <a href="https://h.example/per-minute">quota</a>.',
      },
    },
    'limit',
  ],
  ['Google Maps', 200, { status: 'OVER_QUERY_LIMIT', results: [] }, 'limit'],
  [
    'Google Maps',
    200,
    { status: 'OVER_DAILY_LIMIT', error_message: 'You have exceeded your daily quota' },
    'limit',
  ],
  ['AWS', 400, { __type: 'ThrottlingException', message: 'Rate exceeded' }, 'rate'],
  ['AWS', 400, { __type: 'ProvisionedThroughputExceededException' }, 'rate'],
  ['AWS', 400, { code: 'RequestLimitExceeded', message: 'Request limit exceeded.' }, 'rate'],
  ['AWS', 429, { message: 'Too Many Requests' }, 'rate'],
  ['AWS', 429, { code: 'TooManyRequestsException', message: null }, 'rate'],
  ['AWS', 429, { message: 'Limit Exceeded' }, 'limit'],
  ['AWS', 402, { code: 'ServiceQuotaExceededException', message: 'Quota exceeded' }, 'limit'],
  ['AWS', 503, '<Error><Code>SlowDown</Code><Message>Slow down</Message></Error>', 'upstream'],
  [
    'Azure',
    429,
    { statusCode: 429, message: 'Rate limit is exceeded. Try again in 12 seconds.' },
    'rate',
    { 'retry-after': '12' },
  ],
  [
    'Azure',
    403,
    { message: 'Out of call volume quota. Quota will be replenished in 11.22:33:44.' },
    'limit',
  ],
  [
    'Azure OpenAI',
    429,
    {
      error: {
        code: '429',
        message:
          'Requests to the Completions operation have exceeded token rate limit of your current S0 pricing tier. Please retry after 7 seconds.',
      },
    },
    'rate',
    { 'x-ms-retry-after-ms': '6800' },
  ],
  [
    'OpenAI',
    429,
    {
      error: {
        code: 'rate_limit_exceeded',
        message:
          'Rate limit reached for gpt in organization o on requests per min (RPM): Limit 3, Used 3. Please try again in 20s.',
      },
    },
    'rate',
    { 'retry-after-ms': '20000' },
  ],
  [
    'OpenAI',
    429,
    {
      error: {
        code: 'insufficient_quota',
        message:
          'You exceeded your current quota, please check your plan and billing details. For more information: https://h.example/docs/rate-limits.',
      },
    },
    'limit',
  ],
  [
    'OpenAI',
    429,
    { error: { message: 'Rate limit reached on requests per day (RPD): Limit 200, Used 200.' } },
    'limit',
  ],
  ['Mapbox', 429, { message: 'Too Many Requests' }, 'rate', { 'x-rate-limit-limit': '600' }],
  ['Mapbox', 429, { message: 'Rate limit exceeded' }, 'rate'],
  ['HERE', 429, { error: 'Too Many Requests', error_description: 'Rate limit reached' }, 'rate'],
  ['HERE', 403, { title: 'Forbidden', cause: 'Your plan limit was reached this month' }, 'limit'],
  [
    'Geocodio',
    403,
    { error: "You can't make this request as it is above your daily maximum. Configure billing." },
    'limit',
  ],
  ['Geocodio', 429, { error: 'Too many requests. Please slow down.' }, 'rate'],
  [
    'OpenCage',
    402,
    { status: { code: 402, message: 'quota exceeded' }, rate: { limit: 2500 } },
    'limit',
  ],
  ['OpenCage', 429, { status: { code: 429, message: 'too many requests' } }, 'rate'],
  [
    'Stripe',
    429,
    {
      error: {
        code: 'rate_limit',
        message: 'Request rate limit exceeded. Learn more at https://h.example/docs/limits',
      },
    },
    'rate',
  ],
  ['Stripe', 429, { error: { code: 'lock_timeout', message: 'Try again later.' } }, 'rate'],
  ['anyone', 403, { message: 'Rate limit: 2,500 requests per day exceeded' }, 'limit'],
  ['anyone', 403, { message: 'Limit of 1 request/sec exceeded' }, 'rate'],
  ['anyone', 403, { message: 'API calls limit: 10 per 1 minute' }, 'rate'],
  ['anyone', 403, { message: 'Plan limit: 5 rps' }, 'rate'],
  ['anyone', 403, { message: 'Burst limit exceeded' }, 'rate'],
  ['anyone', 403, { message: 'Limit of 2,500 requests/day exceeded' }, 'limit'],
  ['anyone', 403, { message: '60 requests per minute, 1,000 per day: limit exceeded' }, 'rate'],
  // Not about what is used up.
  ['anyone', 403, { message: 'no quota for this scope' }, 'forbidden'],
  ['anyone', 403, { message: 'See https://h.example/quota-exceeded' }, 'forbidden'],
  ['anyone', 403, { message: 'Trop de requêtes' }, 'forbidden'],
  ['anyone', 402, { message: 'The card of account 7 expired.' }, 'denied'],
  ['anyone', 404, { message: 'Rate limit exceeded' }, 'unexplained'],
];

test('how providers say that a rate is exceeded or a quota used up', () => {
  for (const [provider, status, body, kind, headers = {}] of SAID) {
    const verdict = findVerdict(received(status, body, headers), WILDFIRE, PLACE, NOW);
    assert.equal(verdict.kind, kind, `${provider} ${status} ${JSON.stringify(body)}`);
  }
});

test('only the code for it, or words that name the scope or the topic, are a lost scope', () => {
  for (const [body, isNamed, call = WILDFIRE] of [
    [{ error: { code: 'SCOPE_REQUIRED' } }, true],
    [{ error: { code: 'ScopeRequired', message: 'No.' } }, true],
    [{ error: { message: 'Your key lacks the scope' } }, true],
    [{ error: { message: 'missing scopes' } }, true],
    [{ error: { message: 'insufficient_scope' } }, true],
    [{ message: 'wildfire is not part of your plan' }, true],
    [{ message: 'hail is not part of your plan' }, false],
    [
      { message: 'EV Charging Stations: not allowed' },
      true,
      { kind: 'single', topic: 'alternativeFuels' },
    ],
    [{ message: 'coastal-flood: no' }, true, { kind: 'single', topic: 'coastalFlood' }],
    [{ message: 'No access to bundles' }, true, STANDARD],
    [{ message: 'The standard endpoint is not enabled' }, true, STANDARD],
    [{ message: 'Access denied' }, false],
    [{ message: 'Trop de requêtes, réessayez' }, false],
    [{ message: 'Límite de velocidad superado' }, false],
    ['', false],
    ['<!doctype html><title>wildfire: no scope</title>', false],
    ['\n  <html>scope', false],
    ['the scope is < 3', true],
  ] as readonly (readonly [unknown, boolean, Call?])[]) {
    const verdict = findVerdict(received(403, body), call, PLACE, NOW);
    assert.ok(verdict.kind === 'forbidden', JSON.stringify(body));
    assert.equal(verdict.isScopeNamed, isNamed, JSON.stringify(body));
    assert.equal(verdict.message.startsWith('The key lacks the scope'), isNamed);
  }
});

test('a refusal that names a time to wait is one that passes, whatever else it says', () => {
  const passing = new Set<Verdict['kind']>(['rate', 'upstream', 'limit', 'quota']);
  const bodies = [
    '',
    { code: 'SCOPE_REQUIRED', message: 'The key lacks the scope' },
    { code: 'OUTSIDE_COVERAGE' },
    { code: 'NO_DATA' },
    { message: 'Trop de requêtes' },
  ];
  for (let status = 400; status < 600; status++) {
    for (const body of bodies) {
      for (const name of ['retry-after', 'retry-after-ms', 'x-ms-retry-after-ms']) {
        const verdict = findVerdict(received(status, body, { [name]: '2' }), WILDFIRE, PLACE, NOW);
        assert.ok(passing.has(verdict.kind), `${status} ${JSON.stringify(body)}: ${verdict.kind}`);
        assert.ok(verdict.rate.retryAfterMs! >= 1_000);
      }
    }
  }
  // What concerns the account makes all calls wait; what concerns a place, this one.
  for (const [status, kind] of [
    [401, 'rate'],
    [402, 'rate'],
    [403, 'rate'],
    [404, 'upstream'],
    [422, 'upstream'],
    [451, 'rate'],
  ] as const)
    assert.equal(
      findVerdict(received(status, '', { 'retry-after': '2' }), WILDFIRE, PLACE, NOW).kind,
      kind,
    );
});

test('a period that is named decides, whatever the words for the quota and the status', () => {
  const noun = fc.constantFrom('quota', 'limit', 'rate limit', 'request quota', 'credit allowance');
  const verb = fc.constantFrom('exceeded', 'reached', 'exhausted');
  const status = fc.constantFrom(402, 403, 429);
  const short = fc.constantFrom('per minute', 'per second', 'per-minute', 'each minute');
  const long = fc.constantFrom('per day', 'daily', 'this month', 'monthly', 'per hour', 'per_day');
  const isKind =
    (expected: Verdict['kind']) => (code: number, what: string, period: string, done: string) => {
      for (const message of [`${period} ${what} ${done}`, `${what} ${done} ${period}`]) {
        const verdict = findVerdict(received(code, { message }), WILDFIRE, PLACE, NOW);
        assert.equal(verdict.kind, expected, `${code} ${message}`);
      }
    };
  fc.assert(fc.property(status, noun, short, verb, isKind('rate')));
  fc.assert(fc.property(status, noun, long, verb, isKind('limit')));
});

test('any words end in time, and as one of the kinds', () => {
  const word = fc.constantFrom(
    'over',
    'limit',
    'exceeded',
    'quota',
    'no',
    'a',
    'credits',
    'out of',
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 800 }), (words) => {
      const verdict = findVerdict(received(403, words.join(' ')), WILDFIRE, PLACE, NOW);
      assert.ok(['forbidden', 'rate', 'limit'].includes(verdict.kind));
    }),
  );
});
