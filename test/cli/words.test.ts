import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import stringWidth from 'string-width';
import { fittingTable, listed, table, wrapped } from '../../src/cli/messages/format.ts';
import { findingMessages } from '../../src/cli/messages/run-messages.ts';
import type { RatingFinding } from '../../src/report/story.ts';
import { folderWith } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook, ROOT } from './command-line.ts';

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
    const words = [
      'plan',
      OED,
      '--topics',
      'natural,park',
      '--store',
      'store.db',
      '--order-by',
      'tiv',
      '--budget',
      '600',
    ];
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
    assert.match(narrow.stdout, /^ +credits .*time +complete in +way to buy$/m, 'the time is kept in every width');
    assert.match(narrow.stdout, /fewest calls, enterprise\s+bundles/, 'equal ways share a line');
  });
}

test('with tiers the verdict says how far the leanest and the richest reach', async (t) => {
  const words = ['plan', OED, '--tiers', 'all; natural', '--order-by', 'tiv', '--budget', '800', '--store', 'store.db'];
  const { stdout } = await perilbook(words, { folder: temporaryFolder(t) });
  assert.match(
    stdout,
    /will buy at least natural for 77 % of the places, 95 % of the value, and all for 0 %; the rest is deferred\.\n/,
  );
});

test('help begins with examples, of the program and of a command, on standard output', async () => {
  for (const [args, first] of [
    [['help'], 'plan portfolio.csv'],
    [['--help'], 'plan portfolio.csv'],
    [['run', '--help'], 'run portfolio.csv'],
    [['help', 'quota'], 'quota nightly.yaml'],
  ] as const) {
    const { code, stdout, stderr } = await perilbook(args);
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(stdout.startsWith(`Examples:\n  perilbook ${first}`), stdout.slice(0, 80));
  }
});

const mistakes: readonly (readonly [args: string, says: RegExp])[] = [
  ['rnu book.csv --topic x', /^perilbook: Unknown command: rnu; did you mean run\?/],
  ['plan book.csv --topcis x --bugdet 5', /did you mean --topics and --budget\?/],
  ['service load', /Unknown service action "load"\n {2}Use one of: start, check, account, key\. \[USAGE\]/],
  ['data laod', /Unknown data action "laod"; did you mean load\?/],
  ['data load hial x.csv --db s.db', /no loader "hial"; did you mean hail\?/],
  ['data load wells book.csv --states CA,XX --db s.db', /"XX" is not the two letters of a state/],
  ['service key crate --db s.db', /Unknown service key action "crate"; did you mean create\?/],
  ['service account create --account a --subscription profesional --db s.db', /did you mean professional\?/],
  ['service start --prot 80', /did you mean --port\?/],
  ['cache stat', /did you mean stats\?/],
  ['quota --by dya', /did you mean day\?/],
  ['plan book.csv --topics', /^perilbook: --topics needs a value\n {2}See perilbook plan --help/],
  ['plan book.csv --subscription strater', /did you mean starter\?/],
  ['plan book.csv --budget many', /^perilbook: --budget expects a number\n/],
  ['plan book.csv -b 5 -b 6', /^perilbook: --budget is given twice\n/],
  ['plan book.csv --time-to-live hial=3d', /did you mean hail\?/],
  ['plan boook.csv', /boook\.csv does not exist; did you mean book\.csv\?/],
  ['plan jbo.yaml', /Job file jbo\.yaml does not exist; did you mean job\.yaml\?/],
  ['plan book.csv --lat lta --lng lng', /no latitude column "lta"; did you mean "lat"\?/],
  ['plan book.csv --order-by vlaues', /no column vlaues; did you mean values\?/],
  ['plan book.csv --tract trcat', /no column trcat; did you mean tract\?/],
  ['plan book.csv --json=maybe', /^perilbook: --json takes no value\n/],
  ['plan book.csv -o --force', /^perilbook: --output needs a value\n/],
  ['plan book.csv -b=5 -t=hial', /did you mean hail\?/],
  ['plan book.csv --no-counts --no-counts --budget many', /^perilbook: --budget expects a number\n/],
  ['--topics hail plan book.csv --bugdet 5', /did you mean --budget\?/],
  ['--yes', /^perilbook: Missing command\n/],
  ['cache', /^perilbook: Missing argument for `perilbook cache`\n {2}See perilbook cache --help/],
];

for (const [args, says] of mistakes) {
  test(`perilbook ${args}: the nearest right word, and exit code 2`, async (t) => {
    const folder = folderWith(t, {
      'book.csv': 'lat,lng,values,tract\n34,-118,5,06037207400\n',
      'job.yaml': 'input: book.csv\n',
    });
    const { code, stdout, stderr } = await perilbook(args.split(' '), { folder, env: { XDG_DATA_HOME: folder } });
    assert.deepEqual([code, stdout], [2, ''], stderr);
    assert.match(stderr, says);
  });
}

test('findings fit the terminal', () => {
  const finding = (value: number): RatingFinding => ({
    title: 'Riverine Flooding',
    rating: 'Relatively High',
    answered: { locations: 36_634, value: 1e12 },
    rated: { locations: 1_106, value },
  });
  const lines = findingMessages([finding(38_712_000_000)], 'USD', 60);
  assert.deepEqual(lines, [
    'Riverine Flooding: 1,106 of 36,634 answered locations',
    'Relatively High, $38.7 bn of value',
  ]);
  const [ofWeight] = findingMessages([finding(12)], null, undefined, 'weight');
  assert.match(ofWeight!, /Relatively High, 12 of weight$/);
});
