import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { reportCommand, resumeCommand } from '../../src/cli/messages/resume-command.ts';
import type { RunResult } from '../../src/run/run-job.ts';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

/** Six places, one of them twice and worth most, in a column with a name of its own. */
function portfolio(t: TestContext): string {
  const folder = temporaryFolder(t);
  const rows = [10, 20, 30, 40, 50, 1_000, 850].map(
    (value, index) => `${index},34.0${Math.min(index, 5)}22,-118.2437,${value}\n`,
  );
  writeFileSync(join(folder, 'book.csv'), `id,lat,lng,tiv_2012\n${rows.join('')}`);
  provideSampleData(join(folder, 'store.db'));
  return folder;
}

const RUN = ['book.csv', '-t', 'wildfire', '--store', 'store.db', '-o', 'out.csv'];

test('under a budget below the price every figure is of what the budget buys', async (t) => {
  const folder = portfolio(t);
  const { stdout } = await perilbook(['plan', ...RUN, '--budget', '2'], { folder });
  const lines = stdout.split('\n');
  assert.match(lines[2]!, /^book\.csv: 7 rows/);
  assert.match(
    lines[3]!,
    /^6 credits needed\. The budget of 2 will complete 33 % of the places/,
    'the verdict is first',
  );
  assert.doesNotMatch(stdout, /credits saved|of value/, 'nothing is saved by what is not bought; no empty column');
  const retries = /retries +up to (\d+) credit/.exec(stdout);
  assert.equal(retries, null, 'the budget leaves nothing for retries');
  assert.match(stdout, /time +under a minute for 2 credits at 300 credits a minute/);

  const ordered = await perilbook(['plan', ...RUN, '--budget', '2', '--order-by', 'tiv_2012', '--json'], { folder });
  const { this_run: thisRun, credits_retries_at_most: most } = JSON.parse(ordered.stdout);
  assert.deepEqual([thisRun.credits, thisRun.cells, thisRun.share_of_value, most], [2, 2, 0.95, 0]);
});

test('a limit that buys nothing does not complete anything: the store does', async (t) => {
  const folder = portfolio(t);
  const plan = async (...more: string[]) => (await perilbook(['plan', ...RUN, ...more], { folder })).stdout;
  const used = ['--reserve', '10000'];
  assert.match(await plan(...used), /^6 credits needed\. No credits are left\. The quota is never enough/m);
  assert.match(
    await plan('--budget', '0'),
    /^6 credits needed\. The budget of 0 buys nothing; the rest is deferred\.$/m,
  );
  await perilbook(['run', ...RUN, '--budget', '2'], { folder });
  assert.match(
    await plan(...used),
    /^4 credits needed\. No credits are left; the store completes 33 % of the places\. The quota is never enough/m,
  );
  assert.match(
    await plan('--budget', '0'),
    /^4 credits needed\. The budget of 0 buys nothing; the store completes 33 % of the places; the rest is deferred\.$/m,
  );
});

test('one decimal is one', async (t) => {
  const plan = await perilbook(['plan', ...RUN, '--precision', '1'], { folder: portfolio(t) });
  assert.match(plan.stdout, /places +\d distinct \(1 decimal\), from 7 located rows/);
});

test('the end of a run names its findings, what the rest costs and the report', async (t) => {
  const folder = portfolio(t);
  const { stderr } = await perilbook(['run', ...RUN, '--budget', '2'], { folder });
  assert.match(stderr, /planned +2 credits of 6 for all places/);
  assert.doesNotMatch(stderr, /^saved/m, 'neither place has two rows');
  assert.match(stderr, /To buy more: perilbook run book\.csv .* --budget 4$/m);
  const { stderr: rest } = await perilbook(['run', ...RUN, '--budget', '4'], { folder });
  assert.match(rest, /^saved +1 \(rows at the same place\), 2 \(answers in the store\)/m);
  assert.match(rest, /^Wildfire: \d of 7 answered locations (?:Very|Relatively) High/m);
  assert.match(rest, /^For the report: perilbook report book\.csv -t wildfire --store store\.db -o out\.csv$/m);
});

