import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { gateBefore, type Passage } from '../cli/bin-process.ts';
import { mountAt } from '../faults/disk-scene.ts';
import { column, openHarness, places } from '../run/harness.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  allSources,
  enter,
  openBook,
  openUi,
  startPage,
  visitor,
  WILDFIRE,
  yes,
} from './ui-scene.ts';

const timeout = 300_000;
const CELLS = 40;

/** The bin over a service on the wall clock. */
async function setScene(
  t: TestContext,
  more: readonly string[] = [],
  passage: (n: number) => Passage = () => 'answer',
) {
  const now = Date.now();
  const harness = await openHarness(t, { clock: { start: now, factor: 1, origin: now } });
  harness.writeInput(places(CELLS));
  const gate = await gateBefore(t, harness.url, passage);
  const { secret } = harness.key();
  const env = { PERILBOOK_BASE_URL: gate.url, PERILBOOK_API_KEY: secret };
  const start = () => startPage(t, ['--subscription', 'starter', ...more], harness.folder, env);
  return { harness, gate, start, bin: await start(), secret };
}

const visit = async (address: string) =>
  visitor(Number(new URL(address).port), await enter(address));

test('SIGINT while a run buys lands what is in flight, writes the output, and ends with 130', {
  timeout,
}, async (t) => {
  const { harness, gate, bin, secret } = await setScene(t, ['input.csv', '--budget', '1000']);
  const page = await visit(bin.address);
  const { first: id, most_budget } = (await page.ask('GET', '/api/about')).body;
  assert.equal(most_budget, 1000);
  // The starter subscription has 300 credits a minute: of 40 cells in all topics, some eight.
  const body = {
    ...WILDFIRE,
    topics: ['wildfire', 'superfund', 'radon', 'ozone', 'hail', 'park', 'drought', 'tsunami'],
  };
  assert.equal((await page.ask('GET', `/api/files/${id}`)).body.name, 'input.csv');
  await page.ask('POST', `/api/files/${id}/start`, { body: { ...body, ...yes(320) } });
  await gate.reached(5);
  bin.kill('SIGINT');
  const { code, stderr } = await bin.ended;
  assert.equal(code, 130, stderr);
  const output = readFileSync(
    join(harness.folder, 'perilbook/ui', id, 'output/input.hazards.csv'),
    'utf8',
  );
  assert.equal(column(output, 'hazard_status').length, CELLS);
  assert.ok(harness.charged() >= 5 && harness.charged() < 320, `${harness.charged()}`);
  const tables = readdirSync(harness.folder).filter((name) => name.endsWith('.csv'));
  assert.deepEqual(tables, ['input.csv']);
  assert.ok(!stderr.includes(secret));
});

test('SIGINT while nothing runs ends with 0; the key of the environment stays in it', {
  timeout,
}, async (t) => {
  const { bin, secret } = await setScene(t);
  const page = await visit(bin.address);
  const { text } = await page.ask('GET', '/api/about');
  assert.ok(!text.includes(secret));
  bin.kill('SIGINT');
  const { code, stdout, stderr } = await bin.ended;
  assert.deepEqual([code, stdout], [0, ''], stderr);
});

test('a page that can open no more files closes connections, and serves the next one', {
  timeout,
}, async (t) => {
  const page = await startPage(t, [], temporaryFolder(t), {}, { shell: 'ulimit -n 40;' });
  const port = Number(new URL(page.address).port);
  const sockets = Array.from({ length: 80 }, () =>
    connect(port, '127.0.0.1').on('error', () => {}),
  );
  await Promise.race([page.ended, Promise.all(sockets.map((socket) => once(socket, 'connect')))]);
  // One of them at least is closed at once: there are fewer files than sockets.
  await Promise.race([page.ended, ...sockets.map((socket) => once(socket, 'close'))]);
  for (const socket of sockets) socket.destroy();
  // Until the page has closed its side of them it may close one more.
  let entered = '';
  for (let tries = 0; tries < 50 && entered === ''; tries++) {
    entered = await enter(page.address).catch(() => '');
    if (entered === '') await delay(100, undefined, { signal: t.signal });
  }
  assert.match(entered, /^perilbook_ui_/, page.text());
});

