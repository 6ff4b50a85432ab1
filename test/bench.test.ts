import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const FOLDER = join(import.meta.dirname, '../bench');

test('every benchmark runs, at a tiny size, and prints its table', { timeout: 120_000 }, async (t) => {
  const measuring = globSync('*.ts', { cwd: FOLDER }).filter((file) =>
    /^export (async )?function run\(/m.test(readFileSync(join(FOLDER, file), 'utf8')),
  );
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(FOLDER, 'main.ts'), '--tiny']);
  assert.equal(stderr, '');
  const sections = stdout.split(/^## /m).slice(1);
  assert.deepEqual(sections.map((section) => `${/^\w+/.exec(section)![0]}.ts`).sort(), measuring.sort());
  for (const section of sections) {
    t.diagnostic(section.trimEnd().split('\n').at(-1)!);
    assert.match(section, /^\| .* \|\n\| -+ \|[-: |]+\|\n\| .*\d.* \|$/m);
  }
});
