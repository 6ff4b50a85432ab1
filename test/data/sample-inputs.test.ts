import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sampleInputs, writeSampleInputs } from '../../sample-data/make.ts';

const FOLDER = join(import.meta.dirname, '../../sample-data');
const inputs = sampleInputs();

test('the committed inputs are what the generator writes, byte for byte', (t) => {
  t.mock.method(console, 'log', () => {});
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-inputs-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeSampleInputs(folder);
  for (const name of inputs.keys()) {
    assert.ok(readFileSync(join(folder, name)).equals(readFileSync(join(FOLDER, name))), name);
  }
});
