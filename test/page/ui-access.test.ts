import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { safeFileName } from '../../src/page/files/workspace.ts';
import { Peers, peerUser, Sessions } from '../../src/page/web/access.ts';
import { anyCharacter, fc } from '../properties.ts';
import { type Harness, places } from '../run/harness.ts';
import { enter, openBook, openUi, WILDFIRE, yes } from './ui-scene.ts';

const PATHS = [
  '/',
  '/assets/app.js',
  '/api/about',
  '/api/alive',
  '/api/files/0000000000000000/result',
];

test('a token opens one session and is used up; without a session nothing is answered', async (t) => {
  const scene = await openUi(t);
  const stranger = scene.stranger();
  for (const path of PATHS) assert.equal((await stranger.ask('GET', path)).status, 401, path);
  for (const token of ['', 'AAAAAAAAAAAAAAAAAAAAAA', '%00', 'a'.repeat(5000)]) {
    assert.equal((await stranger.ask('GET', `/?token=${token}`)).status, 401);
  }
  const address = new URL(scene.ui.newAddress());
  assert.equal(address.hostname, '127.0.0.1');
  assert.equal(Buffer.from(address.searchParams.get('token')!, 'base64url').length, 16, '128 bits');
  const first = await stranger.ask('GET', `/${address.search}`);
  assert.equal(first.status, 200);
  assert.match(first.text, /http-equiv="refresh" content="0; url=\/"/);
  const cookie = String(first.headers['set-cookie']);
  assert.match(cookie, /^perilbook_ui_\d+=[\w-]{22}; HttpOnly; SameSite=Strict; Path=\/$/);
  assert.equal((await stranger.ask('GET', `/${address.search}`)).status, 401, 'the second time');
  const headers = { cookie: cookie.split(';')[0] };
  for (const sent of [headers.cookie, `other=1; ${headers.cookie}; last=2`]) {
    assert.equal((await stranger.ask('GET', '/', { headers: { cookie: sent } })).status, 200);
  }
  for (const forged of [
    '',
    'perilbook_ui_1=x',
    `x${headers.cookie}`,
    `${headers.cookie}x`,
    headers.cookie!.slice(0, -1),
  ]) {
    assert.equal(
      (await stranger.ask('GET', '/', { headers: { cookie: forged } })).status,
      401,
      forged,
    );
  }
});

test('another host, another origin, none at all: refused, with and without a session', async (t) => {
  const scene = await openUi(t);
  const { port } = scene.ui;
  const visitor = await scene.visit();
  const address = new URL(scene.ui.newAddress());
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    `localhost:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
  ]) {
    assert.equal((await visitor.ask('GET', '/', { headers: { host } })).status, 421, host);
    assert.equal(
      (await scene.stranger().ask('GET', `/${address.search}`, { headers: { host } })).status,
      421,
      host,
    );
  }
  assert.equal(
    (await scene.stranger().ask('GET', `/${address.search}`)).status,
    200,
    'those have not used it up',
  );
  const { id } = (await visitor.upload('book.csv', scene.harness.writeInput(places(3)))).body;
  const body = { ...WILDFIRE, ...yes(3) };
  for (const origin of [
    undefined,
    'null',
    'http://evil.example',
    `http://localhost:${port}`,
    `https://127.0.0.1:${port}`,
  ]) {
    for (const path of ['start', 'stop', 'price']) {
      const { status } = await visitor.ask('POST', `/api/files/${id}/${path}`, {
        headers: { origin },
        body,
      });
      assert.equal(status, 403, `${path} from ${origin}`);
    }
  }
  for (const [origin, status] of [
    [`http://127.0.0.1:${port}`, 200],
    ['http://evil.example', 403],
  ] as const) {
    assert.equal(
      (await visitor.ask('GET', '/api/about', { headers: { origin } })).status,
      status,
      origin,
    );
  }
  const asForm = { 'content-type': 'text/plain' };
  const form = await visitor.ask('POST', `/api/files/${id}/start`, {
    headers: asForm,
    body: JSON.stringify(body),
  });
  assert.equal(form.status, 415);
  assert.equal(scene.harness.charged(), 0);
});

test('only this machine is listened to', async (t) => {
  const scene = await openUi(t);
  const refused = await new Promise((resolve) => {
    const socket = connect(scene.ui.port, '::1');
    socket.on('connect', () => resolve(false));
    socket.on('error', () => resolve(true));
  });
  assert.ok(refused);
});

