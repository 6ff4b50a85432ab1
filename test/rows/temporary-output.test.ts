import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { checkOutput } from '../../src/rows/files/output-file.ts';
import { temporaryName } from '../../src/rows/files/temporary-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('what a killed process left of an output is removed; that of a running one, and of other outputs, stays', async (t) => {
  const folder = temporaryFolder(t);
  const output = join(folder, 'out.csv');
  const dead = spawnSync(process.execPath, ['--version']).pid.toString(16).padStart(8, '0');
  const own = basename(temporaryName(output));
  const ofDead = (name: string) => name.replace(/(?<=^\..+\.[0-9a-f]{8})[0-9a-f]{8}/, dead);
  const elsewhere = ofDead(own).replace(/(?<=^\.out\.csv\.)[0-9a-f]{8}/, (digits) =>
    digits.split('').reverse().join(''),
  );
  const others = [own, ofDead(basename(temporaryName(join(folder, 'other.csv')))), elsewhere, '.out.csv.backup.tmp'];
  for (const name of [...others, ofDead(own)]) writeFileSync(join(folder, name), 'lat,lng\n');
  await checkOutput(output, '-');
  assert.deepEqual(readdirSync(folder).sort(), others.sort());
});