test('killed in the middle of a run, the next one lists it as cut off and buys the rest', {
  timeout,
}, async (t) => {
  let isHeld = true;
  const passage = (number: number): Passage => (number > 5 && isHeld ? 'hold' : 'answer');
  const { harness, gate, start, bin } = await setScene(t, ['input.csv'], passage);
  const page = await visit(bin.address);
  const { first: id } = (await page.ask('GET', '/api/about')).body;
  await page.ask('POST', `/api/files/${id}/start`, { body: { ...WILDFIRE, ...yes(CELLS) } });
  await gate.reached(8);
  // All eight may be sent before the first is charged.
  while (harness.charged() < 5) await delay(20, undefined, { signal: t.signal });
  bin.kill('SIGKILL');
  await bin.ended;
  assert.equal(harness.charged(), 5, 'the held calls never came to the service');

  isHeld = false;
  const later = await visit((await start()).address);
  const run = (await later.ask('GET', `/api/files/${id}`)).body.run.end;
  assert.equal(run.state, 'cut off');
  assert.ok(run.unknown >= 3, 'the held calls');
  assert.equal(
    run.budget_left,
    CELLS - run.charged - run.unknown,
    'unknown credits count as spent',
  );
  // An answer may have been on its way when the process was killed: the ledger has that call as one of unknown outcome.
  const lost = harness.charged() - run.charged;
  assert.ok(lost >= 0 && lost <= run.unknown, `${lost} lost, ${run.unknown} unknown`);
  await later.ask('POST', `/api/files/${id}/start`, { body: { ...WILDFIRE, ...yes(CELLS) } });
  const { end } = await later.ended(id);
  assert.deepEqual([end?.state, harness.charged()], ['complete', CELLS + lost], 'the rest only');
});

/* An uncaught error would end the process of `perilbook ui`; here it fails the test that is running. */

