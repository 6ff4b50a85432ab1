import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseJobFile } from '../../../src/run/settings/read-job-file.ts';
import { metricValue, parseOpenMetrics } from '../../open-metrics.ts';
import { openHarness, places } from '../../run/harness.ts';
import { releaseLater } from '../../service/small-data.ts';
import { startBin } from '../bin-process.ts';
import { perilbook, type SetupOptions } from '../command-line.ts';

/** The clock of a test that must not meet the time limits of on_finish: 10 s for an attempt take one. */
const SLOWER = { factor: 10 };

/** Secrets that the hook's program must not inherit, though the job does not name them. */
const OTHERS = { PGPASSWORD: 'of-postgres', PERILBOOK_API_KEY: 'of-another-job', PERILBOOK_AFDC_KEY: 'of-an-agency' };

/** Six cells of a credit each, at a service of the test's own. */
async function scene(t: TestContext, job: readonly string[], { factor = 200 } = {}) {
  const harness = await openHarness(t, { factor });
  harness.writeInput(places(6));
  const { secret } = harness.key();
  const { folder, clock, url } = harness;
  const lines = [
    'name: nightly',
    'input: input.csv',
    'output: output.csv',
    'store: store.db',
    'topics: wildfire',
    'subscription: professional',
    `service: {base_url: "${url}", api_keys: [{env: THE_KEY}]}`,
    ...job,
  ];
  writeFileSync(join(folder, 'job.yaml'), `${lines.join('\n')}\n`);
  return {
    ...{ harness, secret, folder },
    path: (name: string) => join(folder, name),
    run: (args: readonly string[], { job = 'job.yaml', ...options }: SetupOptions & { job?: string } = {}) =>
      perilbook(['run', job, ...args], {
        ...{ folder, clock, ...options },
        env: {
          PATH: process.env.PATH!,
          THE_KEY: secret,
          HOOK_SECRET: 'a secret of its own',
          ...OTHERS,
          ...options.env,
        },
      }),
  };
}

const TOLD = 'on_finish: {command: [sh, -c, "cat >> told; echo >> told; env > env; echo heard"]}';