test('every answer carries the policies, errors too', async (t) => {
  const scene = await openUi(t);
  const visitor = await scene.visit();
  for (const path of [...PATHS, '/nothing', '/api/files/xyz']) {
    for (const who of [visitor, scene.stranger()]) {
      const { headers } = await who.ask('GET', path);
      // The page itself has one inline part, the map of its libraries.
      const map = path === '/' && who === visitor ? " 'sha256-[\\w+/]{43}='" : '';
      assert.match(
        String(headers['content-security-policy']),
        new RegExp(`^default-src 'none'; script-src 'self'${map};.*frame-ancestors 'none'`),
      );
      assert.doesNotMatch(String(headers['content-security-policy']), /unsafe|http|\*/);
      assert.deepEqual(
        [headers['x-frame-options'], headers['cache-control'], headers['x-content-type-options']],
        ['DENY', 'no-store', 'nosniff'],
      );
    }
  }
});

test('names of uploads never lead out of their folder', async (t) => {
  const scene = await openUi(t);
  const visitor = await scene.visit();
  const names = [
    '../../../evil.csv',
    '..\\..\\evil.csv',
    '/etc/passwd',
    '.',
    '..',
    '',
    '.hidden',
    'a\u0000b.csv',
  ];
  const before = readdirSync(scene.harness.folder).sort();
  const books = [];
  for (const name of names) {
    const { status, body } = await visitor.upload(name, 'lat,lng\n40.1,-99.9\n');
    assert.equal(status, 201, name);
    assert.equal(
      readFileSync(join(scene.harness.folder, 'ui', body.id, 'input', body.name), 'utf8').length,
      19,
    );
    books.push(body.id);
  }
  assert.deepEqual(
    readdirSync(scene.harness.folder).sort(),
    before,
    'nothing beside the workspace',
  );
  assert.deepEqual(readdirSync(join(scene.harness.folder, 'ui')).sort(), books.sort());
  const { status } = await visitor.upload('job.yaml', 'lat,lng\n40.1,-99.9\n');
  assert.equal(status, 422, 'a job file is no table');
});

test('a safe name has no folder, hides nothing, is not empty or too long for a disk, whatever was said', () => {
  const long = fc.string({ unit: anyCharacter, minLength: 60, maxLength: 300 });
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: anyCharacter }), long), (said) => {
      const name = safeFileName(said);
      // 255 bytes is the limit, and `.hazards.csv` comes behind it.
      assert.ok(name.length > 0 && Buffer.byteLength(name) <= 136);
      assert.doesNotMatch(name, /[/\\\p{Cc}]|^\.|^\s/u);
    }),
  );
  assert.equal(safeFileName('Bücher 2026.csv'), 'Bücher 2026.csv');
  assert.equal(safeFileName(`${'災'.repeat(120)}.csv`), `${'災'.repeat(40)}.csv`);
  // A character that would be cut is left out whole.
  assert.equal(safeFileName(`a${'災'.repeat(120)}.csv`), `a${'災'.repeat(39)}.csv`);
});

test('what is asked for by path, number or name, and is not there, is not there', async (t) => {
  const { visitor, id, post, bugs } = await openBook(t, places(3));
  for (const path of [
    ...[
      '/assets/..%2f..%2fdesk.ts',
      '/assets/%2e%2e/%2e%2e/package.json',
      '/assets/../start-ui.ts',
    ],
    ...['/api/files/..%2f..%2fstore.db/result', `/api/files/${id}%2f..%2f${id}/result`],
    ...[`/api/files/${id}/result`, `/api/files/${id}/report`, '/api/files/0123456789abcdef'],
    ...['/api/files/0123456789abcdef/events', `/api/files/${id}/start`],
  ]) {
    assert.equal((await visitor.ask('GET', path)).status, 404, path);
  }
  for (const body of [{ lat: 99 }, { lat: 1, lng: 99 }, { topics: ['rain'] }, { topics: [] }]) {
    const { status } = await post('price', body);
    assert.ok(status === 422 || status === 400, JSON.stringify(body));
  }
  assert.deepEqual(bugs, []);
});

test('a request with too much JSON is refused', async (t) => {
  const visitor = await (await openUi(t)).visit();
  const json = await visitor.ask('POST', '/api/files/named', {
    body: { path: 'x'.repeat(100_000) },
  });
  assert.equal(json.status, 413);
});

