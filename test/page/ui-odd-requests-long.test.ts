import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { places } from '../run/harness.ts';
import { openUi, WILDFIRE, yes } from './ui-scene.ts';

/* An uncaught error would end the process of `perilbook ui`; here it fails the test that is running. */

test('an upload of another content type, or of none, is a 415 and leaves nothing behind', async (t) => {
  const scene = await openUi(t);
  const visitor = await scene.visit();
  const types = [undefined, '', 'application/json', 'text/plain', 'multipart/form-data; boundary=x', 'x'];
  for (const type of types) {
    for (const body of ['', '{}', '["lat,lng\\n1,1\\n"]', 'lat,lng\n40.1,-99.9\n']) {
      const headers = { 'content-type': type, 'content-length': String(body.length) };
      const reply = await visitor.ask('POST', '/api/files?name=a.csv', { headers, body });
      assert.equal(reply.status, 415, `${type}: ${JSON.stringify(body)}`);
      assert.deepEqual(Object.keys(reply.body.error), ['code', 'message', 'hint']);
    }
  }
  assert.deepEqual(readdirSync(join(scene.harness.folder, 'ui')), []);
  assert.deepEqual(scene.bugs, []);
  assert.equal((await visitor.upload('a.csv', 'lat,lng\n40.1,-99.9\n')).status, 201);
});

test('odd requests beside a run: the process lives, nothing else is bought, all that was paid is in the ledger', async (t) => {
  // Ten credits a minute, of which one takes 1.2 s: the run goes on beside all the requests.
  const scene = await openUi(t, {}, { subscription: customSubscription(1_000, 10), factor: 50 });
  const visitor = await scene.visit();
  const running = (await visitor.upload('running.csv', scene.harness.writeInput(places(20)))).body.id;
  const other = (await visitor.upload('other.csv', scene.harness.writeInput(places(25).slice(20)))).body.id;
  const start = await visitor.ask('POST', `/api/files/${running}/start`, { body: { ...WILDFIRE, ...yes(20) } });
  assert.equal(start.status, 202);
  const ended = visitor.ended(running);
  const paths = [
    ...['/', '/assets/app.js', '/api/about', '/api/runs', '/api/files', '/api/files/named', '/%', '/api/files/%/start'],
    ...['', '/price', '/start', '/stop', '/result', '/report'].map((end) => `/api/files/${other}${end}`),
    `/api/files/${running}/start`,
  ];
  const types = [
    undefined,
    'application/json',
    'application/octet-stream',
    'text/plain',
    'application/json; charset=x',
  ];
  const bodies = ['', '{', 'null', '[]', '{"__proto__":{"a":1}}', '\0', 'x'.repeat(2_000)];
  let asked = 0;
  for (const path of paths) {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'GET']) {
      for (const type of method === 'POST' ? types : types.slice(0, 2)) {
        const some = method === 'POST' ? bodies : bodies.slice(0, 2);
        await Promise.all(
          some.map(async (body) => {
            const headers = { 'content-type': type, 'content-length': String(body.length) };
            const { status } = await visitor.ask(method, path, { headers, body });
            assert.ok(status < 500, `${method} ${path} ${type} ${JSON.stringify(body.slice(0, 20))}: ${status}`);
            asked += 1;
          }),
        );
      }
    }
  }
  t.diagnostic(`${asked} requests`);
  const { end } = await ended;
  assert.equal(end?.state, 'complete');
  const { charged, unknown } = await scene.harness.ledger();
  assert.deepEqual([scene.harness.charged(), charged, unknown], [20, 20, 0]);
  assert.deepEqual(scene.bugs, []);
});

test('clients that leave in the middle of an upload, or of an answer: the page goes on', async (t) => {
  const scene = await openUi(t);
  const visitor = await scene.visit();
  const address = new URL(scene.ui.newAddress());
  const { headers } = await scene.stranger().ask('GET', `/${address.search}`);
  const cookie = String(headers['set-cookie']).split(';')[0]!;
  const head = (line: string, ...more: string[]) =>
    [line, `Host: 127.0.0.1:${scene.ui.port}`, `Origin: http://127.0.0.1:${scene.ui.port}`, `Cookie: ${cookie}`]
      .concat(more, '', '')
      .join('\r\n');
  const { id } = (await visitor.upload('book.csv', scene.harness.writeInput(places(3)))).body;
  const upload = head('POST /api/files?name=cut.csv HTTP/1.1', 'Content-Type: application/octet-stream');
  for (const text of [
    `${upload.slice(0, -2)}Content-Length: 500\r\n\r\nlat,lng\n`,
    `${upload.slice(0, -2)}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz`,
    head(`GET /api/files/${id}/events HTTP/1.1`),
    head('GET /assets/app.js HTTP/1.1'),
    'GET /\x01 HTTP/1.1\r\n\r\n',
  ]) {
    const socket = connect(scene.ui.port, '127.0.0.1');
    socket.on('error', () => {});
    await new Promise<void>((resolve) => socket.write(text, () => resolve()));
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.resetAndDestroy();
  }
  assert.equal((await visitor.ask('GET', '/api/about')).status, 200);
  for (let tries = 0; readdirSync(join(scene.harness.folder, 'ui')).length > 1 && tries < 50; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(readdirSync(join(scene.harness.folder, 'ui')), [id]);
  assert.deepEqual(scene.bugs, []);
});
