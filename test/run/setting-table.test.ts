import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { JOB_OPTIONS } from '../../src/cli/job-options.ts';
import { jobFileJsonSchema, jobFileSchema } from '../../src/job/job-file.ts';
import { DEFAULTS, helpOf, SETTING_LIST } from '../../src/job/setting-table.ts';
import { makeJob } from '../../src/job/settings.ts';
import { ROOT } from '../cli/command-line.ts';

const names = SETTING_LIST.map(([name]) => name);

test('the schema of the job file, its descriptions and the defaults are those of the table', () => {
  assert.deepEqual(Object.keys(jobFileSchema.shape), names);
  const { properties } = jobFileJsonSchema();
  for (const [name, setting] of SETTING_LIST) assert.equal(properties![name]!.description, helpOf(setting));
  assert.ok(jobFileSchema.safeParse(DEFAULTS).success);
});

test('every option of the table is one of run, under its group and with its help', () => {
  const { options } = COMMANDS.find(({ name }) => name === 'run')!;
  for (const [name, { group, flags = {} }] of SETTING_LIST) {
    for (const flag of Object.keys(flags)) {
      assert.equal(options![flag]!.group, group, flag);
      assert.equal(JOB_OPTIONS.find((option) => option.flag === flag)!.setting, name);
    }
  }
});

test('a setting stands in its line alone; the job has it in camel case', () => {
  const sources = globSync(['src/job/*.ts', 'src/cli/*.ts'], { cwd: ROOT });
  const job = makeJob([{ input: 'in.csv', max_minutes: 5 }], {
    dataFolder: '/d',
    workingFolder: '/w',
  });
  const plain = { max_invalid: job.maxInvalid, max_minutes: job.maxMinutes };
  assert.deepEqual(plain, { max_invalid: DEFAULTS.max_invalid, max_minutes: 5 });
  for (const name of Object.keys(plain)) {
    const spelled = new RegExp(name.replace('_', '[-_]?'), 'i');
    const files = sources.filter((file) => spelled.test(readFileSync(join(ROOT, file), 'utf8')));
    assert.deepEqual(files, ['src/job/setting-table.ts'], name);
  }
});
