import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { grouped } from '../../src/base/format-numbers.ts';
import { downloadPlanMessages } from '../../src/cli/messages/download-messages.ts';
import { byteSize } from '../../src/cli/messages/format.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import type { Source } from '../../src/data/sources/source.ts';
import { SOURCES } from '../../src/data/sources/source-table.ts';
import { ROOT } from '../cli/command-line.ts';
import { checkSection } from './quoted-sessions.ts';

const FILE = join(ROOT, 'docs/reference/sources.md');

const WHEN: Readonly<Record<string, string>> = {
  base: 'every topic',
  named: 'only by name',
  states: 'only with states',
};

function rowOf({ name, title, topics, when, bytes, isMeasured, rows, cadence, vintage }: Source): string {
  const all = topics.length === NATURAL_SLUGS.length ? 'all natural topics' : topics.join(', ');
  const for_ = [all, when === undefined ? '' : WHEN[when]!].filter(Boolean).join('; ');
  const size = `${isMeasured ? '' : 'about '}${byteSize(bytes)}`;
  const count = rows === undefined ? '' : grouped(rows);
  const changes = vintage === undefined || vintage === 'edited' ? cadence : `${cadence}; ${vintage}`;
  return `| \`${name}\` | ${title} | ${for_} | ${size} | ${count} | ${changes} |`;
}

test('docs/reference/sources.md lists the sources', () => {
  const head = ['| source | what | for | size | rows | changes |', '|---|---|---|---:|---:|---|'];
  const made = [...head, ...SOURCES.map(rowOf)].join('\n');
  assert.match(made, /nri-tracts/);
  checkSection(FILE, 'sources', made);
});

test('docs/reference/sources.md has the licences as data get shows them', () => {
  const words = downloadPlanMessages(
    SOURCES.map((source) => ({ source, slices: ['US'] })),
    null,
  );
  const licences = words.filter((line) => line.startsWith('Licence of '));
  assert.ok(licences.length > 5);
  checkSection(FILE, 'licences', licences.map((line) => `- ${line.slice('Licence of '.length)}`).join('\n'));
});
