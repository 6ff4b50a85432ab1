import assert from 'node:assert/strict';
import test from 'node:test';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { categoryOfAqi, categoryOfConcentration } from '../../src/service/topics/air-quality-index.ts';
import { setUp } from './small-world.ts';

test('the OpenAPI document names the three endpoints, the key, the topics and the schemas it refers to', async (t) => {
  const { get } = await setUp(t);
  const { status, body } = await get('/openapi.json', null);
  assert.equal(status, 200);
  assert.match(body.openapi, /^3\.1\./);
  assert.deepEqual(Object.keys(body.paths), ['/v1/{topic}/risk', '/v1/bundle/standard', '/v1/bundle/enterprise']);
  const single = body.paths['/v1/{topic}/risk'].get;
  assert.deepEqual(
    single.parameters.map(({ name }: { name: string }) => name),
    ['topic', 'lat', 'lng'],
  );
  assert.deepEqual(single.parameters[0].schema.enum, TOPIC_SLUGS);
  assert.equal(body.components.securitySchemes.key.name, 'X-API-Key');
  assert.deepEqual(Object.keys(single.responses), ['200', '400', '401', '403', '404', '422', '429', '502']);
  const references = JSON.stringify(body).match(/#\/components\/schemas\/\w+/g)!;
  for (const reference of references) assert.ok(body.components.schemas[reference.split('/').at(-1)!], reference);
  assert.deepEqual(body.components.schemas.SingleEnvelope.required, ['data', 'meta']);
  for (const slug of TOPIC_SLUGS) assert.ok(body.components.schemas[`${slug}Result`].properties.value, slug);
});

test('categories change where the agency says that they do', () => {
  assert.deepEqual([0, 50, 51, 100, 150, 200, 300, 301, 999].map(categoryOfAqi), [
    'Good',
    'Good',
    'Moderate',
    'Moderate',
    'Unhealthy for Sensitive Groups',
    'Unhealthy',
    'Very Unhealthy',
    'Hazardous',
    'Hazardous',
  ]);
  const pm25 = (value: number) => categoryOfConcentration('pm25', value);
  assert.deepEqual(
    [pm25(-0.4), pm25(9.09), pm25(9.1), pm25(35.4), pm25(35.49), pm25(35.5)],
    ['Good', 'Good', 'Moderate', 'Moderate', 'Moderate', 'Unhealthy for Sensitive Groups'],
  );
  assert.equal(categoryOfConcentration('pm10', 54.9), 'Good');
  assert.equal(categoryOfConcentration('pm10', 425), 'Hazardous');
  // 0.054 ppm is 106.0 µg/m³, and what is cut to it reaches up to 0.055.
  assert.equal(categoryOfConcentration('ozone', 107.9), 'Good');
  assert.equal(categoryOfConcentration('ozone', 108.1), 'Moderate');
});
