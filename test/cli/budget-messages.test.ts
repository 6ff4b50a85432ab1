import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportCommand, resumeCommand } from '../../src/cli/messages/resume-command.ts';
import type { RunResult } from '../../src/run/run-job.ts';

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
