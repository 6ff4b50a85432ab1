import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../../src/client/exchange.ts';
import { PLACE_CODES, type StatusKind, statusKind } from '../../src/client/status-kind.ts';
import { isPaidFailure } from '../../src/client/verdict.ts';
import { HEADERS } from '../../src/contract/headers.ts';
import {
  ENTERPRISE,
  envelopeOf,
  NOW,
  PLACE,
  REQUEST_ID,
  received,
  findVerdict as verdictAt,
  WILDFIRE,
} from './answers.ts';

const findVerdict = (exchange: Exchange, call = ENTERPRISE) =>
  verdictAt(exchange, call, PLACE, NOW);
const kindOf = (status: number, code: string | null): StatusKind =>
  statusKind({ status, code, about: null, asksToWait: false });
const withCost = (cost: unknown) => {
  const envelope = envelopeOf(ENTERPRISE);
  return { ...envelope, meta: { ...envelope.meta, credit_cost: cost } };
};

for (const [header, meta, charged, discrepancy] of [
  ['35', 35, 35, null],
  [undefined, 35, 35, null],
  ['35', undefined, 35, /meta is malformed/],
  [undefined, undefined, 35, /did not state the cost/],
  ['x', -1, 35, /did not state the cost/],
  ['3.5', 1.5, 35, /4 in the header and 2 in meta/],
  ['35.5', 35, 36, /36 in the header and 35 in meta/],
  // Of several figures the highest counts.
  ['35', 36, 36, /35 in the header and 36 in meta; the contract's price is 35/],
  ['70', 35, 70, /70 in the header and 35 in meta/],
  ['15', 70, 70, /15 in the header and 70 in meta/],
  ['36, 36', 35, 36, /36, 36 in the header and 35 in meta/],
  ['35,70', 35, 70, /35, 70 in the header/],
  ['35, 35', 35, 35, null],
  ['soon, 70', 35, 70, /70 in the header/],
  [undefined, '70', 70, /a cost of 70 in meta/],
  // A lower one only where all agree.
  ['15', 15, 15, /15 in the header and 15 in meta/],
  ['15, 35', 15, 35, /15, 35 in the header and 15 in meta/],
  ['15', undefined, 35, /15 in the header/],
  ['70', 70, 70, /70 in the header and 70 in meta/],
  // A proxy may have dropped the header: what is stated alone counts, unless it is less.
  [undefined, 70, 70, /a cost of 70 in meta/],
  ['70', undefined, 70, /meta is malformed/],
  ['80', 70, 80, /80 in the header and 70 in meta/],
  ['0', 0, 35, /0 in the header and 0 in meta/],
  ['1000', 1000, 1_000, /1000 in the header and 1000 in meta/],
  ['1001', 1001, 1_001, /1001 in the header and 1001 in meta/],
  ['999999999999999', 35, 1_000_000, /999999999999999 in the header and 35 in meta/],
  [undefined, 1, 35, /a cost of 1 in meta/],
  ['99999999999999999999', 35, 1_000_000, /100000000000000000000 in the header and 35 in meta/],
  ['-70', 35, 35, null],
] as const) {
  test(`an answer that costs ${header} in the header and ${JSON.stringify(meta)} in meta is charged ${charged}`, () => {
    const verdict = findVerdict(
      received(200, withCost(meta), header === undefined ? {} : { 'x-credit-cost': header }),
    );
    assert.equal(verdict.kind, 'answered');
    assert.equal(verdict.charged, charged);
    if (discrepancy !== null) assert.match(verdict.discrepancy ?? '', discrepancy);
    else assert.equal(verdict.discrepancy, null);
    // The run stops at a cost that no call has.
    assert.equal(verdict.unbelievable, charged > 1_000 ? verdict.discrepancy : null);
  });
}

test('a figure beyond all numbers is a stated cost', () => {
  const body = JSON.stringify(withCost(1)).replace('"credit_cost":1', '"credit_cost":1e400');
  const verdict = findVerdict(received(200, body));
  assert.equal(verdict.charged, 1_000_000);
  assert.match(verdict.unbelievable ?? '', /a cost of Infinity in meta/);
});

test('an answer that could not be read on this side costs what its header says', () => {
  for (const [headers, charged] of [
    [{ 'x-credit-cost': '35' }, 35],
    [{ 'x-credit-cost': '36' }, 36],
    // A 200 costs the contract's price, whatever it states: the budget would have no end.
    [{ 'x-credit-cost': '0' }, 'unknown'],
    [{ 'x-credit-cost': '34' }, 'unknown'],
    [{}, 'unknown'],
  ] as const) {
    const verdict = findVerdict(received(200, '['.repeat(600), headers));
    assert.deepEqual([verdict.kind, verdict.charged], ['malformed', charged]);
    assert.equal(verdict.message, 'The answer could not be read: it is nested more than 512 deep');
  }
});

const elsewhereFor = (cost: number) => {
  const envelope = envelopeOf(ENTERPRISE, { lat: 40, lng: -75 });
  return { ...envelope, meta: { ...envelope.meta, credit_cost: cost } };
};

for (const [name, body, headers, charged] of [
  ['HTML', '<html>', {}, 'unknown'],
  ['HTML with the header', '<html>', { 'x-credit-cost': '35' }, 35],
  ['no data', { meta: { credit_cost: 35 } }, {}, 35],
  ['another place', envelopeOf(ENTERPRISE, { lat: 40, lng: -75 }), {}, 35],
  ['another place, for less', elsewhereFor(1), { 'x-credit-cost': '15' }, 'unknown'],
  [
    'HTML with a header that is no price',
    '<html>',
    { 'x-credit-cost': '999999999999999' },
    1_000_000,
  ],
] as const) {
  test(`a malformed 200 (${name}) is charged ${charged}`, () => {
    const verdict = findVerdict(received(200, body, headers));
    assert.equal(verdict.kind, 'malformed');
    assert.equal(verdict.charged, charged);
  });
}

test('another status of success is malformed, and costs the price at least', () => {
  for (const status of [201, 202, 204, 206]) {
    for (const [cost, charged] of [
      [undefined, 'unknown'],
      [0, 'unknown'],
      [1, 'unknown'],
      [35, 35],
    ] as const) {
      const headers: Record<string, string> =
        cost === undefined ? {} : { 'x-credit-cost': String(cost) };
      const verdict = findVerdict(received(status, withCost(cost), headers));
      assert.deepEqual(
        [verdict.kind, verdict.charged],
        ['malformed', charged],
        `${status} ${cost}`,
      );
      assert.equal(verdict.discrepancy === null, cost === 35);
    }
  }
});

// Which statuses are of a kind is the table below.
for (const [status, kind] of [
  [302, 'redirected'],
  [400, 'unexplained'],
  [401, 'unauthenticated'],
  [402, 'denied'],
  [403, 'forbidden'],
  [408, 'upstream'],
  [429, 'rate'],
  [502, 'upstream'],
] as const) {
  test(`status ${status} is ${kind}, and free`, () => {
    const ours = {
      error: { code: 'SOME_CODE', message: 'Why.' },
      meta: { request_id: REQUEST_ID, credit_cost: 0 },
    };
    for (const body of [ours, '', '<html>', 'null', '[]', '{"error":null}']) {
      const verdict = findVerdict(received(status, body));
      assert.equal(verdict.kind, kind);
      assert.equal(verdict.charged, 0);
      assert.equal(verdict.discrepancy, null);
      assert.match(verdict.message, new RegExp(String(status)));
      assert.doesNotMatch(verdict.message, /undefined|null/);
      if (body === ours) {
        assert.equal(verdict.requestId, REQUEST_ID);
        if (kind !== 'redirected')
          assert.match(verdict.message, new RegExp(`\\(${status} SOME_CODE\\): Why$`));
      }
    }
  });
}

test('the message says each thing once, and shows no page for a browser', () => {
  const coverage = { error: { code: 'OUTSIDE_COVERAGE', message: 'Why.' } };
  for (const [status, body, kind, message] of [
    [404, { error: 'NO_ROUTE' }, 'unexplained', 'The service refused the request (404 NO_ROUTE)'],
    [
      404,
      { error: 'Not Found' },
      'unexplained',
      'The service refused the request (404): Not Found',
    ],
    [
      404,
      { error: 'Not Found', message: 'No such' },
      'unexplained',
      'The service refused the request (404): No such',
    ],
    [422, coverage, 'rejected', 'The service rejects this location (422 OUTSIDE_COVERAGE): Why'],
    [502, '<html><body>Bad gateway</body></html>', 'upstream', 'The service failed (502)'],
    [
      502,
      '<html><title> Access\u202e denied </title></html>',
      'upstream',
      'The service failed (502): a web page, "Access denied"',
    ],
    [
      400,
      { status: 'REQUEST_DENIED', error_message: 'Why.' },
      'unexplained',
      'The service refused the request (400 REQUEST_DENIED): Why',
    ],
    [
      404,
      { title: 'No route', status: 404 },
      'unexplained',
      'The service refused the request (404): No route',
    ],
    [
      400,
      { fault: { faultstring: 'Spike' } },
      'unexplained',
      'The service refused the request (400): Spike',
    ],
    [
      400,
      { errors: { lat: ['No number'] } },
      'unexplained',
      'The service refused the request (400): No number',
    ],
    [
      400,
      { errors: 'No number' },
      'unexplained',
      'The service refused the request (400): No number',
    ],
    [
      403,
      '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
      'forbidden',
      'The service refused the call (403): Access Denied',
    ],
    [503, 'Down for maintenance', 'upstream', 'The service failed (503): Down for maintenance'],
  ] as const) {
    const verdict = findVerdict(received(status, body));
    assert.deepEqual([verdict.kind, verdict.charged, verdict.message], [kind, 0, message]);
  }
});

test('a 403, or an error in place of data, that speaks of a quota is no missing scope: the run pauses', () => {
  for (const [words, kind] of [
    ['Quota exceeded for quota metric', 'limit'],
    ['You have exceeded your daily request quota', 'limit'],
    ['dailyLimitExceeded', 'limit'],
    ['OVER_QUERY_LIMIT', 'limit'],
    ['Your monthly limit has been reached', 'limit'],
    ['You are out of credits', 'limit'],
    ['All credits of this month are used up', 'limit'],
    ['The key lacks the scope "quota"', 'forbidden'],
    ['Rate limit exceeded', 'rate'],
    ['Not allowed', 'forbidden'],
  ] as const) {
    for (const body of [
      { error: { code: 403, message: words } },
      { code: words },
      { status: words, error_message: words },
    ]) {
      const verdict = findVerdict(received(403, body));
      assert.deepEqual([verdict.kind, verdict.charged], [kind, 0], words);
      const inAnswer = findVerdict(received(200, body, { 'x-credit-cost': '35' }));
      assert.deepEqual(
        [inAnswer.kind, inAnswer.charged],
        [kind === 'limit' ? 'limit' : 'malformed', 35],
        words,
      );
      assert.ok(
        inAnswer.message.includes(words) && inAnswer.message.includes('(200'),
        inAnswer.message,
      );
    }
  }
});

test('a 429 is about the quota of the period wherever it has the code of the contract', () => {
  for (const body of [
    { code: 'QUOTA_EXCEEDED' },
    { error: { code: 'QUOTA_EXCEEDED', message: 'm' } },
    { error: 'QUOTA_EXCEEDED' },
    { errors: [{ code: 'QUOTA_EXCEEDED' }] },
    { detail: { type: 'urn:QUOTA_EXCEEDED' } },
    { message: 'quota_exceeded: come back later' },
    'QUOTA_EXCEEDED',
    '{"code":"QUOTA\\u005fEXCEEDED"}',
  ]) {
    const { kind, charged } = findVerdict(received(429, body));
    assert.deepEqual([kind, charged], ['quota', 0], JSON.stringify(body));
  }
});

test('any other 429 is about the rate, with what the headers say', () => {
  for (const body of [
    { error: { code: 'RATE_LIMITED', message: 'Your quota is fine.' } },
    '',
    { error: 'quota' },
  ]) {
    const verdict = findVerdict(
      received(429, body, {
        'retry-after': '7',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': '30',
      }),
    );
    assert.equal(verdict.kind, 'rate');
    assert.deepEqual(verdict.rate, { remaining: 0, resetMs: 30_000, retryAfterMs: 7_000 });
  }
});

test('a failure that states a cost counts with it, whatever its status and its words', () => {
  for (let status = 400; status < 600; status++) {
    for (const exchange of [
      received(status, '', { 'x-credit-cost': '35' }),
      received(status, { code: 'QUOTA_EXCEEDED', meta: { credit_cost: 35 } }),
      received(status, 'Slow down', { 'retry-after': '2', 'x-credit-cost': '35' }),
    ]) {
      const verdict = findVerdict(exchange);
      assert.deepEqual([verdict.charged, isPaidFailure(verdict)], [35, true], String(status));
      assert.match(verdict.message, / and states a cost of 35 \(\d+/);
      assert.match(verdict.discrepancy ?? '', /states a cost of 35 for a failure/);
    }
    const less = findVerdict(received(status, '', { 'x-credit-cost': '1' }));
    assert.deepEqual([isPaidFailure(less), less.charged], [true, 'unknown']);
  }
});

test('a fact about a place that states a cost counts with it, and it is noted', () => {
  for (const [code, kind] of [
    ['OUTSIDE_COVERAGE', 'rejected'],
    ['NO_DATA', 'no_data'],
  ] as const) {
    const verdict = findVerdict(received(404, { code }, { 'x-credit-cost': '35' }));
    assert.deepEqual([verdict.kind, verdict.charged, isPaidFailure(verdict)], [kind, 35, false]);
    assert.match(verdict.discrepancy ?? '', /states a cost of 35 for a failure \(404\)/);
  }
});

test("the service's message is made fit to be shown", () => {
  const message = `a\u001b[2Jb\r\nc\u202e${'\u{1f525}'.repeat(500)}`;
  const verdict = findVerdict(received(422, { error: { message } }));
  const shown = verdict.message.replace('The service refused the request (422): ', '');
  assert.equal([...shown].length, 200);
  assert.ok(shown.startsWith('a [2Jb c \u{1f525}'));
  assert.ok(shown.isWellFormed());
});

test('a redirect is named without its query', () => {
  const message = (location?: string) =>
    findVerdict(received(302, '', location === undefined ? {} : { location })).message;
  assert.match(message('https://h.example/a?token=1#b'), / to https:\/\/h\.example\/a; /);
  assert.match(
    message('https://new.example/api/v1/hail?lat=1'),
    /: set base_url to https:\/\/new\.example\/api, if that is/,
  );
  assert.match(
    message('https://login.example/?next=/v1/hail'),
    /: set base_url to the right address$/,
  );
  assert.match(message(), /check base_url$/);
});

test('an answer is sample data where its header or its meta says so', () => {
  const envelope = envelopeOf(WILDFIRE);
  for (const [header, meta, sample] of [
    [undefined, undefined, false],
    [undefined, true, true],
    [undefined, 'true', false],
    ['true', undefined, true],
  ] as const) {
    const body = { ...envelope, meta: { ...envelope.meta, sample_data: meta } };
    const headers: Record<string, string> =
      header === undefined ? {} : { [HEADERS.sampleData]: header };
    const verdict = findVerdict(received(200, body, headers), WILDFIRE);
    assert.equal(verdict.kind === 'answered' && verdict.sample, sample, `${header} ${meta}`);
  }
});

test('a failure is charged only if it may have reached the service', () => {
  const failure = { kind: 'failure', code: 'BROKEN', message: 'm', elapsedMs: 1 } as const;
  const none = { ...failure, headers: {} };
  assert.equal(findVerdict({ ...none, reached: 'never' }).charged, 0);
  assert.equal(findVerdict({ ...none, reached: 'maybe' }).charged, 'unknown');
  // An answer that did not arrive whole has stated its cost in its head.
  for (const [cost, stated, isBelieved] of [
    ['35', 35, true],
    ['40', 40, true],
    ['1', 1, true],
    ['1001', 1_001, false],
  ] as const) {
    const headers = { 'x-credit-cost': cost };
    const verdict = findVerdict({ ...failure, headers, reached: 'maybe' });
    assert.deepEqual([verdict.charged, verdict.stated], ['unknown', stated]);
    assert.equal(verdict.discrepancy === null, cost === '35');
    assert.equal(verdict.unbelievable === null, isBelieved);
  }
});

test('404 with the code NO_DATA is a fact about the place, and free; any other 404 is a refusal', () => {
  const said = (status: number, code: string) =>
    findVerdict(received(status, { error: { code, message: 'x' } }), WILDFIRE);
  assert.deepEqual([said(404, 'NO_DATA').kind, said(404, 'NO_DATA').charged], ['no_data', 0]);
  assert.deepEqual(
    [said(404, 'UNKNOWN_TOPIC').kind, said(422, 'NO_DATA').kind],
    ['unexplained', 'unexplained'],
  );
});

/** Codes of 4xx answers that say nothing of a location: bills, proxies, locks, limits, law. */
const FOREIGN: readonly (readonly [status: number, code: string])[] = [
  [402, 'PAYMENT_REQUIRED'],
  [404, 'NOT_FOUND'],
  [404, 'UNKNOWN_TOPIC'],
  [407, 'PROXY_AUTH_REQUIRED'],
  [409, 'CONFLICT'],
  [413, 'TOO_LARGE'],
  [420, 'ENHANCE_YOUR_CALM'],
  [423, 'LOCKED'],
  [425, 'TOO_EARLY'],
  [451, 'LEGAL'],
  [499, 'CLIENT_CLOSED'],
  [400, 'BAD_REQUEST'],
  // Also our own service's, for a request without a Host header or one that cannot be read.
  [400, 'INVALID_PARAMETER'],
  [422, 'VALIDATION_ERROR'],
];

test('only a code of the table, under 400, 404 or 422, is a fact about a location', () => {
  for (let status = 400; status < 600; status++) {
    for (const code of PLACE_CODES) {
      const isFact = kindOf(status, code) === 'rejected';
      assert.equal(isFact, [400, 404, 422].includes(status), `${status} ${code}`);
    }
    for (const [, code] of FOREIGN)
      assert.notEqual(kindOf(status, code), 'rejected', `${status} ${code}`);
    assert.notEqual(kindOf(status, null), 'rejected', String(status));
  }
});

test('what each refusal asks for: an end, a wait, another try', () => {
  for (const [kind, statuses] of [
    ['denied', [402, 407, 451]],
    ['rate', [420, 429]],
    ['unexplained', [400, 404, 422]],
    ['upstream', [405, 408, 409, 410, 413, 418, 421, 423, 425, 426, 431, 499, 500, 502, 599]],
    ['redirected', [300, 301, 304, 308]],
    ['malformed', [201, 202, 204, 206]],
  ] as const) {
    for (const status of statuses) {
      for (const code of [null, 'SOME_CODE', 'Not Found'])
        assert.equal(kindOf(status, code), kind, String(status));
    }
  }
});

test('a code is the same in any case and with any sign between its words', () => {
  for (const code of [
    'OUTSIDE_COVERAGE',
    'Outside-Coverage',
    'outside coverage',
    'OutsideCoverage',
  ]) {
    assert.equal(kindOf(422, code), 'rejected', code);
  }
  for (const code of ['', 'OUTSIDE', 'OUTSIDE_COVERAGE_OF_CONTRACT', 'constructor']) {
    assert.equal(kindOf(422, code), 'unexplained', code);
  }
});
