import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderWith } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook, ROOT } from './command-line.ts';

/** What a shell offers for the last word: of the printed completions, those that begin with it. */
const of = async (...words: string[]) => {
  const { code, stdout, stderr } = await perilbook([
    '--get-yargs-completions',
    'perilbook',
    ...words,
  ]);
  assert.deepEqual([code, stderr], [0, '']);
  const current = words.at(-1) === '=' ? '' : words.at(-1)!;
  return stdout.split('\n').filter((word) => word !== '' && word.startsWith(current));
};

test('commands, options and actions are completed', async () => {
  assert.deepEqual((await of('pl')).sort(), ['plan']);
  assert.ok((await of('')).includes('service'));
  assert.deepEqual(await of('run', '--bud'), ['--budget']);
  assert.deepEqual(await of('run', 'book.csv', '--qu'), ['--quiet']);
  assert.deepEqual(await of('cache', ''), ['stats', 'prune']);
  assert.deepEqual(await of('job', 'ch'), ['check']);
  assert.deepEqual(await of('service', 'key', 'ro'), ['rotate']);
  assert.deepEqual(await of('cache', 'prune', '--old'), ['--older-than']);
  assert.deepEqual(await of('cache', 'stats', '--old'), []);
});

test('a completion runs no command', async (t) => {
  const folder = folderWith(t, { 'book.csv': 'lat,lng\n34.0522,-118.2437\n' });
  for (const words of [['--yes', ''], ['-'], ['--wrong', 'x', '']]) {
    const line = [
      'run',
      'book.csv',
      '--topics',
      'wildfire',
      '--store',
      'store.db',
      '-o',
      'out.csv',
      ...words,
    ];
    const { code, stderr } = await perilbook(['--get-yargs-completions', 'perilbook', ...line], {
      folder,
    });
    assert.deepEqual([code, stderr, readdirSync(folder)], [0, '', ['book.csv']]);
  }
});

/** How each shell prints what it offers for the ends of command lines, a line each. */
const SHELLS: Readonly<Record<string, readonly string[]>> = {
  bash: [
    '--norc',
    'source <(SHELL=bash perilbook completion)',
    'for line; do IFS=" " read -ra COMP_WORDS <<< "$line"; [[ $line == *" " ]] && COMP_WORDS+=("")',
    `COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _perilbook_yargs_completions; echo "\${COMPREPLY[@]}"; done`,
  ],
  // compadd and _files work only at a prompt; here they print.
  zsh: [
    '-f',
    'source <(SHELL=zsh perilbook completion); compadd() { print -r -- $reply }; _files() { print files }',
    `for line; do words=("\${(@s: :)line}") CURRENT=$#words; _perilbook; done`,
  ],
  fish: [
    '-N',
    'SHELL=fish perilbook completion | source',
    "for line in $argv; echo (complete -C $line | string replace -r '\\t.*' ''); end",
  ],
};

for (const [shell, [flag, ...script]] of Object.entries(SHELLS)) {
  const skip = spawnSync(shell, ['-c', 'true']).status === 0 ? false : `no ${shell}`;
  test(`${shell} itself completes with the script, and files where nothing else is wanted`, {
    skip,
  }, (t) => {
    const folder = temporaryFolder(t);
    const bin = join(folder, 'perilbook');
    writeFileSync(
      bin,
      `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'src/main.ts')}" "$@"\n`,
    );
    chmodSync(bin, 0o755);
    writeFileSync(join(folder, 'book.csv'), '');
    const ends = ['ru', 'run --bud', 'job ', 'run bo'];
    const lines = ends.map((end) => `perilbook ${end}`);
    const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder };
    const args = [flag!, '-c', script.join('\n'), ...(shell === 'fish' ? [] : [shell]), ...lines];
    const { stdout, stderr } = spawnSync(shell, args, { env, cwd: folder, encoding: 'utf8' });
    // Bash completes files where its function returns nothing.
    const files = { bash: '', zsh: 'files', fish: 'book.csv' }[shell];
    assert.equal(`${stderr}${stdout}`, `run\n--budget\ncheck schema\n${files}\n`);
  });
}
