import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PAID_SLUGS } from '../../src/contract/topics.ts';
import { perilbook } from '../cli/command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { usage } from './file-accounts.ts';
import { openAccountsOf, request, square } from './small-data.ts';

/* A service sells the topics of its contract. Of layers it sells those that it is told to, each call at the price of a topic. */

const DESCRIPTION = `layer: my_fire
title: Fire territory
vintage: "2026"
states: [NE]
class: { from: ZONE }
classes: [High, Low]
columns: { owner: { from: OWNER } }
`;

const file = (features: readonly object[]): string =>
  JSON.stringify({ type: 'FeatureCollection', features });

const feature = (properties: object, geometry: object) => ({
  type: 'Feature',
  properties,
  geometry,
});

/** A service in a process of its own folder, with the boundaries and the layer loaded, and keys for it. */
async function openService(t: TestContext, ...options: readonly string[]) {
  const folder = temporaryFolder(t);
  const run = async (...args: readonly string[]) => {
    const ended = await perilbook(args, { folder });
    assert.equal(ended.code, 0, `${args.join(' ')}: ${ended.stderr}`);
    return ended;
  };
  writeFileSync(join(folder, 'my.layer.yaml'), DESCRIPTION);
  const zones = [feature({ ZONE: 'High', OWNER: 'State' }, square(-100, 40, 0.5))];
  writeFileSync(join(folder, 'fire.geojson'), file(zones));
  const tracts = [feature({ GEOID: '31001000100' }, square(-100, 40, 1))];
  writeFileSync(join(folder, 'tracts.geojson'), file(tracts));
  await run('data', 'load', 'areas', 'tracts.geojson', '--db', 'data.db');
  await run('data', 'load', 'my_fire', 'fire.geojson', '--db', 'data.db');
  const db = ['--db', 'data.db'];
  await run('service', 'account', 'create', '--account', 'acme', ...db);
  const keyOf = async (scopes: string) => {
    const made = await run(
      'service',
      'key',
      'create',
      '--account',
      'acme',
      '--scopes',
      scopes,
      ...db,
    );
    return made.stdout.trim();
  };
  const [all, own] = [await keyOf('all'), await keyOf('my_fire')];
  const stop = new AbortController();
  const { promise: url, resolve } = Promise.withResolvers<string>();
  const running = perilbook(['service', 'start', '--port', '0', ...db, ...options], {
    folder,
    interrupt: stop.signal,
    onStderr: (text) => {
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
      if (address !== undefined) resolve(address);
    },
  });
  t.after(async () => {
    stop.abort();
    await running;
  });
  const address = await Promise.race([url, running.then(({ stderr }) => assert.fail(stderr))]);
  const accounts = openAccountsOf(t, join(folder, 'data.db'));
  const charged = (): number => usage(accounts, 'acme', Date.now()).creditsCharged;
  const get = (path: string, key: string, place = 'lat=40.25&lng=-99.75') =>
    request(`${address}${path}?${place}`, key);
  return { folder, address, all, own, charged, get };
}

test('a layer is sold by a service that is told to: a credit a call, by a scope of its own, and in no bundle', async (t) => {
  const { all, own, charged, get, address } = await openService(t, '--layers', 'my_fire');
  const { status, headers, body } = await get('/v1/my_fire/risk', own);
  assert.deepEqual([status, headers.get('x-credit-cost')], [200, '1']);
  assert.equal(body.data.topic, 'my_fire');
  const { zone, facts } = body.data.result.value;
  assert.deepEqual({ zone, facts }, { zone: 'High', facts: { owner: 'State' } });
  assert.equal(charged(), 1);
  // Unknown is no answer, and free.
  const unknown = await get('/v1/my_fire/risk', own, 'lat=40.75&lng=-99.75');
  assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'NO_DATA']);
  // A key of the contract's topics opens no layer.
  const refused = await get('/v1/my_fire/risk', all);
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'SCOPE_REQUIRED']);
  const { paths } = (await request(`${address}/openapi.json`, null)).body;
  const bundle = JSON.stringify(paths['/v1/bundle/enterprise']);
  assert.ok(PAID_SLUGS.every((slug) => bundle.includes(`"${slug}"`)));
  assert.ok(!bundle.includes('my_fire'));
  assert.equal(charged(), 1);
});

test('a service that is told nothing sells no layer, also where its data is loaded and a key has the scope', async (t) => {
  const { own, charged, get } = await openService(t);
  for (const path of ['/v1/my_fire/risk', '/v1/ca_fire_zone/risk']) {
    const { status, body } = await get(path, own);
    assert.deepEqual([status, body.error.code], [404, 'UNKNOWN_TOPIC'], path);
  }
  assert.equal(charged(), 0);
});

test('a service does not start with a layer that nobody describes, and no key is made for one', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'my.layer.yaml'), DESCRIPTION);
  const started = await perilbook(['service', 'start', '--port', '0', '--layers', 'my_fires'], {
    folder,
  });
  assert.equal(started.code, 2);
  assert.match(
    started.stderr,
    /No description of the layer my_fires is here\n.*Did you mean my_fire\?/,
  );
  await perilbook(['service', 'account', 'create', '--account', 'acme'], { folder });
  const key = ['service', 'key', 'create', '--account', 'acme', '--scopes', 'my_fires'];
  const made = await perilbook(key, { folder });
  assert.match(made.stderr, /Cannot make a key with scope "my_fires"/);
});