test('the end of a run explains what it spent beyond its plan, inside the budget', async (t) => {
  const folder = portfolio(t);
  const words = ['book.csv', '-t', 'natural,superfund', '--store', 'store.db', '-o', 'out.csv', '--budget', '50'];
  const { stderr } = await perilbook(['run', ...words], { folder });
  assert.match(stderr, /way to buy\n[\s\S]* standard bundles \(without avalanche, superfund\)\n/);
  assert.match(stderr, /^planned +34 credits of 102 for all places$/m);
  assert.match(
    stderr,
    /^spent +48 credits, 14 more than planned, within the 50 allowed: topics were asked again, or more places bought$/m,
  );
  // The bundle was seen to return avalanche: 16 credits a place instead of 17.
  assert.match(stderr, /To buy more: perilbook run book\.csv .* --budget 48$/m);
});

const ended = (reason: string, more: object = {}) =>
  ({
    stop: { reason, message: '', resumeAfter: null },
    summary: { credits: 50_000, credits_spent: 600, credits_unknown: 0, credits_available: 10_000, ...more },
  }) as unknown as RunResult;

test('a command that resumes names what is left of the budget', () => {
  const job = { budget: 3_000 };
  const resume = (args: string, end: RunResult) => resumeCommand(args.split(' '), job, end);
  assert.equal(resume('run a.csv --budget 3000 -q', ended('interrupted')), 'perilbook run a.csv --budget 2400 -q');
  assert.equal(resume('run a.csv -b=3000', ended('time')), 'perilbook run a.csv -b=2400');
  assert.equal(
    resume('run job.yaml', ended('quota')),
    'perilbook run job.yaml --budget 2400',
    'a budget of the job file',
  );
  assert.equal(
    resume('run a.csv --on-finish https://h.example/s3cret?x=1', ended('time')),
    "perilbook run a.csv --on-finish 'https://h.example/…' --budget 2400",
  );
  assert.equal(resumeCommand(['run', 'a b.csv', '-y'], { budget: null }, ended('time')), "perilbook run 'a b.csv' -y");
  const asked = ['run', 'a.csv', '--json', '-y', '--', '--json'];
  assert.equal(resumeCommand(asked, { budget: null }, ended('time')), 'perilbook run a.csv -y -- --json');
  assert.equal(
    resumeCommand(['run', '--', '-b.csv'], job, ended('time')),
    'perilbook run --budget 2400 -- -b.csv',
    'behind -- are files',
  );
});

test('after the end of a budget the next one is what the rest costs, as far as the period has it', () => {
  const spent = { credits_spent: 3_000 };
  const resume = (rest: number, more: object = {}) =>
    resumeCommand(['run', 'a.csv'], { budget: 3_000 }, ended('budget', { ...spent, ...more }), rest);
  assert.equal(resume(47_000), 'perilbook run a.csv --budget 7000');
  assert.equal(resume(1_000), 'perilbook run a.csv --budget 1000');
  assert.equal(resume(47_000, { credits_available: 3_000 }), 'perilbook run a.csv --budget 47000', 'the next period');
});

test('the command of the report leaves out what belongs to a run', () => {
  const job = { input: '/a.csv', output: '/b.csv' };
  assert.equal(
    reportCommand(['run', 'a.csv', '-y', '--plan', 'p.json', '-b', '5', '--debug', '-o', 'b.csv'], job),
    'perilbook report a.csv -o b.csv',
  );
  assert.equal(reportCommand(['run', '-'], { ...job, input: '-' }), null);
});

test('of values in several currencies no sum is shown', async (t) => {
  const folder = portfolio(t);
  const rows = [10, 20, 30].map((value, index) => `34.0${index}22,-118.2437,${value},${index ? 'CAD' : 'USD'}\n`);
  writeFileSync(join(folder, 'book.csv'), `lat,lng,tiv,currency\n${rows.join('')}`);
  const ended = await perilbook(['run', ...RUN, '--order-by', 'tiv', '--yes'], { folder });
  assert.match(ended.stderr, /^ +3 +2 +The value is in another currency than the first\./m);
  assert.match(ended.stderr, /^Wildfire: \d of 3 answered locations (?:Very|Relatively) High$/m);
  writeFileSync(join(folder, 'one.csv'), `lat,lng,tiv,currency\n${rows.join('').replaceAll('CAD', 'USD')}`);
  const one = await perilbook(['run', 'one.csv', ...RUN.slice(1), '--order-by', 'tiv', '--yes'], { folder });
  assert.match(one.stderr, /^Wildfire: \d of 3 answered locations (?:Very|Relatively) High, \$\d+ of value$/m);
});

test('the help named for a wrong value is that of the command', async () => {
  for (const command of ['plan', 'run', 'quota']) {
    const { stderr } = await perilbook([command, 'x.csv', '--service', 'locale']);
    assert.match(stderr, new RegExp(`See perilbook ${command} --help`));
  }
});
