import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commandLine } from '../../src/base/shell-words.ts';
import { costOfRest, reportCommand, resumeCommand } from '../../src/cli/messages/run-messages.ts';
import { COMMANDS } from '../../src/cli/options/command-table.ts';
import { type ParsedCommand, parseCommandLine } from '../../src/cli/parser.ts';
import type { Plan } from '../../src/run/plan/planning.ts';
import type { RunResult } from '../../src/run/run-job.ts';
import { fc } from '../properties.ts';
import { folderWith, provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LONG, times } from '../tier.ts';
import { perilbook } from './command-line.ts';

const ended = (reason: string, more: object = {}) =>
  ({
    stop: { reason, message: '', resumeAfter: null },
    summary: {
      credits: 50_000,
      credits_spent: 600,
      credits_unknown: 0,
      credits_available: 10_000,
      ...more,
    },
  }) as unknown as RunResult;

test('a command that resumes names what is still missing, and no more than is left of a budget that did not end the run', () => {
  const resume = (flags: object, reason: string, rest = 47_000, budget: number | null = 3_000) =>
    resumeCommand(['a.csv'], { ...flags }, { budget }, ended(reason), {
      credits: rest,
      acceptedPrice: null,
    });
  assert.equal(
    resume({ budget: 3000, quiet: true }, 'interrupted'),
    'perilbook run a.csv --budget 2400 --quiet',
  );
  assert.equal(
    resume({}, 'quota'),
    'perilbook run a.csv --budget 2400',
    'a budget of the job file',
  );
  assert.equal(
    resume({ budget: 3000 }, 'time', 70),
    'perilbook run a.csv --budget 70',
    'the rest costs less',
  );
  assert.equal(
    resume({ budget: 3000 }, 'time', 0),
    'perilbook run a.csv --budget 2400',
    'its price is not known',
  );
  assert.equal(resume({ budget: 3000 }, 'budget'), 'perilbook run a.csv --budget 47000');
  assert.equal(
    resume({ budget: 3000, limit: 9 }, 'rows'),
    'perilbook run a.csv --budget 47000',
    'all rows',
  );
  const spent = resume({ budget: 600 }, 'time', 47_000, 600);
  assert.equal(spent, 'perilbook run a.csv --budget 47000', 'nothing is left of it');
  assert.equal(resume({ json: true, yes: true }, 'time', 70, null), 'perilbook run a.csv --yes');
  const accepted = { credits: 0, acceptedPrice: 225 };
  assert.equal(
    resumeCommand(['a.csv'], { yes: true }, { budget: null }, ended('price'), accepted),
    'perilbook run a.csv --yes --accept-price 225',
    'what neither --yes nor a budget approves',
  );
});

test('after the end of a budget the next one is what the rest costs, as far as a billing period has it', () => {
  const resume = (stop: RunResult['stop'], available: number) => {
    const end = { ...ended(stop!.reason), stop };
    const account = { subscription: { creditsPerMonth: 10_000 }, overageCredits: 0, reserve: 100 };
    const plan = {
      price: { credits: 47_000 },
      bounds: { run: 90_000, quota: available, time: Number.POSITIVE_INFINITY },
      account: { account },
    } as unknown as Plan;
    return resumeCommand(['a.csv'], {}, { budget: 90_000 }, end, {
      credits: costOfRest(plan, stop),
      acceptedPrice: null,
    });
  };
  const budget = ended('budget').stop;
  assert.equal(resume(budget, 7_000), 'perilbook run a.csv --budget 7000');
  assert.equal(resume(budget, 0), 'perilbook run a.csv --budget 9900', 'the next period');
  assert.equal(
    resume(ended('quota').stop, 3),
    'perilbook run a.csv --budget 9900',
    'the next period',
  );
});

test('the command of the report leaves out what belongs to a run, and what the report remembers of it', () => {
  const job = { input: '/a.csv', output: '/b.csv', jobFile: null };
  const flags = { yes: true, budget: 5, debug: true, quiet: true, topics: 'hail', force: true };
  assert.equal(reportCommand(['a.csv'], flags, job), 'perilbook report a.csv');
  assert.equal(
    reportCommand(['a.csv'], { ...flags, store: 's.db' }, job),
    'perilbook report a.csv --store s.db',
  );
  const ofFile = { ...job, jobFile: '/j.yaml' };
  assert.equal(reportCommand(['j.yaml'], flags, ofFile), 'perilbook report j.yaml --topics hail');
  assert.equal(reportCommand(['-'], flags, { ...job, input: '-' }), null);
});

