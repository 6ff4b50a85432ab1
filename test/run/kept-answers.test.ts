import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import {
  KEPT,
  keptAnswersAt,
  keptAsOf,
  keptOfRow,
  statusWithKept,
} from '../../src/run/scan/kept-answers.ts';
import { keptNote } from '../../src/run/write/kept-notes.ts';
import { openHarness, places } from './harness.ts';

type Rows = Record<string, string>[];

test('sums and rows have one status, whether threads read the file or not', async (t) => {
  const { folder, writeInput, run, charged } = await openHarness(t, { factor: 1 });
  writeInput(places(40));
  await run({ topics: 'wildfire' });
  const text = readFileSync(join(folder, 'output.csv'), 'utf8');
  // Some rows never had an answer.
  const lines = text.split('\n').map((line, number) => (number % 4 === 2 ? bare(line) : line));
  writeFileSync(join(folder, 'kept.csv'), lines.join('\n'));
  const before = charged();
  const outputs: string[] = [];
  for (const rowThreads of [0, 1]) {
    const { summary } = await run(
      { input: 'kept.csv', output: 'two.csv', topics: 'hail' },
      { rowThreads },
    );
    const written = readFileSync(join(folder, 'two.csv'), 'utf8');
    const rows: Rows = parse(written, { columns: true });
    const counted = (status: string) => rows.filter((row) => row.hazard_status === status).length;
    assert.deepEqual(
      [summary.status.ok, summary.status.partial, summary.partial_kept],
      [counted('ok'), counted('partial'), counted('partial')],
    );
    assert.deepEqual([counted('ok'), counted('partial')], [30, 10]);
    for (const row of rows)
      assert.match(
        row.hazard_note!,
        row.hazard_status === 'ok'
          ? /; wildfire of an earlier run: service's data: /
          : /; wildfire of an earlier run: no answer: wildfire$/,
      );
    outputs.push(written);
  }
  assert.equal(outputs[1], outputs[0]);
  assert.equal(charged() - before, 40);
});

const bare = (line: string): string =>
  `${line.split(',').slice(0, 3).join(',')},,,${','.repeat(6)}`;

const KEPT_AT = keptAnswersAt(
  [
    { topic: 'wildfire', keeps: 3 },
    { topic: 'wildfire', keeps: 4 },
    { topic: 'radon', keeps: 5 },
  ],
  0,
  (column) => column,
);
const said = (status: string, note: string, ...fields: string[]) => {
  const kept = keptOfRow([status, note, '', ...fields], KEPT_AT);
  return { has: kept.has, note: keptNote(kept) };
};

test('what an earlier note says of other topics and their datasets is left out', () => {
  assert.deepEqual(
    said(
      'partial',
      'local data: areas 2025, nri 2026, sites:superfund 2024; no data here: hail radon; hail: a zone; HTTP 503: tornado',
      'Low',
      '1',
      '',
    ),
    {
      has: KEPT.real,
      note: 'wildfire radon of an earlier run: local data: areas 2025, nri 2026; no data here: radon',
    },
  );
});

test('made-up answers are known by the note of the run that brought them', () => {
  const note =
    "service's data: nri 2026; wildfire of an earlier run: sample data; hail of an earlier run: x";
  assert.deepEqual(said('ok', note, 'Low', '1', 'Zone 1'), {
    has: KEPT.real | KEPT.madeUp,
    note: 'radon of an earlier run; wildfire of an earlier run: sample data',
  });
  assert.equal(
    said('deferred', 'sample data; not bought yet: radon', 'Low', '', '').has,
    KEPT.madeUp | KEPT.lacking,
  );
  assert.equal(
    said('', '', '', '', '').note,
    'wildfire radon of an earlier run: no answer: wildfire radon',
  );
});

test('each statement of earlier runs speaks of its own topics', () => {
  const note =
    'HTTP 503: hail; wildfire of an earlier run: stale: wildfire; radon of an earlier run: sample data';
  assert.deepEqual(said('partial', note, 'Low', '1', 'Zone 1'), {
    has: KEPT.real | KEPT.madeUp | KEPT.lacking,
    note: 'wildfire of an earlier run: stale: wildfire; radon of an earlier run: sample data',
  });
});

test('the time of an earlier run counts where the row has an answer of it', () => {
  const time = '2026-03-01T00:00:00.000Z';
  const asOf = (written: string, ...fields: string[]) =>
    keptAsOf(['ok', '', written, ...fields], KEPT_AT);
  assert.equal(asOf(time, '', '', 'Zone 1'), Date.parse(time));
  assert.equal(asOf(time, '', '', ''), null);
  assert.equal(asOf('', 'Low', '1', ''), null);
});

test('a stale answer is no fresh one', () => {
  const note = 'stale, not bought again yet: wildfire';
  assert.equal(said('deferred', note, 'Low', '1', 'Zone 1').has, KEPT.real | KEPT.lacking);
});

test('a row that failed is partial where it brings an answer, and what is wrong with its location stays', () => {
  assert.equal(statusWithKept('failed', KEPT.madeUp), 'partial');
  assert.equal(statusWithKept('failed', KEPT.lacking), 'failed');
  assert.equal(statusWithKept('rejected', KEPT.real), 'rejected');
  assert.equal(statusWithKept('deferred', KEPT.real), 'deferred');
});
