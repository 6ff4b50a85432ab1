import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type JobFile, plan, type RunEvent, run } from '../../src/index.ts';
import { column, places } from '../run/harness.ts';
import { openScene } from './library-scene.ts';

/** A job for a file of the scene's folder, and what its program passes. */
function programOf(
  { harness, secret, folder }: Awaited<ReturnType<typeof openScene>>,
  more: JobFile,
) {
  const job: JobFile = {
    ...{ input: 'input.csv', output: 'output.csv', store: 'store.db', topics: 'wildfire' },
    service: { base_url: harness.url, api_keys: [{ env: 'HAZARD_KEY' }] },
    subscription: { credits_per_month: 1_000, credits_per_minute: 1_000 },
    ...more,
  };
  return {
    job,
    options: { workingFolder: folder, dataFolder: folder, env: { HAZARD_KEY: secret } },
  };
}

test('plan prices a file and spends nothing; run buys it once', async (t) => {
  const scene = await openScene(t);
  const { harness, charged, folder } = scene;
  harness.writeInput(places(6));
  const { job, options } = programOf(scene, { topics: ['wildfire', 'park'] });
  assert.equal((await plan(job, { ...options, env: {} })).credits, 12);
  await assert.rejects(run(job, options), { code: 'NEEDS_APPROVAL', message: /12 credits/ });
  await assert.rejects(run({ ...job, budget: 12 }, { ...options, env: {} }), {
    code: 'KEY_MISSING',
  });
  assert.deepEqual([charged(), existsSync(join(folder, 'output.csv'))], [0, false]);

  const events: RunEvent[] = [];
  const onEvent = (event: RunEvent) => void events.push(event);
  const part = await run({ ...job, budget: 6 }, { ...options, onEvent });
  assert.deepEqual(
    [part.state, part.stop?.reason, part.summary.credits_spent, charged()],
    ['paused', 'budget', 6, 6],
  );
  assert.equal(events.findLast(({ type }) => type === 'stopped')?.type, 'stopped');

  writeFileSync(join(folder, 'job.yaml'), JSON.stringify({ ...job, budget: 100 }));
  const whole = await run(join(folder, 'job.yaml'), { ...options, workingFolder: '/' });
  assert.deepEqual([whole.state, charged()], ['complete', 12]);
  assert.deepEqual(new Set(column(harness.output(), 'hazard_status')), new Set(['ok']));
  assert.equal((await plan(job, options)).credits, 0);
  // Nothing to spend: no budget is needed.
  assert.deepEqual([(await run(job, options)).state, charged()], ['complete', 12]);
});

test('settings in a variable compile, although their words are texts there, and are checked', async (t) => {
  const { folder } = await openScene(t);
  writeFileSync(join(folder, 'input.csv'), 'lat,lng\n34.0522,-118.2437\n');
  const options = { workingFolder: folder, dataFolder: folder };
  const settings = { input: 'input.csv', service: 'local', topics: ['hail'], optimize: 'calls' };
  assert.equal((await plan(settings, options)).source.kind, 'local');
  await assert.rejects(run({ ...settings, service: 'lokal' }, options), {
    code: 'USAGE',
    message: /"lokal"/,
  });
});

test('an aborted run resolves, with all rows in its output', async (t) => {
  const scene = await openScene(t);
  const { harness, charged } = scene;
  harness.writeInput(places(80));
  const interruption = new AbortController();
  const { job, options } = programOf(scene, { budget: 100, concurrency: 2 });
  const ended = await run(job, {
    ...options,
    signal: interruption.signal,
    onEvent: (event) =>
      event.type === 'progress' && event.phase === 'buying' && interruption.abort(),
  });
  assert.deepEqual(
    [ended.state, column(harness.output(), 'hazard_status').length],
    ['interrupted', 80],
  );
  assert.equal(ended.summary.status.ok, charged());
  assert.ok(charged() < 80);
});

test('standard input, unknown settings and a missing job file are errors', async (t) => {
  const { folder } = await openScene(t);
  const options = { workingFolder: folder, dataFolder: folder };
  await assert.rejects(run({ input: '-' }, options), {
    code: 'USAGE',
    message: /standard input or output/,
  });
  await assert.rejects(plan({ inptu: 'x' } as never, options), {
    code: 'USAGE',
    message: /did you mean input\?/,
  });
  await assert.rejects(plan('none.yaml', options), { code: 'JOB_FILE' });
  assert.ok(
    !readFileSync(new URL('../../src/index.ts', import.meta.url), 'utf8').includes('process.'),
  );
});

test('run replaces an existing file that Perilbook did not write only where the program says so', async (t) => {
  const scene = await openScene(t);
  const { harness, folder, charged } = scene;
  harness.writeInput(places(2));
  writeFileSync(join(folder, 'output.csv'), 'policy\n1\n');
  const { job, options } = programOf(scene, { budget: 10 });
  await assert.rejects(run(job, options), { code: 'OUTPUT_EXISTS', message: /output\.csv exists/ });
  assert.deepEqual([harness.output(), charged()], ['policy\n1\n', 0]);
  assert.equal((await run(job, { ...options, force: true })).state, 'complete');
  assert.equal((await run(job, options)).state, 'complete');
  writeFileSync(join(folder, 'job.yaml'), JSON.stringify({ ...job, output: 'job.yaml' }));
  const onJobFile = run(join(folder, 'job.yaml'), { ...options, force: true });
  await assert.rejects(onJobFile, {
    code: 'OUTPUT_UNWRITABLE',
    message: /job\.yaml: .*cannot be written as/,
  });
  assert.equal(charged(), 2);
});
