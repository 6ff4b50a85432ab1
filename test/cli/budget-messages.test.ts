import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costOfRest, reportCommand, resumeCommand } from '../../src/cli/messages/resume-command.ts';
import type { Plan } from '../../src/run/plan/planning.ts';
import type { RunResult } from '../../src/run/run-job.ts';

const ended = (reason: string, more: object = {}) =>
  ({
    stop: { reason, message: '', resumeAfter: null },
    summary: { credits: 50_000, credits_spent: 600, credits_unknown: 0, credits_available: 10_000, ...more },
  }) as unknown as RunResult;

test('a command that resumes names what is left of the budget', () => {
  const job = { budget: 3_000 };
  const resume = (args: string, end: RunResult, rest = 47_000) => resumeCommand(args.split(' '), job, end, rest);
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
  assert.equal(resume('run a.csv -b=3000', ended('time'), 70), 'perilbook run a.csv -b=70', 'the rest costs less');
  assert.equal(resume('run a.csv -b=3000', ended('time'), 0), 'perilbook run a.csv -b=2400', 'its price is not known');
  assert.equal(
    resumeCommand(['run', 'a b.csv', '-y'], { budget: null }, ended('time'), 70),
    "perilbook run 'a b.csv' -y",
  );
  const asked = ['run', 'a.csv', '--json', '-y', '--', '--json'];
  assert.equal(resumeCommand(asked, { budget: null }, ended('time'), 70), 'perilbook run a.csv -y -- --json');
  assert.equal(
    resumeCommand(['run', '--', '-b.csv'], job, ended('time'), 47_000),
    'perilbook run --budget 2400 -- -b.csv',
    'behind -- are files',
  );
});

test('after the end of a budget the next one is what the rest costs, as far as a billing period has it', () => {
  const resume = (stop: RunResult['stop'], available: number) => {
    const end = { ...ended(stop!.reason), stop };
    const account = { subscription: { creditsPerMonth: 10_000 }, overageCredits: 0, reserve: 100 };
    const plan = { price: { credits: 47_000 }, available, accounts: [{ account }] } as unknown as Plan;
    return resumeCommand(['run', 'a.csv'], { budget: 90_000 }, end, costOfRest(plan, stop));
  };
  const budget = ended('budget').stop;
  assert.equal(resume(budget, 7_000), 'perilbook run a.csv --budget 7000');
  assert.equal(resume(budget, 0), 'perilbook run a.csv --budget 9900', 'the next period');
  assert.equal(resume(ended('quota').stop, 3), 'perilbook run a.csv --budget 9900', 'the next period');
});

test('the command of the report leaves out what belongs to a run', () => {
  const job = { input: '/a.csv', output: '/b.csv' };
  assert.equal(
    reportCommand(['run', 'a.csv', '-y', '--plan', 'p.json', '-b', '5', '--debug', '-o', 'b.csv'], job),
    'perilbook report a.csv -o b.csv',
  );
  assert.equal(reportCommand(['run', '-'], { ...job, input: '-' }), null);
});
