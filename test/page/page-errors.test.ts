import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageMessage, withoutTerminal } from '../../src/page/files/page-words.ts';

const UPLOAD = '/home/ann/.local/share/perilbook/ui/0123456789abcdef/input/';

test('a hint on the page names no flag, no job file, no command and no folder of the workspace', () => {
  const message = 'No latitude column was found in';
  const hint = 'Name it: --lat COLUMN (location: in the job file).';
  assert.deepEqual(pageMessage({ code: 'INPUT_COLUMNS', message: `${message} ${UPLOAD}book.csv`, hint }), {
    message: `${message} book.csv`,
    hint: 'Choose the latitude and longitude columns below, or check the box if the first line is data.',
  });
  const kept = { code: 'BUG', message: 'a', hint: 'Use another name.' } as const;
  assert.deepEqual(pageMessage(kept), { message: 'a', hint: 'Use another name.' });
});

test('of a longer text the sentences for a terminal are left out', () => {
  assert.equal(
    withoutTerminal('The quota is used up. If others spend: perilbook quota set --left N. It resets on Monday.'),
    'The quota is used up. It resets on Monday.',
  );
  assert.equal(withoutTerminal('It is 5 - 3 places, from -95.3.'), 'It is 5 - 3 places, from -95.3.');
  assert.equal(withoutTerminal('Start perilbook ui again.'), 'Start perilbook ui again.');
});
