import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openHarness, places } from '../../run/harness.ts';
import { startBin } from '../bin-process.ts';
import { perilbook, type SetupOptions } from '../command-line.ts';

/** The clock of a test that must not meet the time limits of on_finish: 10 s for an attempt take one. */
const SLOWER = { factor: 10 };

/** Secrets that the hook's program must not inherit, though the job does not name them. */
const OTHERS = {
  PGPASSWORD: 'of-postgres',
  PERILBOOK_API_KEY: 'of-another-job',
  PERILBOOK_AFDC_KEY: 'of-an-agency',
};

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
    run: (
      args: readonly string[],
      { job = 'job.yaml', ...options }: SetupOptions & { job?: string } = {},
    ) =>
      perilbook(['run', job, ...args], {
        ...{ folder, clock, ...options },
        env: { PATH: process.env.PATH!, THE_KEY: secret, ...OTHERS, ...options.env },
      }),
  };
}

const TOLD = 'on_finish: [sh, -c, "cat >> told; echo >> told; env > env; echo heard"]';

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
  const lines = readFileSync(path('told'), 'utf8').trim().split('\n');
  const told = lines.map((line) => JSON.parse(line));
  const codes = ends.map(({ code }) => code);
  assert.deepEqual(codes, [130, 4, 5, 6, 2, 0]);
  const states = ['interrupted', 'paused', 'stopped', 'paused', 'failed', 'complete'];
  const heard = told.map(({ exit_code, state }) => [exit_code, state]);
  assert.deepEqual(
    heard,
    states.map((state, index) => [codes[index], state]),
  );
  const last = told.at(-1)!;
  // What --json prints; what the program prints is not on stdout.
  assert.deepEqual(last.summary, JSON.parse(ends.at(-1)!.stdout));
  assert.deepEqual(
    [last.event, last.job, last.version, last.error],
    ['run.finished', 'nightly', '0.0.0', null],
  );
  assert.deepEqual([told[4].error.code, told[4].summary], ['NEEDS_APPROVAL', null]);
  assert.match(ends[0]!.stderr, /^heard$/m);
  for (const name of ['told', 'env'])
    assert.ok(!readFileSync(path(name), 'utf8').includes(secret), name);
  assert.match(readFileSync(path('env'), 'utf8'), /^PATH=/m);
  for (const name of Object.keys(OTHERS))
    assert.ok(!readFileSync(path('env'), 'utf8').includes(`${name}=`), name);
  assert.equal(harness.charged(), 6);
});

test('of a program that prints without end, the beginning is shown', async (t) => {
  const { run } = await scene(t, ['on_finish: [sh, -c, "yes x | head -c 50000000"]'], SLOWER);
  const { code, stderr } = await run(['--yes']);
  assert.equal(code, 0);
  assert.ok(stderr.length < 60_000, `${stderr.length} characters`);
  assert.match(stderr, /^sh printed more, which is not shown\.$/m);
});

test('a program of the job file is found beside it, whatever way the job file is named', async (t) => {
  const { run, path } = await scene(t, ['on_finish: [./tell-us.sh, nightly]'], SLOWER);
  mkdirSync(path('op'));
  mkdirSync(path('bin'));
  copyFileSync(path('job.yaml'), path('op/below.yaml'));
  writeFileSync(
    path('op/above.yaml'),
    readFileSync(path('job.yaml'), 'utf8').replace('./tell', '../tell'),
  );
  for (const [program, said] of [
    ['tell-us.sh', 'beside'],
    ['op/tell-us.sh', 'below'],
    ['bin/tell-us.sh', 'PATH'],
  ] as const) {
    writeFileSync(path(program), `#!/bin/sh\necho "${said} $1" >> "${path('told')}"\n`, {
      mode: 0o755,
    });
  }
  const env = { PATH: `${path('bin')}:${process.env.PATH}` };
  for (const job of [
    'job.yaml',
    './job.yaml',
    path('job.yaml'),
    'op/above.yaml',
    'op/below.yaml',
  ]) {
    const { stderr } = await run([], { env, job });
    assert.doesNotMatch(stderr, /on_finish failed/, job);
  }
  assert.equal(
    readFileSync(path('told'), 'utf8'),
    `${'beside nightly\n'.repeat(4)}below nightly\n`,
  );
});

const HANGING = { timeout: 300_000 };

for (const [what, script, problem, clock] of [
  [
    'ignores SIGTERM',
    'trap "" TERM; while :; do sleep 0.05; done',
    /sh did not end within 60 s/,
    {},
  ],
  ['leaves a child that holds its pipes', 'sleep 65 & exit 0', null, SLOWER],
  [
    'fails and leaves a child that holds its pipes',
    'sleep 65 & exit 3',
    /sh ended with exit code 3/,
    SLOWER,
  ],
  [
    'is ended with a child that holds its pipes',
    'trap "" TERM; sleep 65',
    /sh did not end within 60 s/,
    {},
  ],
] as const) {
  test(`a program of on_finish that ${what} does not hold the run`, HANGING, async (t) => {
    const { run } = await scene(t, [`on_finish: [sh, -c, ${JSON.stringify(script)}]`], clock);
    const { code, stderr } = await run(['--budget', '2']);
    assert.equal(code, 4, stderr);
    if (problem === null) assert.doesNotMatch(stderr, /on_finish failed/);
    else assert.match(stderr, problem);
  });
}

test(
  'the process ends although a program of on_finish has left a child that holds its pipes',
  HANGING,
  async (t) => {
    const { folder, secret, harness } = await scene(t, [
      'on_finish: [sh, -c, "echo heard; sleep 65 & exit 0"]',
    ]);
    const bin = startBin(t, ['run', 'job.yaml', '--yes'], folder, { THE_KEY: secret });
    const { code, stderr } = await bin.ended;
    assert.deepEqual([code, harness.charged()], [0, 6], stderr);
    assert.match(stderr, /heard/);
  },
);
