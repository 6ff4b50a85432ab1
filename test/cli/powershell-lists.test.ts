import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { printCommandsFor, shellOf } from '../../src/base/shell-words.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

test('in PowerShell, which splits a list at its commas, the list that is meant is printed in quotes', async (t) => {
  printCommandsFor('powershell');
  t.after(() => printCommandsFor(shellOf(process.platform, {})));
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'book.csv'), 'lat,lng\n34,-118\n');
  const said = async (...topics: string[]) =>
    (await perilbook(['plan', 'book.csv', '--topics', ...topics], { folder })).stderr;
  assert.match(
    await said('wildfire', 'hail'),
    /--topics 'wildfire,hail'\. \[USAGE\]/,
    'as it gives them to a program',
  );
  assert.match(
    await said('wildfire hail'),
    /did you mean 'wildfire,hail'\?/,
    "as npm's starter hands them on",
  );
});
