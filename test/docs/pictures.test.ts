import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../cli/command-line.ts';

const FOLDER = join(ROOT, 'docs/pictures');

test('the pictures are linked from the README, are marked as sample data, and take less than 300 kB together', () => {
  const names = readdirSync(FOLDER);
  assert.deepEqual(names, ['report.jpg', 'terminal.svg']);
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  for (const name of names) assert.match(readme, new RegExp(`!\\[[^\\]]+\\]\\(docs/pictures/${name}\\)`));
  const bytes = names.map((name) => statSync(join(FOLDER, name)).size);
  assert.ok(bytes.every((size) => size > 1_000));
  assert.ok(bytes.reduce((sum, size) => sum + size) < 300_000);
  assert.match(readFileSync(join(FOLDER, 'terminal.svg'), 'utf8'), /Sample data from the embedded service: made up/);
});
