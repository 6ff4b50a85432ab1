import assert from 'node:assert/strict';
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { perilbook } from '../cli/command-line.ts';
import { folderWith } from '../sample-database.ts';

const skip = process.platform !== 'win32' && 'Windows alone keeps others from an open file';

test('a file that another program holds is said to be held: an input, an output, a report', {
  skip,
}, async (t) => {
  const folder = folderWith(t, { 'book.csv': 'id,lat,lng\r\n1,34.0522,-118.2437\r\n' });
  const run = (...args: string[]) =>
    perilbook([...args, '--topics', 'hail', '--service', 'sample'], { folder });
  const heldWhile = async (name: string, ...args: string[]) => {
    // UV_FS_O_EXLOCK: opened for itself alone.
    const held = openSync(join(folder, name), constants.O_RDWR | 0x10000000);
    const { code, stderr } = await run(...args);
    closeSync(held);
    return `${code} ${stderr.split('\n').slice(-3).join('\n')}`;
  };
  assert.match(
    await heldWhile('book.csv', 'plan', 'book.csv'),
    /^2 .*book\.csv is held by another program\n {2}hint: Close it/s,
  );
  assert.equal((await run('run', 'book.csv', '--report', 'report.html')).code, 0);
  const ofOutput = await heldWhile('book.hazards.csv', 'run', 'book.csv');
  assert.match(ofOutput, /^2 .*book\.hazards\.csv is held by another program\n {2}hint: Close it/s);
  const ofReport = await heldWhile('report.html', 'run', 'book.csv', '--report', 'report.html');
  assert.match(ofReport, /^2 .*report\.html is held by another program\n {2}hint: Close it/s);
  writeFileSync(join(folder, 'report.html'), 'notes');
  assert.match(
    (await run('run', 'book.csv', '--report', 'report.html')).stderr,
    /exists, and Perilbook did not write it/,
  );
});
