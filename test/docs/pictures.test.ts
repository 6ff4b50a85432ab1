import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../cli/command-line.ts';
import { TerminalScreen } from '../pictures/terminal-screen.ts';

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

test('the terminal of the picture shows what a block leaves that was redrawn', () => {
  const screen = new TerminalScreen();
  screen.write(
    '$ run\n\u001b[1mplan\u001b[22m  5\nold\nolder\u001b[2K\u001b[1A\u001b[2K\u001b[Gnew \u001b[32m██\u001b[39m\n',
  );
  assert.equal(screen.text, '$ run\nplan  5\nnew ██\n');
  const svg = screen.svg('a < b', 2, 20);
  assert.doesNotMatch(svg, /\$ run/);
  assert.match(svg, /<title>a &lt; b<\/title>/);
  assert.match(svg, /font-weight="700"[^>]*>plan<\/text><text x="64.4"[^>]*>5<\/text>/);
  assert.throws(() => screen.write('\u001b[3q'), /unknown control sequence/);
});
