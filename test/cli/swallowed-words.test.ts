import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { refuseSwallowedWords } from '../../src/cli/swallowed-words.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

test('on Windows a folder that ends in a backslash and a quote is refused, and said to have taken the rest of the line', (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'my books'));
  const refuse = (system: NodeJS.Platform, ...args: string[]) =>
    refuseSwallowedWords(args, folder, system);
  const said = {
    code: 'USAGE',
    message: /: my books" --yes$/,
    hint: 'Write the folder without it: "my books".',
  };
  assert.throws(() => refuse('win32', 'run', 'my books" --yes'), said);
  assert.throws(() => refuse('win32', 'run', join(folder, 'my books"')), { code: 'USAGE' });
  assert.throws(() => refuse('win32', 'run', '--output=my books" --yes'), { code: 'USAGE' });
  refuse('win32', 'run', 'my books', '--order-by', 'Width 5"');
  refuse('linux', 'run', 'my books" --yes');
});

test('a command with such a folder ends with exit code 2', {
  skip: process.platform !== 'win32' && 'Windows alone reads so',
}, async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'my books'));
  const { code, stderr } = await perilbook(['run', 'my books" --service sample'], { folder });
  assert.deepEqual(
    [code, /Write the folder without it: "my books"\. \[USAGE\]/.test(stderr)],
    [2, true],
    stderr,
  );
});
