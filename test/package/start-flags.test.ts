import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FLAGS } from '../../bench/own-process.ts';
import { ROOT } from '../cli/command-line.ts';

test('each way to start gives Node the flags that the benchmarks measure', () => {
  const starters = globSync('archives/starters/{posix/perilbook,win/*.cmd}', { cwd: ROOT });
  for (const file of ['bin/perilbook.cjs', 'package.json', ...starters]) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const flags = text.match(/--max-semi-space-size=\d+/g) ?? [];
    assert.deepEqual([...new Set(flags)], FLAGS, file);
  }
  assert.equal(starters.length, 3);
});