test('a file of this machine: named once or twice it is one book; what is no file is refused', async (t) => {
  const scene = await openUi(t);
  const { folder } = scene.harness;
  const visitor = await scene.visit();
  scene.harness.writeInput(places(3));
  const name = (path: string) => visitor.ask('POST', '/api/files/named', { body: { path } });
  const first = await name('input.csv');
  assert.equal(first.status, 201);
  assert.equal((await name(join(folder, 'input.csv'))).body.id, first.body.id);
  mkdirSync(join(folder, 'folder'));
  symlinkSync('/dev/zero', join(folder, 'endless'));
  writeFileSync(join(folder, 'empty.csv'), '');
  writeFileSync(join(folder, 'nightly.yaml'), 'input: portfolio.csv\ntopics: natural\n');
  writeFileSync(join(folder, 'notes.txt'), 'Call Ann.\nCall Bob.\n');
  for (const [path, message] of [
    ['folder', / is not a file$/],
    ['endless', / is not a file$/],
    ['missing.csv', / does not exist$/],
    ['empty.csv', /empty/],
    ['-', / does not exist$/],
    [' ', /^path: /],
    ['nightly.yaml', /^nightly\.yaml is a job file, not a list of locations$/],
    ['notes.txt', /^notes\.txt is not a table: its first line has one column$/],
  ] as const) {
    const { status, body } = await name(path);
    assert.ok(status === 422 || status === 400, `${path}: ${status}`);
    assert.match(body.error.message, message);
    assert.ok(body.error.hint.length > 0);
  }
  const { id } = first.body;
  await visitor.ask('POST', `/api/files/${id}/start`, { body: { ...WILDFIRE, ...yes(3) } });
  await visitor.ended(id);
  assert.equal(
    existsSync(join(folder, 'input.hazards.csv')),
    false,
    'the output lies in the workspace',
  );
});

test('the key is in no answer', async (t) => {
  let key: ReturnType<Harness['key']> | undefined;
  const { visitor, id, run } = await openBook(t, places(3), (harness) => {
    key = harness.key();
    const connection = {
      kind: 'service',
      baseUrl: harness.url,
      source: 'harness',
      sample: false,
      keys: [key],
    } as const;
    return { connectionOf: async () => connection };
  });
  const texts = [JSON.stringify(await run(3))];
  for (const path of ['/api/about', '/api/alive', `/api/files/${id}`, `/api/files/${id}/result`]) {
    texts.push((await visitor.ask('GET', path)).text);
  }
  for (const text of texts)
    assert.ok(!text.includes(key!.secret) && !text.includes(key!.fingerprint));
});

test('a report is shown in an origin of its own, its inline parts known by their hashes', async (t) => {
  const { get, run } = await openBook(t, places(3));
  assert.equal((await get('/report')).status, 404, 'before a run');
  await run(3);
  const { headers, text } = await get('/report');
  assert.match(text, /^<!doctype html>[\s\S]*Wildfire/);
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /sandbox allow-scripts/);
  assert.doesNotMatch(policy, /unsafe|allow-same-origin/);
  const own = /http-equiv="Content-Security-Policy" content="(.*?)"/.exec(text)![1]!;
  const [, script] = /<script type="module">([\s\S]*?)<\/script>/.exec(text)!;
  assert.ok(
    own.includes(`script-src 'sha256-${createHash('sha256').update(script!).digest('base64')}';`),
    own,
  );
  assert.match(own, /^default-src 'none'; /);
});

test('sessions know what they gave out, and nothing else', () => {
  const sessions = new Sessions();
  const tokens = [sessions.newToken(), sessions.newToken()];
  const session = sessions.exchange(tokens[1]!)!;
  assert.ok(sessions.isOpen(session) && !sessions.isOpen(tokens[0]!) && !sessions.isOpen(''));
  assert.equal(sessions.exchange(tokens[1]!), null);
  assert.equal(sessions.exchange(session), null);
  const later = Array.from({ length: 50 }, () => sessions.exchange(sessions.newToken())!);
  for (const open of [session, ...later, sessions.exchange(tokens[0]!)!])
    assert.ok(sessions.isOpen(open));
});

test('a session ends with its process: it opens no later page, on any port', async (t) => {
  const scene = await openUi(t);
  const session = (await enter(scene.ui.newAddress())).split('=')[1];
  const { search } = new URL(scene.ui.newAddress());
  const later = await scene.restart();
  const cookie = `perilbook_ui_${later.ui.port}=${session}`;
  assert.equal((await later.stranger().ask('GET', '/', { headers: { cookie } })).status, 401);
  assert.equal((await later.stranger().ask('GET', `/${search}`)).status, 401, 'nor does a token');
});

