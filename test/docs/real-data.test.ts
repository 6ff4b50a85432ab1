import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { byteSize } from '../../src/cli/messages/format.ts';
import type { Source } from '../../src/data/sources/source.ts';
import { SOURCES } from '../../src/data/sources/source-table.ts';
import { grouped } from '../../src/format-numbers.ts';
import { ROOT } from '../cli/command-line.ts';
import { compare } from './quoted-sessions.ts';

const FILE = join(ROOT, 'docs/real-data.md');

const WHEN: Readonly<Record<string, string>> = {
  base: 'every topic',
  named: 'only by name',
  states: 'only with states',
};

function rowOf({ name, title, topics, when, bytes, isMeasured, rows, cadence, vintage }: Source): string {
  const all = topics.length > 3 ? 'all natural topics' : topics.join(', ');
  const for_ = [all, when === undefined ? '' : WHEN[when]!].filter(Boolean).join('; ');
  const size = `${isMeasured ? '' : 'about '}${byteSize(bytes)}`;
  const count = rows === undefined ? '' : grouped(rows);
  const changes = vintage === undefined || vintage === 'edited' ? cadence : `${cadence}; ${vintage}`;
  return `| \`${name}\` | ${title} | ${for_} | ${size} | ${count} | ${changes} |`;
}

test('docs/real-data.md lists the sources', () => {
  const section = /(<!-- sources -->\n)([\s\S]*?)(<!-- \/sources -->)/;
  const [, , found] = section.exec(readFileSync(FILE, 'utf8'))!;
  const head = ['| source | what | for | size | rows | changes |', '|---|---|---|---:|---:|---|'];
  const made = `${[...head, ...SOURCES.map(rowOf)].join('\n')}\n`;
  compare(FILE, found!, made, (text) => text.replace(section, (_, before, _found, after) => before + made + after));
  assert.match(made, /nri-tracts/);
});
