import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const MODULE = join(import.meta.dirname, '../bench/peak-memory.ts');

test('the memory of a measured process is its own, not that of the process that started it', () => {
  const held = Buffer.alloc(300 * 2 ** 20, 1);
  const program = `import { peakMegabytes } from ${JSON.stringify(MODULE)}; console.log(peakMegabytes())`;
  const told = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  const megabytes = Number(told);
  assert.ok(megabytes > 20 && megabytes < held.length / 2 ** 20, told);
});