/** What cmd and PowerShell read is tested in shell-words.test.ts. */
const SHELL = { skip: process.platform === 'win32' && 'Windows has no sh' };

/** The words of a command line as a shell splits them, without the program's name. */
function wordsOfShell(line: string): string[] {
  const { stdout, status } = spawnSync('sh', ['-c', `set -- ${line}; printf '%s\\0' "$@"`], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, line);
  return stdout.split('\0').slice(1, -1);
}

test('any values come back from the line that is made of them', SHELL, async () => {
  const odd = fc.constantFrom('-', '--', '-x', '--yes', "it's", 'a b', '$HOME', '5');
  const clean = fc
    .oneof(fc.string({ minLength: 1 }), odd)
    .map((value) => value.replaceAll('\0', '0'));
  const values = fc.record(
    {
      name: clean,
      prefix: clean,
      budget: fc.nat(),
      yes: fc.constant(true),
      'no-header': fc.constant(true),
    },
    { requiredKeys: [] },
  );
  const word = clean.filter((one) => one !== '--');
  const words = fc.array(word, { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(words, values, async (files, flags) => {
      const line = commandLine('run', files, flags);
      const parsed = (await parseCommandLine(wordsOfShell(line), COMMANDS, '')) as ParsedCommand;
      const typed = files.map((file) => (/^-./.test(file) ? `./${file}` : file));
      assert.deepEqual([parsed.words, { ...parsed.flags }], [typed, { ...flags }], line);
    }),
    { numRuns: times({ short: 20, long: 60 }) },
  );
});

const ROWS = 'lat,lng\n34.05,-118.24\n25.77,-80.19\n39.74,-104.99\n';

/** How people type a run that its budget of 2 credits ends. */
const TYPED: readonly string[] = [
  "run -o 'out of it.csv' --budget 2 --service sample --topics 'hail, hurricane' --yes=true ./-in.csv",
  'run job.yaml --yes --budget 2',
  // The others are of the long tier.
  'run in.csv -thurricane -yb2 --service=sample',
  "run 'my houses.csv' --topics=hurricane -b=2 --service sample -y -y",
  'run in.csv -t hurricane -b2 --service sample',
  '--quiet=false run in.csv -t hurricane -b2 --service sample --prefix=-x',
  'run -t hurricane -b2 --service sample -- in.csv',
];

test('each command that a run prints runs', SHELL, async (t) => {
  const folder = folderWith(t, {
    ...{ 'in.csv': ROWS, 'my houses.csv': ROWS, '-in.csv': ROWS },
    'job.yaml': 'input: in.csv\ntopics: [hurricane]\nservice: sample\nbudget: 3\nstore: own.db\n',
  });
  const names = new Set<string>();
  for (const [index, typed] of TYPED.slice(0, times({ short: 2, long: TYPED.length })).entries()) {
    const store = `${folder}/${index}/store.db`;
    provideSampleData(typed.includes('job.yaml') ? `${folder}/own.db` : store);
    const options = { folder, env: { PERILBOOK_STORE: store, XDG_DATA_HOME: folder } };
    // An output of another store that is more complete would not be replaced.
    for (const name of readdirSync(folder))
      if (name.includes('.hazards.')) rmSync(join(folder, name));
    const first = await perilbook(wordsOfShell(`perilbook ${typed}`), options);
    assert.equal(first.code, 4, `${typed}\n${first.stderr}`);
    const printed = [...first.stderr.matchAll(/perilbook (?:run|report) .*?(?=\.?$)/gm)].map(
      ([line]) => line,
    );
    assert.ok(printed.length > 0, first.stderr);
    for (const line of printed) names.add(line.split(' ')[1]!);
    for (const line of printed.toReversed()) {
      const { code, stderr } = await perilbook(wordsOfShell(line), options);
      assert.ok(code === 0 || code === 4, `${typed}\n${line}\n${stderr}`);
    }
  }
  assert.deepEqual([...names].sort(), ['report', 'run']);
});

test('the first of the first steps can be copied', LONG, async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'perilbook/store.db'));
  const env = { XDG_DATA_HOME: folder };
  const { stdout } = await perilbook([], { folder, env });
  const [, command] = /try the sample +perilbook (.*)/.exec(stdout)!;
  // One topic costs a fifth of the time of 18.
  const ran = await perilbook(command!.replace('--topics natural', '--topics hail').split(' '), {
    folder,
    env,
  });
  assert.equal(ran.code, 0, ran.stderr);
  assert.ok(existsSync(join(folder, 'sample.csv')));
});
