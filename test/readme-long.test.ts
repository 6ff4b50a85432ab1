import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { perilbook, ROOT } from './cli/command-line.ts';
import { checkSection, checkSessions, runShellBlocks } from './docs/quoted-sessions.ts';
import { provideLocalData } from './sample-database.ts';
import { temporaryFolder } from './temporary-folder.ts';

/* The README quotes the program; this holds the two together. `npm run readme` writes what the program says into the README
 * instead of comparing, for review in the diff. */
const FILE = join(ROOT, 'README.md');

/** The columns of the README's table: the user's own, and the most telling ones of three topics. */
const SHOWN = [
  'id',
  'latitude',
  'longitude',
  'hurricane_rating',
  'wildfire_rating',
  'superfund_nearest_m',
];

test('the sessions in the README are what the program says on a machine without data and key', async (t) => {
  const folder = temporaryFolder(t);
  runShellBlocks(FILE, folder);
  // What a reader downloads comes from the agencies; here the same datasets, made up.
  const before = (line: string) => {
    if (line.endsWith('grep -m1 free')) provideLocalData(folder);
  };
  assert.ok((await checkSessions(FILE, folder, { before })) >= 5);

  const { code, stderr } = await perilbook(
    [
      ...['run', 'houses.csv', '-o', 'shown.csv', '--topics'],
      ...['hurricane,wildfire,superfund', '--service', 'sample', '--yes'],
    ],
    { folder, env: { PERILBOOK_STORE: join(folder, '.perilbook', 'store.db') } },
  );
  assert.equal(code, 0, stderr);
  const rows: Record<string, string>[] = parse(readFileSync(join(folder, 'shown.csv')), {
    columns: true,
  });
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const table = [
    SHOWN,
    SHOWN.map(() => '---'),
    ...rows.map((row) => SHOWN.map((name) => row[name]!)),
  ].map(line);
  checkSection(FILE, 'rows', table.join('\n'));
});

test('the README is short, and names the main command and the test command', () => {
  const text = readFileSync(FILE, 'utf8');
  assert.ok(text.split('\n').length <= 201, `${text.split('\n').length - 1} lines`);
  assert.match(text, /^ {4}npm ci && npm start /m);
  assert.match(text, /^ {4}npm ci && npm test /m);
});
