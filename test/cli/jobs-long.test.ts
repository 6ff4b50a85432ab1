import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FastClock } from '../fast-clock.ts';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook, ROOT } from './command-line.ts';

/** Runs a job file of `jobs/` with its store and output in a folder of the test's. */
function jobRunner(t: TestContext, name: string, clock = new FastClock('2026-03-15T12:00:00Z', 50)) {
  const folder = temporaryFolder(t);
  const store = join(folder, 'store.db');
  const output = join(folder, 'out.csv');
  provideSampleData(store);
  return {
    clock,
    output: () => readFileSync(output, 'utf8'),
    run: async () => {
      const ended = await perilbook(['run', `jobs/${name}.yaml`, '--store', store, '-o', output, '--json'], { clock });
      return { ...ended, summary: JSON.parse(ended.stdout || 'null') };
    },
    command: (...words: string[]) => perilbook([...words, '--store', store], { clock }),
  };
}

test('every job file is run by a test', () => {
  const files = readdirSync(join(ROOT, 'jobs')).filter((file) => file.endsWith('.yaml'));
  const names = files.map((file) => file.replace('.yaml', ''));
  assert.deepEqual(names.sort(), ['nightly-portfolio', 'real-estate-list', 'resume-after-quota', 'sample']);
});

for (const name of ['sample', 'nightly-portfolio', 'real-estate-list']) {
  test(`jobs/${name}.yaml runs to its end; run again it spends nothing`, async (t) => {
    const job = jobRunner(t, name);
    const first = await job.run();
    assert.equal(first.code, 0, first.stderr);
    assert.ok(first.summary.credits_spent > 0 && first.summary.credits_spent <= first.summary.credits);
    assert.equal(first.summary.status.ok, first.summary.located);
    const input = readFileSync(inputOf(name), 'latin1').split(/\r?\n/);
    const output = Buffer.from(job.output()).toString('latin1').split(/\r?\n/);
    assert.ok(input.every((line, index) => output[index]!.startsWith(line)));
    assert.match(job.output(), /sample data/);
    const written = job.output();
    const second = await job.run();
    assert.deepEqual([second.code, second.summary.credits_spent], [0, 0]);
    assert.equal(job.output(), written);
  });
}

function inputOf(name: string): string {
  const yaml = readFileSync(join(ROOT, 'jobs', `${name}.yaml`), 'utf8');
  return join(ROOT, 'jobs', /^input: (\S+)/m.exec(yaml)![1]!);
}

test('jobs/resume-after-quota.yaml stops with exit code 4, says when to go on, and finishes after the anniversary', async (t) => {
  const job = jobRunner(t, 'resume-after-quota');
  const first = await job.run();
  assert.equal(first.code, 4, first.stderr);
  assert.equal(first.summary.resume_after, '2026-03-31T00:00:00.000Z');
  assert.match(first.stderr, /To resume after 2026-03-31 00:00 UTC: perilbook run/);
  assert.equal(job.output().trimEnd().split('\n').length, 121);
  assert.ok(first.summary.status.deferred > 0 && first.summary.credits_spent <= 600);

  const status = await job.command('status', '--json');
  assert.equal(JSON.parse(status.stdout)[0].state, 'paused');

  job.clock.moveTo('2026-03-31T00:00:01Z');
  const second = await job.run();
  assert.equal(second.code, 0, second.stderr);
  assert.equal(second.summary.status.deferred, 0);
  const quota = await job.command('quota', 'jobs/resume-after-quota.yaml', '--json');
  assert.equal(JSON.parse(quota.stdout).charged, second.summary.credits_spent);
  assert.equal(first.summary.credits_spent + second.summary.credits_spent, 65 * 15);
});
