import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './command-line.ts';

const UNITS = join(ROOT, 'docs/operator/systemd');

const isMissing = spawnSync('systemd-analyze', ['--version']).error !== undefined;

test('systemd-analyze finds nothing wrong with the unit files', {
  timeout: 300_000,
  skip: isMissing && 'the command systemd-analyze is not installed',
}, () => {
  const units = readdirSync(UNITS);
  assert.equal(units.length, 5);
  const words = ['verify', '--man=no', ...units.map((unit) => join(UNITS, unit))];
  const { status, stdout, stderr } = spawnSync('systemd-analyze', words, { encoding: 'utf8' });
  const about = (text: string) => text.split('\n').filter((line) => line.includes('perilbook'));
  assert.deepEqual([status, about(stdout + stderr)], [0, []]);
});