test('an upload of another content type, or of none, is a 415 and leaves nothing behind', async (t) => {
  const scene = await openUi(t);
  const visitor = await scene.visit();
  const types = [
    undefined,
    '',
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    'x',
  ];
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

test('an upload that cannot be read leaves nothing behind', async (t) => {
  const scene = await openUi(t);
  const visitor = await scene.visit();
  for (const [name, content] of [
    ['picture.csv', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
    ['empty.csv', ''],
    ['book.parquet', 'PAR1 and no more'],
    ['book.xlsx', 'PK\u0003\u0004 and no more'],
  ] as const) {
    const reply = await visitor.upload(name, content);
    assert.ok(reply.status >= 400 && reply.status < 500, `${name}: ${reply.text}`);
    assert.deepEqual(readdirSync(join(scene.harness.folder, 'ui')), [], name);
  }
  assert.deepEqual(scene.bugs, []);
});

test('an upload leaves half of the free space: one that states more, or has no end, is refused and leaves nothing behind', async (t) => {
  let isMounted = false;
  const scene = await openUi(t, ({ folder }) => {
    const workspace = join(folder, 'ui');
    mkdirSync(workspace);
    isMounted = mountAt(t, workspace, '-t', 'tmpfs', '-o', 'size=8m', 'tmpfs');
    return {};
  });
  if (!isMounted) return t.skip('this user may not mount a disk');
  const visitor = await scene.visit();
  const { port } = scene.ui;
  const cookie = await enter(scene.ui.newAddress());
  /** Writes for as long as no answer has come. */
  const pour = async (headers: Record<string, string>, most: number) => {
    const origin = `http://127.0.0.1:${port}`;
    const type = 'application/octet-stream';
    const request = httpRequest({
      ...{ port, method: 'POST', path: '/api/files?name=endless.csv' },
      headers: { origin, cookie, host: `127.0.0.1:${port}`, 'content-type': type, ...headers },
    });
    request.on('error', () => {});
    let answer: IncomingMessage | null = null;
    request.once('response', (response) => {
      answer = response;
    });
    const chunk = Buffer.from('lat,lng,name\n40.1,-99.9,a house\n'.repeat(2_000));
    for (let sent = 0; sent < most && answer === null; sent += chunk.length) {
      if (!request.write(chunk))
        await Promise.race([once(request, 'drain'), once(request, 'response')]);
      await delay(0);
    }
    if (answer === null) [answer] = await once(request, 'response');
    const { error } = JSON.parse(await text(answer!));
    request.destroy();
    return error;
  };
  const refusal = {
    code: 'NO_ROOM',
    message: 'The file is larger than 4 MB, half of the free space of the disk',
    hint: 'Free some space, or open the file by its path instead.',
  };
  assert.deepEqual(await pour({ 'content-length': '5000000' }, 100_000), refusal);
  assert.deepEqual(await pour({ 'transfer-encoding': 'chunked' }, 1e9), refusal);
  assert.deepEqual(readdirSync(join(scene.harness.folder, 'ui')), []);
  assert.deepEqual(scene.bugs, []);
  assert.equal((await visitor.upload('a.csv', 'lat,lng\n40.1,-99.9\n')).status, 201);
});

test('a start of the page removes uploads and outputs of an earlier day, but those of a run that is at work', async (t) => {
  // The system dates files by its own clock.
  const began = Date.now();
  const options = { start: new Date(began).toISOString() };
  const { harness, visitor, id, run, restart } = await openBook(t, places(3), {}, options);
  const waitUntil = (hours: number) =>
    harness.clock.moveTo(new Date(began + hours * 3_600_000).toISOString());
  await run(3);
  const { id: other } = (await visitor.upload('other.csv', harness.writeInput(places(2)))).body;
  const { id: working } = (await visitor.upload('working.csv', harness.writeInput(places(2)))).body;
  const folder = join(harness.folder, 'ui');
  const known = () => readdirSync(folder).sort();
  assert.deepEqual(known(), [id, other, working].sort());
  // Another page of the same store is at work on it.
  const output = join(folder, working, 'output', 'working.hazards.csv');
  const asked = { job: 'working', input: 'x', account: 'tester', plannedCredits: 2, budget: 2 };
  const number = await harness.store.startRun({ ...asked, output });
  waitUntil(20);
  const second = await restart();
  const later = await second.visit();
  assert.equal((await later.ask('GET', `/api/files/${id}`)).body.has_output, true);
  waitUntil(40);
  const third = await second.restart();
  assert.deepEqual(known(), [id, working].sort(), 'the other was not opened for 40 hours');
  await harness.store.finishRun(number, { state: 'complete', resumeAfter: null, summary: null });
  waitUntil(70);
  const fourth = await third.restart();
  assert.deepEqual(known(), []);
  // What was bought is in the store.
  const last = await fourth.visit();
  const again = (await last.upload('book.csv', harness.writeInput(places(3)))).body.id;
  await last.ask('POST', `/api/files/${again}/start`, { body: { ...WILDFIRE, ...yes(3) } });
  assert.equal((await last.ended(again)).end?.state, 'complete');
  assert.equal(harness.charged(), 3);
});

test('odd requests beside a run: the process lives, nothing else is bought, all that was paid is in the ledger', async (t) => {
  // Ten credits a minute, of which one takes 1.2 s: the run goes on beside all the requests.
  const scene = await openUi(t, {}, { subscription: customSubscription(1_000, 10), factor: 50 });
  const visitor = await scene.visit();
  const running = (await visitor.upload('running.csv', scene.harness.writeInput(places(20)))).body
    .id;
  const other = (await visitor.upload('other.csv', scene.harness.writeInput(places(25).slice(20))))
    .body.id;
  const start = await visitor.ask('POST', `/api/files/${running}/start`, {
    body: { ...WILDFIRE, ...yes(20) },
  });
  assert.equal(start.status, 202);
  const ended = visitor.ended(running);
  const paths = [
    ...[
      '/',
      '/assets/app.js',
      '/api/about',
      '/api/runs',
      '/api/files',
      '/api/files/named',
      '/%',
      '/api/files/%/start',
    ],
    ...['', '/price', '/start', '/stop', '/result', '/report'].map(
      (end) => `/api/files/${other}${end}`,
    ),
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
            assert.ok(
              status < 500,
              `${method} ${path} ${type} ${JSON.stringify(body.slice(0, 20))}: ${status}`,
            );
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
  const cookie = await enter(scene.ui.newAddress());
  const head = (line: string, ...more: string[]) =>
    [
      line,
      `Host: 127.0.0.1:${scene.ui.port}`,
      `Origin: http://127.0.0.1:${scene.ui.port}`,
      `Cookie: ${cookie}`,
    ]
      .concat(more, '', '')
      .join('\r\n');
  const { id } = (await visitor.upload('book.csv', scene.harness.writeInput(places(3)))).body;
  const upload = head(
    'POST /api/files?name=cut.csv HTTP/1.1',
    'Content-Type: application/octet-stream',
  );
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
  for (
    let tries = 0;
    readdirSync(join(scene.harness.folder, 'ui')).length > 1 && tries < 50;
    tries++
  ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(readdirSync(join(scene.harness.folder, 'ui')), [id]);
  assert.deepEqual(scene.bugs, []);
});

const PLACES = 12;

test('each source answers what was chosen: local data and the sample cost the paid account nothing', async (t) => {
  const {
    harness,
    get,
    post,
    run: runFor,
    bugs,
  } = await openBook(t, places(PLACES), (opened) => allSources(opened));
  const ask = async (what: string, body: object) => (await post(what, body)).body;
  const choices = await ask('choices', {});
  assert.deepEqual(choices, {
    sources: { local: null, service: null, sample: null },
    areas: {
      tract: null,
      county: 'No chosen topic is the same in all of a county: air quality and radon are.',
    },
  });
  // An answer for each county is offered only where it saves one.
  assert.deepEqual((await ask('choices', { topics: ['drought', 'radon'] })).areas, {
    tract: null,
    county: null,
  });
  const price = async (source: string) => {
    const { summary } = await ask('price', { source });
    return [summary.source.kind, summary.credits, summary.credits_available];
  };
  assert.deepEqual((await price('local')).slice(0, 2), ['local', 0]);
  assert.deepEqual(await price('service'), ['service', PLACES, 100_000]);
  const run = async (source: string, budget: number) => {
    // An output of another source would not be replaced.
    for (const name of readdirSync(harness.folder, { recursive: true, encoding: 'utf8' }))
      if (name.includes('.hazards.')) rmSync(join(harness.folder, name));
    const live = await runFor(budget, { source });
    const output = (await get('/result')).text;
    const statuses = new Set(column(output, 'hazard_status'));
    return [
      live.source,
      live.end?.state,
      [...statuses].join(),
      harness.charged(),
      harness.charged('made up'),
    ];
  };
  assert.deepEqual(await run('local', 0), ['local', 'complete', 'ok', 0, 0]);
  assert.deepEqual(await run('sample', 100), ['sample', 'complete', 'ok', 0, PLACES]);
  assert.deepEqual(
    await price('service'),
    ['service', PLACES, 100_000],
    'the sample is not counted for the account',
  );
  assert.equal((await get()).body.chosen.source, 'sample');
  assert.deepEqual(await run('service', 5), ['service', 'paused', 'ok,deferred', 5, PLACES]);
  assert.deepEqual(await run('service', 100), ['service', 'complete', 'ok', PLACES, PLACES]);
  assert.deepEqual(bugs, []);
});

test('what cannot be chosen has a reason, and asking for it all the same spends nothing', async (t) => {
  const { harness, post: ask } = await openBook(t, places(3), { sample: true });
  assert.match((await ask('choices')).body.sources.service, /--base-url and a key/);
  const refused = await ask('start', { source: 'service', ...yes(3) });
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'NO_SERVICE']);
  assert.equal((await ask('start', { source: 'anything', ...yes(3) })).status, 400);

  const all = await openBook(t, places(3), (opened) => allSources(opened, ['superfund']));
  const radius = { topics: ['superfund'], source: 'local' };
  const { sources } = (await all.post('choices', radius)).body;
  assert.match(sources.local ?? '', /^No data for superfund\. Get it: perilbook data get/);
  const priced = await all.post('price', radius);
  assert.equal(priced.body.error.code, 'LOCAL_DATA', 'never another source instead');
  assert.equal((await all.run(0, radius)).error?.code, 'LOCAL_DATA');
  assert.deepEqual(
    [harness.charged(), all.harness.charged(), all.harness.charged('made up')],
    [0, 0, 0],
  );
});

test('one answer a tract or county costs what the page said', async (t) => {
  const { harness, get, post, run } = await openBook(t, places(40), (opened) => allSources(opened));
  const base = { topics: ['drought'], source: 'service' };
  const credits = async (areas: object) =>
    (await post('price', { ...base, ...areas })).body.summary.credits;
  assert.equal(await credits({}), 40);
  const found = await credits({ areas: 'tract' });
  assert.equal(found, 21, 'one for the tract, and twenty to verify');
  assert.equal((await run(found, { ...base, areas: 'tract' })).end?.state, 'complete');
  assert.equal(harness.charged(), found);
  assert.equal((await get()).body.chosen.areas, 'tract');
});

test('the curve of a budget is what the budget buys; its marks are the fewest credits that buy so much', async (t) => {
  // Of 78: 12 + 11 + 10 + 9 = 42 are the first more than 50 %, seven places have 63, ten have 75.
  const rows = places(PLACES).map(([lat, lng], index) => `${lat},${lng},${index + 1}\n`);
  const table = `lat,lng,tiv\n${rows.join('')}`;
  const { harness, post } = await openBook(t, table, (opened) => allSources(opened));
  const choice = { lat: 0, lng: 1, topics: ['hail', 'wildfire'], source: 'service', order: 2 };
  const ask = async (what: string, body: object = {}) =>
    (await post(what, { ...choice, ...body })).body;
  const { curve } = await ask('price');
  assert.deepEqual(curve.marks, [
    { share: 0.5, credits: 2 * 4 },
    { share: 0.8, credits: 2 * 7 },
    { share: 0.95, credits: 2 * 10 },
  ]);
  assert.deepEqual(
    [curve.of, curve.points.length, curve.points.at(-1)],
    ['value', PLACES + 1, [2 * PLACES, 1]],
  );
  for (const [budget, share] of curve.points) {
    assert.equal((await ask('reach', { budget })).share_of_value, share, `${budget} credits`);
  }
  const inFileOrder = (await ask('price', { order: 'file' })).curve;
  assert.deepEqual(
    [inFileOrder.of, inFileOrder.marks[0]],
    ['places', { share: 0.5, credits: PLACES }],
  );
  const [credits, share] = curve.points[4];
  assert.equal(
    (await ask('reach', { budget: credits })).share_of_value,
    share,
    'not of what was priced last',
  );
  assert.equal((await ask('price', { source: 'local' })).curve, null, 'local answers are free');
  assert.equal(harness.charged(), 0);
});
