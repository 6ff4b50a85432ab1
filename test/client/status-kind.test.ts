import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLACE_CODES, statusKind } from '../../src/client/status-kind.ts';

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
      const isFact = statusKind(status, code) === 'rejected';
      assert.equal(isFact, [400, 404, 422].includes(status), `${status} ${code}`);
    }
    for (const [, code] of FOREIGN) assert.notEqual(statusKind(status, code), 'rejected', `${status} ${code}`);
    assert.notEqual(statusKind(status, null), 'rejected', String(status));
  }
});

test('what each refusal asks for: an end, a wait, another try', () => {
  for (const [kind, statuses] of [
    ['denied', [402, 407, 451]],
    ['rate', [420, 429]],
    ['timeout', [408]],
    ['unexplained', [400, 404, 422]],
    ['upstream', [405, 409, 410, 413, 418, 421, 423, 425, 426, 431, 499, 500, 502, 599]],
    ['redirected', [300, 301, 304, 308]],
    ['malformed', [201, 202, 204, 206]],
  ] as const) {
    for (const status of statuses) {
      for (const code of [null, 'SOME_CODE', 'Not Found']) assert.equal(statusKind(status, code), kind, String(status));
    }
  }
  assert.equal(statusKind(429, 'QUOTA_EXCEEDED'), 'quota');
});

test('a code is the same in any case and with any sign between its words', () => {
  for (const code of ['OUTSIDE_COVERAGE', 'Outside-Coverage', 'outside coverage', 'OutsideCoverage']) {
    assert.equal(statusKind(422, code), 'rejected', code);
  }
  for (const code of ['', 'OUTSIDE', 'OUTSIDE_COVERAGE_OF_CONTRACT', 'constructor']) {
    assert.equal(statusKind(422, code), 'unexplained', code);
  }
});