test('a browser that is refused gets a page whose title says that it is an error', async (t) => {
  const { stranger } = await openUi(t);
  const refused = await stranger().ask('GET', '/', { headers: { accept: 'text/html' } });
  assert.equal(refused.status, 401);
  assert.match(refused.text, /<title>Error: [^<]+ · Perilbook<\/title>.*<h1>/);
});

test('hundreds of connections at once are looked up together: the kernel writes its table for few of them', async () => {
  const readings: string[] = [];
  let isHeld = Promise.withResolvers<void>();
  const peers = new Peers(async (path) => {
    readings.push(path);
    await isHeld.promise;
    return '';
  });
  const ends = (remotePort: number) =>
    ({ localAddress: '127.0.0.1', localPort: 1, remoteAddress: '127.0.0.1', remotePort }) as Socket;
  const strangers = Array.from({ length: 400 }, (_, at) => ends(2_000 + at));
  const asked = strangers.map((socket) => peers.isOwn(socket));
  // Each request of a connection asks again.
  asked.push(...strangers.map((socket) => peers.isOwn(socket)));
  isHeld.resolve();
  isHeld = Promise.withResolvers();
  isHeld.resolve();
  const answers = new Set(await Promise.all(asked));
  if (readings.length === 0) return assert.deepEqual([...answers], [true], 'there is no table');
  assert.deepEqual([...answers], [false]);
  for (const times of Map.groupBy(readings, (path) => path).values())
    assert.ok(times.length <= 2, `${times.length} readings for 400 connections`);
});

test('a connection of another user of the machine is closed, whatever it sends, and although it has left', async (t) => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:2250 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1',
    '   1: 0100007F:2250 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 2',
    '   2: 0200007F:D431 0200007F:2250 01 00000000:00000000 00:00000000 00000000     0        0 3',
    '   3: 0100007F:D431 0100007F:2250 01 00000000:00000000 00:00000000 00000000  1001        0 4',
    '   4: 0000000000000000FFFF00000100007F:D432 0000000000000000FFFF00000100007F:2250 05 0:0 0:0 0  1002 0 5',
    '   5: 0200007F:D433 0200007F:2250 01 00000000:00000000 00:00000000 00000000     0        0 6',
    '   6: 0100007F:D433 0100007F:2250 05 00000000:00000000 03:00000000 00000000     0        0 0',
  ].join('\n');
  const address = { localAddress: '127.0.0.1', localPort: 0x2250, remoteAddress: '127.0.0.1' };
  const userAt = (remotePort: number) => peerUser(table, { ...address, remotePort });
  assert.deepEqual([0xd431, 0xd432, 0xd433, 0xd434].map(userAt), [
    1001,
    1002,
    undefined,
    undefined,
  ]);
  // Only root can be somebody else.
  if (userInfo().uid !== 0 || !existsSync('/proc/net/tcp')) return;
  const { ui } = await openUi(t);
  const script = `exec 3<>/dev/tcp/127.0.0.1/${ui.port}; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3`;
  const said = (uid: number) =>
    new Promise<string>((resolve) => {
      execFile('/bin/bash', ['-c', script], { uid, cwd: '/' }, (_, stdout) => resolve(stdout));
    });
  assert.match(await said(0), /^HTTP\/1\.1 421 /);
  assert.equal(await said(65_534), '');
  const entry = ui.newAddress();
  const { host, search } = new URL(entry);
  const request = `printf 'GET /${search} HTTP/1.1\\r\\nHost: ${host}\\r\\n\\r\\n' >/dev/tcp/127.0.0.1/${ui.port}`;
  const isEnding = `grep -qi ':${ui.port.toString(16).padStart(4, '0')} 04 ' /proc/net/tcp`;
  // The page's thread waits for the script: it accepts a connection whose client has left, and is nobody's for the kernel.
  spawnSync('/bin/bash', ['-c', `${request}; while ${isEnding}; do sleep 0.01; done`], {
    uid: 65_534,
    cwd: '/',
  });
  assert.match(await enter(entry), /^perilbook_ui_/);
});

test('a user without an entry in the list of users uses the page', async (t) => {
  if (userInfo().uid !== 0) return;
  const scene = await openUi(t);
  process.seteuid!(61_234);
  try {
    assert.equal((await scene.stranger().ask('GET', '/')).status, 401);
  } finally {
    process.seteuid!(0);
  }
});
