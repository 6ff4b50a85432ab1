import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { safeFileName } from '../../src/ui/books/file-name.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('a long name of wide letters is one that a disk takes', (t) => {
  const name = safeFileName(`${'災'.repeat(120)}.csv`);
  writeFileSync(join(temporaryFolder(t), `${name}.hazards.csv`), '');
});
