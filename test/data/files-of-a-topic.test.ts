import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PROXIMITY_SLUGS, type TopicSlug } from '../../src/contract/topics.ts';

const SRC = join(import.meta.dirname, '../../src');
const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('sample/'))
  .map((file) => ({ file, text: withoutComments(readFileSync(join(SRC, file), 'utf8')) }));

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
}

/** The files that name a topic, as a text or as a key; the made-up sample apart, which names what it makes. */
function filesNaming(slug: TopicSlug): string[] {
  const name = new RegExp(`'${slug}'|^\\s+${slug}:`, 'm');
  return FILES.filter(({ text }) => name.test(text)).map(({ file }) => file);
}

test('a measurement topic is named in eight files, as adding.md says', () => {
  const needed = [
    'columns/topic-columns.ts',
    'contract/topic-values.ts',
    'contract/topics.ts',
    'data/loaders/air-quality.ts',
    'data/sources/epa-measurements.ts',
    'data/tables/record-rows.ts',
    'data/tables/records.ts',
    'data/topics/measurement-topics.ts',
  ];
  // The contract's statement on its value has a check of its own.
  const files = filesNaming('airQuality').filter((file) => file !== 'service/check/statement-table.ts');
  assert.deepEqual(files.sort(), needed);
});

/** Names loaders, some of which are called like their topic. */
const SIGNATURES = 'data/loaders/signatures.ts';

test('a proximity topic is named in three files besides its source, as adding.md says', () => {
  for (const slug of PROXIMITY_SLUGS) {
    const files = filesNaming(slug).filter((file) => !file.startsWith('data/sources/') && file !== SIGNATURES);
    assert.deepEqual(
      files.sort(),
      ['contract/topics.ts', 'data/loaders/site-formats.ts', 'data/topics/search-radii.ts'],
      slug,
    );
  }
});
