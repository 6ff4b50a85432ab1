import assert from 'node:assert/strict';
import test from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { SERVICE_FAILURES } from '../../src/contract/envelopes.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { HERE, NEXT_DOOR, pathTo, setUp } from './small-data.ts';

test('the OpenAPI document is valid, and has the endpoints, the key, the topics and the failures', async (t) => {
  const { get } = await setUp(t);
  const { status, body } = await get('/openapi.json', null);
  assert.equal(status, 200);
  const checked = await new Validator().validate(structuredClone(body));
  assert.ok(checked.valid, JSON.stringify(checked));
  assert.match(body.openapi, /^3\.1\./);
  assert.deepEqual(body.servers[0].url, '/');
  assert.deepEqual(Object.keys(body.paths), [
    ...['/v1/{topic}/risk', '/v1/bundle/standard', '/v1/bundle/enterprise'],
    ...['/healthz', '/openapi.json'],
  ]);
  const single = body.paths['/v1/{topic}/risk'].get;
  const parameters = single.parameters.map(({ name }: { name: string }) => name);
  assert.deepEqual(parameters, ['topic', 'lat', 'lng']);
  assert.deepEqual(single.parameters[0].schema.enum, TOPIC_SLUGS);
  assert.equal(body.components.securitySchemes.key.name, 'X-API-Key');
  const statuses = new Set(Object.values(SERVICE_FAILURES).map(String));
  assert.deepEqual(Object.keys(single.responses), ['200', ...[...statuses].sort()]);
  assert.equal(body.components.responses.Failure429.description, 'RATE_LIMITED, QUOTA_EXCEEDED');
  const references = JSON.stringify(body).matchAll(/#\/components\/(\w+)\/(\w+)/g);
  for (const [, kind, name] of references)
    assert.ok(body.components[kind!][name!], `${kind} ${name}`);
  const paths = Object.values<{ get: { operationId: string } }>(body.paths);
  assert.equal(new Set(paths.map((path) => path.get.operationId)).size, paths.length);
});

test('every answer matches the OpenAPI document, topic by topic', async (t) => {
  const { get, service } = await setUp(t, { service: { failures: (topic) => topic === 'radon' } });
  const { body: document } = await get('/openapi.json', null);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const schemaOf = ({ content }: { content: { 'application/json': { schema: object } } }) =>
    ajv.compile(content['application/json'].schema);
  const [single, standard, enterprise, health] = Object.values<{ get: { responses: never[] } }>(
    document.paths,
  ).map(({ get }) => schemaOf(get.responses[200]!));
  const failure = schemaOf(document.components.responses.Failure502);
  const assertDescribed = (validate: typeof failure | undefined, body: unknown, name: string) =>
    assert.ok(validate!(body), `${name}: ${JSON.stringify(validate!.errors)}`);
  for (const location of [HERE, NEXT_DOOR]) {
    for (const slug of TOPIC_SLUGS) {
      const { status, body } = await get(pathTo(`/v1/${slug}/risk`, location));
      assertDescribed(status === 200 ? single : failure, body, slug);
      assert.ok(status === 200 || slug === 'radon' || location === NEXT_DOOR, `${slug}: ${status}`);
    }
    assertDescribed(
      standard,
      (await get(pathTo('/v1/bundle/standard', location))).body,
      'standard',
    );
    assertDescribed(
      enterprise,
      (await get(pathTo('/v1/bundle/enterprise', location))).body,
      'enterprise',
    );
  }
  assertDescribed(health, await (await fetch(`${service.url}/healthz`)).json(), 'health');
  // It tells one topic from another, and says no to what is not as described.
  const { body } = await get(pathTo('/v1/park/risk'));
  for (const spoil of [
    () => ({ ...body, data: { ...body.data, topic: 'drought' } }),
    () => ({ ...body, data: { ...body.data, result: { ...body.data.result, details: [] } } }),
    () => ({ ...body, data: { ...body.data, result: { ...body.data.result, value: 'two' } } }),
  ]) {
    assert.equal(single!(spoil()), false);
  }
});