test('on_finish starts a program after every end of a run, with the summary and without the key', async (t) => {
  const { run, path, secret, harness } = await scene(t, [TOLD], { factor: 50 });
  const stopped = new AbortController();
  stopped.abort();
  const ends = [
    await run(['--yes'], { interrupt: stopped.signal }),
    await run(['--budget', '2']),
    await run(['--budget', '2'], { env: { THE_KEY: 'pb_unknown_to_the_service' } }),
    await run(['--yes', '--base-url', 'http://127.0.0.1:9']),
    await run([]),
    await run(['--yes', '--json']),
  ];
  assert.deepEqual(
    ends.map(({ code }) => code),
    [130, 4, 5, 6, 2, 0],
  );
  const told = readFileSync(path('told'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    told.map(({ exit_code, state }) => [exit_code, state]),
    [
      [130, 'interrupted'],
      [4, 'paused'],
      [5, 'stopped'],
      [6, 'paused'],
      [2, 'failed'],
      [0, 'complete'],
    ],
  );
  const last = told.at(-1)!;
  assert.deepEqual(
    last.summary,
    JSON.parse(ends.at(-1)!.stdout),
    'what --json prints; what the program prints is not on stdout',
  );
  assert.deepEqual([last.event, last.job, last.version, last.error], ['run.finished', 'nightly', '0.0.0', null]);
  assert.deepEqual([told[4].error.code, told[4].summary], ['NEEDS_APPROVAL', null]);
  assert.match(ends[0]!.stderr, /^heard$/m);
  for (const name of ['told', 'env']) assert.ok(!readFileSync(path(name), 'utf8').includes(secret), name);
  assert.match(readFileSync(path('env'), 'utf8'), /^PATH=/m);
  for (const name of Object.keys(OTHERS)) assert.ok(!readFileSync(path('env'), 'utf8').includes(`${name}=`), name);
  assert.equal(harness.charged(), 6);
});

test('of a program that prints without end, the beginning is shown', async (t) => {
  const { run } = await scene(t, ['on_finish: {command: [sh, -c, "yes x | head -c 50000000"]}'], SLOWER);
  const { code, stderr } = await run(['--yes']);
  assert.equal(code, 0);
  assert.ok(stderr.length < 60_000, `${stderr.length} characters`);
  assert.match(stderr, /^sh printed more, which is not shown\.$/m);
});

test('a program that fails is reported and changes no exit code', async (t) => {
  const { run, path } = await scene(t, ['on_finish: {command: [./nothing-here]}'], SLOWER);
  const none = await run(['--yes', '--quiet']);
  assert.equal(none.code, 0);
  assert.match(
    none.stderr,
    /^perilbook: on_finish failed: .*nothing-here cannot be started \(ENOENT\)\. The run itself is not affected\.$/m,
  );
  const { code, stderr } = await run(['--yes', '--on-finish', 'false']);
  assert.deepEqual([code, /on_finish failed: false ended with exit code 1\./.test(stderr)], [0, true]);
  const logged = await run(['--yes', '--on-finish', 'false', '--log', 'json']);
  const event = logged.stderr.split('\n').find((line) => line.includes('on_finish failed'));
  assert.equal(JSON.parse(event!).level, 'warning');
  assert.ok(existsSync(path('output.csv')));
});

test('a program of the job file is found beside it, whatever way the job file is named', async (t) => {
  const { run, path } = await scene(t, ['on_finish: {command: [./tell-us.sh, nightly]}'], SLOWER);
  mkdirSync(path('op'));
  mkdirSync(path('bin'));
  copyFileSync(path('job.yaml'), path('op/below.yaml'));
  writeFileSync(path('op/above.yaml'), readFileSync(path('job.yaml'), 'utf8').replace('./tell', '../tell'));
  for (const [program, said] of [
    ['tell-us.sh', 'beside'],
    ['op/tell-us.sh', 'below'],
    ['bin/tell-us.sh', 'PATH'],
  ] as const) {
    writeFileSync(path(program), `#!/bin/sh\necho "${said} $1" >> "${path('told')}"\n`, { mode: 0o755 });
  }
  const env = { PATH: `${path('bin')}:${process.env.PATH}` };
  for (const job of ['job.yaml', './job.yaml', path('job.yaml'), 'op/above.yaml', 'op/below.yaml']) {
    const { stderr } = await run([], { env, job });
    assert.doesNotMatch(stderr, /on_finish failed/, job);
  }
  assert.deepEqual(readFileSync(path('told'), 'utf8').trim().split('\n'), [
    ...Array(4).fill('beside nightly'),
    'below nightly',
  ]);
});

interface Post {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A webhook that answers with these statuses in turn, the last one again and again. */
async function webhook(t: TestContext, statuses: readonly number[]): Promise<{ url: string; posts: Post[] }> {
  const posts: Post[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      posts.push({ headers: request.headers, body });
      response.writeHead(statuses[posts.length - 1] ?? statuses.at(-1)!, { location: '/elsewhere' }).end();
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  releaseLater(t, () => new Promise((done) => server.close(done)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/s3cret-path`, posts };
}

test('a webhook gets a signed POST, again after an error that may pass, with the same id', async (t) => {
  const { url, posts } = await webhook(t, [500, 429, 204]);
  const { run, secret } = await scene(t, [`on_finish: {url: "${url}", secret: {env: HOOK_SECRET}}`], SLOWER);
  const { code, stderr } = await run(['--budget', '2']);
  assert.equal(code, 4, stderr);
  assert.doesNotMatch(stderr, /on_finish/);
  assert.equal(posts.length, 3);
  const [first, , { headers, body } = assert.fail()] = posts;
  assert.equal(headers['webhook-id'], first!.headers['webhook-id']);
  assert.equal(headers['content-type'], 'application/json');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const expected = createHmac('sha256', 'a secret of its own').update(signed).digest('base64');
  assert.equal(headers['webhook-signature'], `v1,${expected}`);
  assert.equal(JSON.parse(body).exit_code, 4);
  assert.ok(!JSON.stringify(posts).includes(secret));
});

test('a webhook that refuses is asked once, one that is down five times; its path is not printed', async (t) => {
  for (const [statuses, attempts, words] of [
    [[400], 1, 'it answered with status 400'],
    [[302], 1, 'it answered with status 302'],
    [[503], 5, 'it answered with status 503 (5 attempts)'],
  ] as const) {
    const { url, posts } = await webhook(t, statuses);
    const { run } = await scene(t, [], SLOWER);
    const { code, stderr } = await run(['--yes', '--on-finish', url]);
    assert.deepEqual([code, posts.length], [0, attempts], stderr);
    assert.ok(stderr.includes(`on_finish failed: ${new URL(url).host}: ${words}.`), stderr);
    assert.doesNotMatch(stderr, /s3cret-path/);
    assert.equal(posts[0]!.headers['webhook-signature'], undefined, 'no secret, no signature');
  }
});

/** A webhook that writes these pieces again and again to its client's socket, and never ends a response. */
async function endlessWebhook(t: TestContext, begin: string, again: string): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.write(begin);
    const timer = setInterval(() => socket.write(again), 5);
    socket.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  releaseLater(t, async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const HANGING = { timeout: 300_000 };

for (const [what, begin, again, isDelivered] of [
  ['answers nothing', '', '', false],
  ['drips the bytes of its head', 'HTTP/1.1 200 OK\r\nx-drip: ', 'x', false],
  ['sends 102 again and again', '', 'HTTP/1.1 102 Processing\r\n\r\n', false],
  ['drips a body that nobody reads', 'HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\n', ' ', true],
] as const) {
  test(`a webhook that ${what} does not hold the run`, HANGING, async (t) => {
    const url = await endlessWebhook(t, begin, again);
    const { run } = await scene(t, [], isDelivered ? SLOWER : {});
    const { code, stderr } = await run(['--budget', '2', '--on-finish', url]);
    assert.equal(code, 4, stderr);
    if (isDelivered) assert.doesNotMatch(stderr, /on_finish failed/);
    else assert.match(stderr, /on_finish failed: 127\.0\.0\.1:\d+: it did not answer in time \(\d attempts?\)/);
  });
}

for (const [what, script, problem, clock] of [
  ['ignores SIGTERM', 'trap "" TERM; while :; do sleep 0.05; done', /sh did not end within 60 s/, {}],
  ['leaves a child that holds its pipes', 'sleep 65 & exit 0', null, SLOWER],
  ['fails and leaves a child that holds its pipes', 'sleep 65 & exit 3', /sh ended with exit code 3/, SLOWER],
  ['is ended with a child that holds its pipes', 'trap "" TERM; sleep 65', /sh did not end within 60 s/, {}],
] as const) {
  test(`a program of on_finish that ${what} does not hold the run`, HANGING, async (t) => {
    const { run } = await scene(t, [`on_finish: {command: [sh, -c, ${JSON.stringify(script)}]}`], clock);
    const { code, stderr } = await run(['--budget', '2']);
    assert.equal(code, 4, stderr);
    if (problem === null) assert.doesNotMatch(stderr, /on_finish failed/);
    else assert.match(stderr, problem);
  });
}

test('the process ends although a program of on_finish has left a child that holds its pipes', HANGING, async (t) => {
  const { folder, secret, harness } = await scene(t, [
    'on_finish: {command: [sh, -c, "echo heard; sleep 65 & exit 0"]}',
  ]);
  const bin = startBin(t, ['run', 'job.yaml', '--yes'], folder, { THE_KEY: secret });
  const { code, stderr } = await bin.ended;
  assert.deepEqual([code, harness.charged()], [0, 6], stderr);
  assert.match(stderr, /heard/);
});

test('a missing secret is found before anything is spent', async (t) => {
  const { run, harness } = await scene(t, [
    'on_finish: {url: "https://hooks.example.com/x", secret: {file: hook.secret}}',
  ]);
  const { code, stderr } = await run(['--yes']);
  assert.equal(code, 5);
  assert.match(stderr, /The secret of on_finish is not there: .*hook\.secret/);
  assert.equal(harness.charged(), 0);
});

test('metrics that would replace the output or the store are refused before anything is spent', async (t) => {
  const { run, harness } = await scene(t, []);
  const codes = [];
  for (const file of ['output.csv', 'input.csv', 'store.db', 'nowhere/run.prom']) {
    codes.push((await run(['--yes', '--metrics', file])).code);
  }
  assert.deepEqual([codes, harness.charged()], [[2, 2, 2, 2], 0]);
});

test('what on_finish may say', async () => {
  for (const [said, message] of [
    ['{}', /name either a program \(command\) or a webhook \(url\)/],
    ['{command: [a], url: "https://h.example"}', /name either a program/],
    ['{command: [a], secret: {env: A}}', /secret and allow_http belong to a webhook/],
    ['{url: "http://h.example/x"}', /not encrypted: use https:\/\/, or add allow_http: true/],
    ['{url: "http://127.0.0.1.h.example/x"}', /not encrypted/],
    ['{url: "http://127.h.example/x"}', /not encrypted/],
    ['{url: "https://user:word@h.example/x"}', /without user and password/],
    ['{url: "https://h.example", secret: {}}', /name either the environment variable/],
  ] as const) {
    assert.throws(() => parseJobFile(`on_finish: ${said}`, 'job.yaml'), { code: 'JOB_FILE', message }, said);
  }
  for (const said of [
    '{url: "http://localhost:8080/x"}',
    '{url: "http://h.example", allow_http: true}',
    '{command: [a, b]}',
  ])
    parseJobFile(`on_finish: ${said}`, 'job.yaml');
  const { code, stderr } = await perilbook(['run', 'x.csv', '--on-finish', 'http://h.example/s3cret']);
  assert.equal(code, 2);
  assert.match(stderr, /--on-finish: the webhook is on another machine and not encrypted/);
  assert.doesNotMatch(stderr, /s3cret/);
});

test('metrics are OpenMetrics text of the last run; the last success stays after a failure', async (t) => {
  const { run, path, secret } = await scene(t, ['metrics: run.prom']);
  const read = () => {
    const text = readFileSync(path('run.prom'), 'utf8');
    assert.ok(!text.includes(secret));
    const samples = parseOpenMetrics(text);
    return (name: string, labels?: Record<string, string>) =>
      metricValue(samples, `perilbook_run_${name}`, { job: 'nightly', ...labels });
  };
  await run(['--budget', '2']);
  const paused = read();
  assert.deepEqual(
    [paused('exit_code'), paused('rows', { status: 'ok' }), paused('rows', { status: 'deferred' })],
    [4, 2, 4],
  );
  assert.deepEqual([paused('planned_credits'), paused('spent_credits'), paused('unknown_credits')], [6, 2, 0]);
  assert.deepEqual([paused('calls'), paused('retries'), paused('last_success_timestamp_seconds')], [2, 0, null]);
  await run(['--yes']);
  const whole = read();
  assert.deepEqual([whole('exit_code'), whole('spent_credits'), whole('rows', { status: 'ok' })], [0, 4, 6]);
  assert.equal(whole('last_success_timestamp_seconds'), whole('end_timestamp_seconds'));
  assert.ok(whole('duration_seconds')! >= 0 && whole('left_credits')! > 0);
  const { code } = await run(['--topics', 'hail', '--yes'], { env: { THE_KEY: '' } });
  const failed = read();
  assert.deepEqual([code, failed('exit_code'), failed('rows'), failed('spent_credits')], [5, 5, null, null]);
  assert.equal(failed('last_success_timestamp_seconds'), whole('last_success_timestamp_seconds'));
});
