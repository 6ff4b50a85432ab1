import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { DEFAULT_RADII } from '../../src/data/topics/search-radii.ts';
import { grouped } from '../../src/format-numbers.ts';

const FILE = new URL('../../docs/operator/own-service.md', import.meta.url);

test('the document names the search radii that the service uses', () => {
  const rows = Object.entries(DEFAULT_RADII).map(([searched, meters]) => `| \`${searched}\` | ${grouped(meters)} |`);
  const table = ['<!-- radii -->', '| topic or event | metres |', '|---|---:|', ...rows, '<!-- /radii -->'].join('\n');
  const text = readFileSync(FILE, 'utf8');
  const written = text.replace(/<!-- radii -->[\s\S]*<!-- \/radii -->/, table);
  if (process.env.UPDATE_DOCS) writeFileSync(FILE, written);
  else assert.equal(text, written);
});
