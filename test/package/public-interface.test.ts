import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import * as library from '../../src/index.ts';
import { ROOT } from '../cli/command-line.ts';

test('the library has these functions and types, and no other', () => {
  assert.deepEqual(Object.keys(library).sort(), [
    ...[
      'PerilbookError',
      'createClient',
      'enrich',
      'local',
      'lookup',
      'openStore',
      'plan',
      'run',
      'sample',
    ],
  ]);
  const entry = readFileSync(join(ROOT, 'bin/library.js'), 'utf8');
  const named = /export const \{([^}]*)\}/
    .exec(entry)![1]!
    .split(',')
    .map((name) => name.trim());
  assert.deepEqual(named.sort(), Object.keys(library).sort());
  const exported = readFileSync(join(ROOT, 'src/index.ts'), 'utf8').matchAll(
    /^export (type )?\{([^}]*)\}/gm,
  );
  const types = [...exported].flatMap(([, allTypes, names]) =>
    names!
      .split(',')
      .map((name) => name.trim())
      .filter((name) => allTypes !== undefined || name.startsWith('type '))
      .map((name) => name.replace(/^type /, '')),
  );
  assert.deepEqual(types.sort(), [
    ...[
      'AnswerSettings',
      'AnswerSource',
      'AnswerStore',
      'ClientSettings',
      'EnrichOptions',
      'EnrichedRow',
      'ErrorCode',
    ],
    ...[
      'ErrorContext',
      'Hazards',
      'JobFile',
      'JobOptions',
      'Located',
      'PlaceOptions',
      'PlanSummary',
      'ProgressSoFar',
    ],
    ...[
      'RowStatus',
      'RunEvent',
      'RunResult',
      'RunSummary',
      'Stop',
      'StreamSettings',
      'TopicName',
      'TopicSlug',
    ],
  ]);
});

test('the package exports the library and its schema, and is not private', () => {
  assert.deepEqual(Object.keys(manifest.exports), ['.', './job.schema.json', './package.json']);
  assert.ok(!('private' in manifest));
  assert.deepEqual(manifest.bin, { perilbook: 'bin/perilbook.cjs' });
});

test('the source imports every dependency, and no package that is not one', () => {
  const imported = new Set<string>();
  for (const file of globSync('src/**/*.ts', { cwd: ROOT })) {
    const source = readFileSync(join(ROOT, file), 'utf8');
    // Types are erased; their packages are needed for building only.
    const found = source.matchAll(
      /(?:^import (?!type )[^;]*?from|\bimport\(|\bimport\.meta\.resolve\(|createRequire\(import\.meta\.url\)\()\s*['`]([^.'`][^'`]*)['`]/gm,
    );
    for (const [, target] of found) {
      if (!isBuiltin(target!))
        imported.add(
          target!
            .split('/')
            .slice(0, target!.startsWith('@') ? 2 : 1)
            .join('/'),
        );
    }
  }
  // A program that uses the library compiles against the declarations, which name these types.
  const forTypes = ['@types/better-sqlite3', '@types/geojson', '@types/node'];
  assert.deepEqual([...imported, ...forTypes].sort(), Object.keys(manifest.dependencies).sort());
});
