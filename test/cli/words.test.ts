import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import stringWidth from 'string-width';
import { fittingTable, listed, table, wrapped } from '../../src/cli/messages/format.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook, ROOT, wordsIn } from './command-line.ts';

test('a column lines up on the screen, where a wide letter takes two places and an accent none', () => {
  const lines = table(
    ['name', 'rows'],
    [
      ['株式会社', '1'],
      ['Zu\u0308rich', '1,200'],
    ],
    '',
  );
  assert.deepEqual(lines, ['name       rows', '株式会社      1', 'Zu\u0308rich    1,200']);
  assert.deepEqual([...new Set(lines.map((line) => stringWidth(line)))], [15]);
  assert.deepEqual(
    listed(
      [
        ['é', 'a'],
        ['株', 'b'],
      ],
      '',
    ),
    ['é   a', '株  b'],
  );
});

test('what is too wide goes on below itself; nothing is lost', () => {
  assert.deepEqual(wrapped(['one', 'two', 'three'], 9), ['one · two', 'three']);
  assert.deepEqual(listed([['note', 'a text of some words that is long']], '', 28), [
    'note  a text of some words',
    '      that is long',
  ]);
  const [head, ...rows] = table(['line', 'reason'], [['7', 'The place is outside the US, by far.']], '', 30);
  assert.equal(head, 'line  reason');
  assert.deepEqual(rows, ['   7  The place is outside the', '      US, by far.']);
});

test('a table leaves out what can be done without, in that order', () => {
  const head = ['way', 'credits', 'calls', 'time'];
  const rows = [['fewest', '1,040', '130', 'a minute']];
  const at = (screen: number) => fittingTable(head, rows, ['calls', 'time'], '', screen)[0];
  assert.deepEqual(
    [at(80), at(28), at(20), at(5)],
    ['way     credits  calls  time', 'way     credits  time', 'way     credits', 'way     credits'],
  );
});

const OED = join(ROOT, 'sample-data/portfolio-oed.csv');

for (const columns of [60, 80, 120]) {
  test(`the plan fits a terminal of ${columns} columns; the verdict is whole and stands above the tables`, async (t) => {
    const folder = temporaryFolder(t);
    const words = wordsIn(
      `plan ${OED} --topics natural,park --store store.db --order-by tiv --budget 600 --service sample`,
    );
    const narrow = await perilbook(words, { folder, columns, env: { NO_COLOR: '1' } });
    const wide = await perilbook(words, { folder });
    // A path is one word, and goes where it goes.
    const lines = narrow.stdout.split('\n').filter((line) => !line.includes(OED));
    assert.deepEqual(
      lines.filter((line) => stringWidth(line) > columns),
      [],
    );
    const verdict = wide.stdout.split('\n').find((line) => line.includes('credits needed.'))!;
    const [head] = narrow.stdout.split('\n\n');
    assert.ok(head!.replace(/\s+/g, ' ').endsWith(verdict), narrow.stdout);
    assert.match(narrow.stdout, /^ +cheaper +standard bundles,/m, 'a cheaper way is named in every width');
  });
}
