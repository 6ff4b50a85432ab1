import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sampleInputs, writeSampleInputs } from '../../sample-data/make.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const FOLDER = join(import.meta.dirname, '../../sample-data');
const inputs = sampleInputs();

test('the committed inputs are what the generator writes, byte for byte', (t) => {
  t.mock.method(console, 'log', () => {});
  const folder = temporaryFolder(t);
  writeSampleInputs(folder);
  for (const name of inputs.keys()) {
    assert.ok(readFileSync(join(folder, name)).equals(readFileSync(join(FOLDER, name))), name);
  }
});
