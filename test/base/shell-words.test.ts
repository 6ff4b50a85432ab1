import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { type Shell, shellOf, shellWord } from '../../src/base/shell-words.ts';

const WORDS = [
  ...[
    'plain.csv',
    'a b',
    "it's",
    'a&b|c',
    '50% of %PATH%',
    '100%',
    '$HOME `x`',
    'x"y',
    'C:\\my files\\',
    '\\\\server\\a b\\x.csv',
  ],
  ...[
    'hail,wildfire',
    '@file',
    'ends\\"',
    '(1)',
    'a^b',
    'Zoë’s',
    '!x!',
    '{a}',
    'a;b',
    '<in>',
    'tab\there',
  ],
];

/** What a program of Windows gets of what stands in cmd's prompt, or null where cmd would do something else: redirect, start a program.
 * `^` escapes outside of quotes, %NAME% is replaced everywhere; then the C library's rules of arguments. */
function cmdReads(line: string): string | null {
  const variables = line.replace(/%([^%:]+)%/g, (all, name) =>
    /^path$/i.test(name) ? 'C:\\WINDOWS' : all,
  );
  let isQuoted = false;
  let passed = '';
  for (let at = 0; at < variables.length; at++) {
    const letter = variables[at]!;
    if (letter === '"') isQuoted = !isQuoted;
    if (!isQuoted && letter === '^') at++;
    else if (!isQuoted && /[&|<>()]/.test(letter)) return null;
    passed += !isQuoted && letter === '^' ? variables[at]! : letter;
  }
  return argumentOf(passed);
}

/** One argument by the rules of Windows' C library; null for several. */
function argumentOf(text: string): string | null {
  let isQuoted = false;
  let word = '';
  for (let at = 0; at < text.length; at++) {
    const slashes = /^\\*/.exec(text.slice(at))![0].length;
    if (slashes > 0 && text[at + slashes] === '"') {
      word += '\\'.repeat(slashes >> 1);
      at += slashes - (slashes % 2 === 0 ? 1 : 0);
      if (slashes % 2 === 1) word += '"';
    } else if (text[at] === '"' && isQuoted && text[at + 1] === '"') {
      word += '"';
      at++;
    } else if (text[at] === '"') isQuoted = !isQuoted;
    else if (!isQuoted && /[ \t]/.test(text[at]!)) return null;
    else word += text[at];
  }
  return isQuoted ? null : word;
}

/** One word as PowerShell reads it in argument mode; null where it is more than a word. */
function powershellReads(text: string): string | null {
  const quoted = /^['‘’‚‛](.*)['‘’‚‛]$/s.exec(text)?.[1];
  if (quoted === undefined) return /^[\w./:=+\\-]+$/.test(text) ? text : null;
  const isWhole = /^(?:[^'‘’‚‛]|(['‘’‚‛])['‘’‚‛])*$/.test(quoted);
  return isWhole ? quoted.replace(/(['‘’‚‛])['‘’‚‛]/g, '$1') : null;
}

const posixReads = (text: string) =>
  spawnSync('sh', ['-c', `printf %s ${text}`], { encoding: 'utf8' }).stdout;
const READERS: Readonly<Record<Shell, (text: string) => string | null>> = {
  ...{ posix: posixReads, cmd: cmdReads, powershell: powershellReads },
};

for (const shell of ['posix', 'cmd', 'powershell'] as const) {
  const skip = shell === 'posix' && process.platform === 'win32' && 'no POSIX shell';
  test(`a word is what ${shell} reads of it`, { skip }, () => {
    const read = WORDS.map((word) => READERS[shell](shellWord(word, shell)));
    assert.deepEqual(read, WORDS);
  });
}

test('the shell is found from the environment', () => {
  const machine =
    'C:\\Program Files\\WindowsPowerShell\\Modules;C:\\WINDOWS\\system32\\WindowsPowerShell\\v1.0\\Modules';
  const own = `C:\\Users\\Zoë\\Documents\\PowerShell\\Modules;${machine}`;
  assert.equal(shellOf('linux', { PSModulePath: own }), 'posix');
  assert.equal(shellOf('darwin', {}), 'posix');
  assert.equal(shellOf('win32', { PSModulePath: machine, PROMPT: '$P$G' }), 'cmd');
  assert.equal(shellOf('win32', { PSModulePath: own, PROMPT: '$P$G' }), 'cmd', 'cmd in PowerShell');
  assert.equal(shellOf('win32', { PSModulePath: own }), 'powershell');
  for (const documents of ['C:\\Users\\Zoë\\OneDrive\\Dokumente', 'H:', '\\\\server\\home\\zoe'])
    assert.equal(
      shellOf('win32', { PSModulePath: `${documents}\\WindowsPowerShell\\Modules;${machine}` }),
      'powershell',
      documents,
    );
  assert.equal(shellOf('win32', { PSModulePath: machine }), 'cmd', 'started by neither');
  assert.equal(shellOf('win32', { PSModulePath: own, SHELL: '/usr/bin/bash' }), 'posix');
  assert.equal(shellOf('win32', {}), 'cmd');
});
