import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServiceMetrics, metricsAddress, startMetricsServer } from '../../src/service/http/service-metrics.ts';
import { metricValue, parseOpenMetrics } from '../open-metrics.ts';
import { pathTo, setUp } from './small-data.ts';

const NAME = 'perilbook_service_';

test('metrics count requests by route and status, durations and charged credits; no key, no account', async (t) => {
  const metrics = createServiceMetrics();
  const { get, service, key } = await setUp(t, { service: { metrics } });
  await using server = await startMetricsServer({ host: '127.0.0.1', port: 0 }, metrics);
  for (const path of ['/v1/drought/risk', '/v1/hail/risk', '/v1/bundle/standard']) {
    assert.equal((await get(pathTo(path))).status, 200);
  }
  assert.equal((await get(pathTo('/v1/drought/risk'), 'pb_no_such_key')).status, 401);
  assert.equal((await get('/v1/guessed/path')).status, 404);
  const answer = await fetch(server.url);
  assert.equal(answer.headers.get('content-type'), 'application/openmetrics-text; version=1.0.0; charset=utf-8');
  const text = await answer.text();
  assert.ok(!text.includes(key) && !text.includes('tester') && !text.includes('guessed'));
  const samples = parseOpenMetrics(text);
  const value = (name: string, labels = {}) => metricValue(samples, NAME + name, labels);
  const single = { route: '/v1/:topic/risk' };
  assert.equal(value('requests_total', { ...single, status: '200' }), 2);
  assert.equal(value('requests_total', { ...single, status: '401' }), 1);
  assert.equal(value('requests_total', { route: 'none', status: '404' }), 1);
  assert.equal(value('request_duration_seconds_count', single), 3);
  assert.equal(value('charged_credits_total', single), 2);
  assert.equal(value('charged_credits_total', { route: '/v1/bundle/standard' }), 15);
  assert.equal(value('requests_in_flight'), 0);
  assert.equal((await fetch(server.url.replace('/metrics', '/'))).status, 404);
  assert.equal((await fetch(server.url, { method: 'POST' })).status, 405);
  assert.equal((await fetch(`${service.url}/metrics`)).status, 404, 'the service itself has no such path');
});

test('metrics are for this machine only', () => {
  assert.deepEqual(metricsAddress('9464'), { host: '127.0.0.1', port: 9464 });
  assert.deepEqual(metricsAddress('[::1]:9464'), { host: '::1', port: 9464 });
  for (const text of ['0.0.0.0:9464', '127.evil.example:9464', '[::]:9464', '10.0.0.1:1', 'x', '127.0.0.1:70000', ':1'])
    assert.throws(() => metricsAddress(text), { code: 'USAGE' }, text);
});
