import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { safeFileName } from '../../src/ui/files/file-name.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('a long name of wide letters is one that a disk takes', (t) => {
  const name = safeFileName(`${'災'.repeat(120)}.csv`);
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, `${name}.hazards.csv`), '');
  assert.deepEqual(readdirSync(folder), [`${name}.hazards.csv`]);
});
