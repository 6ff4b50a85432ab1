import assert from 'node:assert/strict';
import { test } from 'node:test';
import { perilbook } from '../cli/command-line.ts';
import { folderWith } from '../sample-database.ts';

const skip = process.platform !== 'win32' && 'elsewhere another case is another file';

test('a report and an output that differ in case only are one file, and a file with a run is found in any case', {
  skip,
}, async (t) => {
  const folder = folderWith(t, { 'book.csv': 'id,lat,lng\r\n1,34.0522,-118.2437\r\n' });
  const run = ['run', 'book.csv', '--topics', 'hail', '--service', 'sample'];
  const both = await perilbook([...run, '-o', 'out.csv', '--report', 'OUT.csv'], { folder });
  assert.match(both.stderr, /OUT\.csv is the output and the report/);
  assert.equal((await perilbook(run, { folder })).code, 0);
  for (const name of ['Book.CSV', 'BOOK.hazards.csv']) {
    const { code, stderr } = await perilbook(['report', name, '--report', `${name}.html`], {
      folder,
    });
    assert.deepEqual([code, stderr.includes('Wrote the report')], [0, true], stderr);
  }
});
