import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { checkCommits } from './check-commits.ts';
import { problemsOf } from './commit-rules.ts';

test('a subject is an imperative of at most 72 characters, and a body says why', () => {
  const count = (subject: string, body = 'Because.\n') =>
    problemsOf({ id: '', subject, body }).length;
  const good = [
    'Refuse empty layers',
    'Process one batch',
    'Embed the sample',
    'Pass it on',
    `X${'y'.repeat(71)}`,
  ];
  for (const subject of good) assert.equal(count(subject), 0, subject);
  const bad = 'Fix: a thing|Fixed a thing|Fixing a thing|Fixes a thing|fix a thing|Fix a thing.';
  for (const subject of [...bad.split('|'), 'A'.repeat(73)])
    assert.equal(count(subject), 1, subject);
  assert.equal(count('Refuse empty layers', ' \n'), 1);
});

const ENV = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
};

/** A repository with these commits, oldest first. */
function repository(t: TestContext, messages: readonly string[]) {
  const folder = temporaryFolder(t);
  const git = (...args: string[]) => {
    const words = ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args];
    const { status, stdout, stderr } = spawnSync('git', words, { encoding: 'utf8', env: ENV });
    assert.equal(status, 0, stderr);
    return stdout.trim();
  };
  git('init', '-q', '-b', 'main');
  const ids = messages.map((message) => {
    git('commit', '-q', '--allow-empty', '-m', message);
    return git('rev-parse', 'HEAD');
  });
  return { folder, git, ids };
}

test('commits behind the base are checked, older ones are not; a shallow clone has only some', (t) => {
  const { folder, git, ids } = repository(t, [
    'old',
    'Set the base\n\nWhy.',
    'Do this\n\nWhy.',
    'Did that',
  ]);
  const { lines, ok } = checkCommits(folder, ids[1]);
  assert.equal(ok, false);
  assert.deepEqual(lines.slice(0, -1), [
    `${ids[3]!.slice(0, 12)} Did that\n  there is no body that says why`,
  ]);
  assert.equal(lines.at(-1), '2 commits checked.');
  assert.equal(checkCommits(folder, ids[3]).ok, true);
  const clone = join(folder, 'clone');
  git('clone', '-q', '--depth', '2', `file://${folder}`, clone);
  const shallow = checkCommits(clone, ids[1]);
  assert.equal(shallow.ok, false);
  assert.equal(
    shallow.lines.at(-1),
    '2 commits checked; older ones are not in this shallow clone.',
  );
});

test('a history without the base, and a folder without git, are not checked', (t) => {
  const { folder } = repository(t, ['old']);
  const other = checkCommits(folder, '0123456789012345678901234567890123456789');
  assert.equal(other.ok, true);
  assert.deepEqual(other.lines, [
    'The commit 012345678901 is not in this history: no commits are checked.',
  ]);
  assert.deepEqual(checkCommits(temporaryFolder(t)).lines, [
    'Not a git repository: no commits are checked.',
  ]);
});
