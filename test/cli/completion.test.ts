import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { OPTION_WORDS } from '../../src/cli/completion-script.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook, ROOT } from './command-line.ts';

const of = async (...words: string[]) =>
  (await perilbook(['completion', '--of', ...words])).stdout.split('\n').filter(Boolean);

test('commands, options and actions are completed', async () => {
  assert.deepEqual(await of('pl'), ['plan', 'places']);
  assert.ok((await of('')).includes('service'));
  assert.deepEqual(await of('run', '--bud'), ['--budget']);
  assert.deepEqual(await of('run', 'book.csv', '--qu'), ['--quiet']);
  assert.deepEqual(await of('cache', ''), ['stats', 'prune', 'export', 'import']);
  assert.deepEqual(await of('job', 'ch'), ['check']);
  assert.deepEqual(await of('data', 'load', 'hur'), ['hurdat2']);
});

test('topics are completed, after a comma too, and none twice', async () => {
  assert.deepEqual(await of('run', '--topics', 'wildf'), ['wildfire']);
  assert.deepEqual(await of('run', 'a.csv', '-t', 'wildfire,riv'), ['wildfire,riverineFlood']);
  assert.deepEqual(await of('run', '--topics=hail,tor'), ['--topics=hail,tornado']);
  // Bash makes three words of an option, its sign and its value.
  assert.deepEqual(await of('run', '--topics', '=', 'hail,tor'), ['hail,tornado']);
  const more = await of('plan', 'a.csv', '--topics', 'hail,');
  assert.ok(more.includes('hail,all') && !more.includes('hail,hail'));
});

test('the words of an option are completed; where a file is wanted nothing is offered, so that the shell offers files', async () => {
  assert.deepEqual(await of('run', '--on-quota', ''), ['stop', 'wait']);
  assert.deepEqual(await of('quota', '--by', 'd'), ['day']);
  assert.deepEqual(await of('run', 'jobs/'), []);
  assert.deepEqual(await of('run', '--json', 'jobs/'), []);
  assert.deepEqual(await of('run', '--output', ''), []);
  assert.deepEqual(await of('job', 'check', 'jobs/'), []);
});

test('every option whose words are completed is one of a command', async () => {
  const commands = await of('');
  const options = new Set((await Promise.all(commands.map((command) => of(command, '--')))).flat());
  assert.deepEqual(
    Object.keys(OPTION_WORDS).filter((option) => !options.has(option)),
    [],
  );
});

const hasBash = spawnSync('bash', ['-c', 'true']).status === 0;

test('bash itself completes with the script', { skip: hasBash ? false : 'no bash' }, (t) => {
  const folder = temporaryFolder(t);
  const bin = join(folder, 'perilbook');
  writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'src/main.ts')}" "$@"\n`);
  chmodSync(bin, 0o755);
  const ask = (...words: string[]) => {
    const script = `source <(perilbook completion); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _perilbook; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { PATH: `${folder}:${process.env.PATH}` };
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', ...words], { env, encoding: 'utf8' });
    assert.equal(stderr.replace(/.*compopt.*\n?/g, ''), '');
    return stdout.trim().split('\n');
  };
  assert.deepEqual(ask('perilbook', 'ru'), ['run']);
  assert.deepEqual(ask('perilbook', 'run', 'x.csv', '--topics', 'wildfire,ha'), ['wildfire,hail']);
});
