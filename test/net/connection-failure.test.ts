import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionFailure, failureDetail } from '../../src/net/connection-failure.ts';

const withCode = (code: string, error = new Error(code)) => Object.assign(error, { code });

test('what failed, by the code: a name that DNS does not know is another thing than a DNS that is silent', () => {
  for (const [error, failure] of [
    [withCode('ENOTFOUND'), 'no_such_host'],
    [withCode('EAI_AGAIN'), 'dns_silent'],
    [withCode('ECONNREFUSED'), 'unreachable'],
    [new AggregateError([withCode('EHOSTUNREACH'), withCode('ENETUNREACH')]), 'unreachable'],
    [withCode('UND_ERR_CONNECT_TIMEOUT'), 'connect_timeout'],
    [withCode('ETIMEDOUT', new AggregateError([])), 'timeout'],
    [withCode('UND_ERR_SOCKET', new Error('bad response')), 'not_http'],
    [withCode('UND_ERR_SOCKET', new Error('other side closed')), 'broken'],
    [withCode('ECONNRESET'), 'broken'],
    [new Error('no code'), 'broken'],
    [withCode('constructor'), 'broken'],
  ] as const)
    assert.equal(connectionFailure(error), failure, failureDetail(error));
});
