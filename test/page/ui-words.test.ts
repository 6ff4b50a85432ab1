import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import type { RowStatus } from '../../src/columns/row-status.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import {
  type Choice,
  choiceSchema,
  confirmation,
  firstChoice,
  makeJobFile,
} from '../../src/page/files/choice.ts';
import { columnReference, type FilePreview } from '../../src/page/files/file-preview.ts';
import { pageMessage, withoutTerminal } from '../../src/page/files/page-words.ts';
import { readAssets } from '../../src/page/web/assets.ts';
import { ActiveRun, makeRunUpdate } from '../../src/page/web/runs.ts';
import { newProgress } from '../../src/run/frame/progress.ts';
import { fc } from '../properties.ts';
import { locationByNames } from '../rows/location-of.ts';

interface PageWords {
  incompleteWords(status: Partial<Record<RowStatus, number>> | null): string;
}

/** A module of the page, as the browser loads it, by its address. */
const addressOf = (name: string, text = String(readAssets().get(name)!.body)): string =>
  `data:text/javascript,${encodeURIComponent(text.replaceAll(/'\.\/([\w-]+\.js)'/g, (_, other) => JSON.stringify(addressOf(other))))}`;
const page = (await import(addressOf('format.js'))) as PageWords;
const numbers = (await import(addressOf('numbers.js'))) as Record<
  string,
  (value: number, word?: string) => string
>;

test('the page has the numbers and the sentence of the server', () => {
  assert.deepEqual(Object.keys(numbers).sort(), [
    'byteSize',
    'confirmation',
    'counted',
    'grouped',
    'percent',
    'timeSpan',
  ]);
  for (const budget of [0, 1, 2, 999, 1000])
    assert.equal(numbers.confirmation!(budget), confirmation(budget));
  assert.deepEqual(
    [
      numbers.byteSize!(12_345_678),
      numbers.timeSpan!(200),
      numbers.percent!(0.9996),
      numbers.counted!(1_040, 'row'),
    ],
    ['12.3 MB', '3 h 20 min', '99.9 %', '1,040 rows'],
  );
});

test('a run that ended with rows lacking answers is called complete only where they are few', () => {
  const words = [
    [{ ok: 30_527, failed: 267_073 }, 'Ended: 267,073 of 297,600 rows failed'],
    [{ ok: 10, partial: 5, failed: 5 }, 'Ended: 10 of 20 rows incomplete'],
    [{ ok: 297_000, partial: 500, failed: 100, invalid: 7 }, 'Complete, except 600 rows'],
    [{ ok: 99, failed: 1 }, 'Complete, except 1 row'],
    [{ rejected: 5, invalid: 1 }, 'Ended: 5 of 6 rows rejected'],
    [null, 'Ended: some rows are incomplete'],
  ] as const;
  for (const [status, text] of words) assert.equal(page.incompleteWords(status), text);
});

test('the page shows the rate and the time left that the terminal shows', () => {
  const facts = { budget: 700, creditsPerMinute: 300, deadline: null };
  const run: ActiveRun = {
    ...{ ...new ActiveRun(0, 700), phase: 'buying', available: 10_000, source: 'service' },
    facts: {
      ...facts,
      startedAt: 0,
      rows: 1,
      valueBefore: 0,
      reach: { credits: 700, cells: 70 },
      value: 0,
    },
  };
  const at = (steady: number, spent: number) => {
    const progress = { ...newProgress(), creditsPlanned: 2_000, creditsSpent: spent };
    const { last_minute, minutes_left } = makeRunUpdate({ ...run, progress }, steady);
    return [last_minute, minutes_left];
  };
  assert.deepEqual(
    at(0, 0),
    [0, 400 / 300],
    'the budget ends it; the first minute holds 300 credits',
  );
  assert.deepEqual(at(1_000, 10), [10, 400 / 300], 'a short burst says nothing of the rate');
  assert.deepEqual(at(60_000, 100), [100, 6]);
});

test('a column is named so that a job finds that very one', () => {
  const columns = ['lat', 'Lat', '', 'y', '9', 'y', ''];
  for (const lat of columns.keys()) {
    for (const lng of columns.keys()) {
      if (lat === lng) continue;
      const found = locationByNames(columns, {
        lat: columnReference(columns, lat),
        lng: columnReference(columns, lng),
      });
      assert.deepEqual([found.lat, found.lng], [lat, lng]);
    }
  }
});

const COLUMNS = ['lat', 'Lat', '', 'y', '9', 'y', ''];
const PREVIEW = {
  columns: COLUMNS,
  location: { lat: 0, lng: 3 },
  order: 4,
} as unknown as FilePreview;

test('the settings of a run are shown again as they were chosen; with another header, the columns that are recognised', () => {
  const index = fc.nat(COLUMNS.length - 1);
  const choices = fc.record({
    lat: index,
    lng: index,
    placeOrder: fc.constantFrom('lat,lng', 'lng,lat', null, undefined),
    topics: fc.uniqueArray(fc.constantFrom(...TOPIC_SLUGS), { minLength: 1 }),
    optimize: fc.constantFrom('credits', 'calls'),
    header: fc.boolean(),
    order: fc.oneof(index, fc.constantFrom('tiv', 'file')),
    source: fc.constantFrom('local', 'service', 'sample'),
    areas: fc.option(fc.constantFrom('tract', 'county'), { nil: undefined }),
    losses: fc.option(fc.boolean(), { nil: undefined }),
  });
  fc.assert(
    fc.property(choices, (made) => {
      const choice = choiceSchema.parse(made) as Choice & {
        header: boolean;
        order: number | 'tiv' | 'file';
      };
      const {
        header,
        order,
        areas = 'place',
        lat,
        lng,
        placeOrder,
        optimize,
        source,
        losses = false,
      } = choice;
      const job = makeJobFile(choice, COLUMNS);
      // The service that the page was started with is in no job file.
      assert.equal(job.service, source === 'service' ? undefined : source);
      const topics = TOPIC_SLUGS.filter((slug) => choice.topics.includes(slug));
      // A value column is named: of two with one name the first is meant.
      const named = typeof order === 'number' ? COLUMNS.indexOf(COLUMNS[order]!) : order;
      const rest = { topics, optimize, source, areas, losses };
      const both = lat === lng && placeOrder ? { placeOrder } : {};
      assert.deepEqual(firstChoice(job, header, PREVIEW, 'service'), {
        lat,
        lng,
        ...both,
        order: named,
        ...rest,
      });
      assert.deepEqual(firstChoice(job, !header, PREVIEW, 'service'), {
        lat: 0,
        lng: 3,
        order: 4,
        ...rest,
      });
    }),
  );
});

test('without a run the page shows what is recognised and usual; columns that are gone must be chosen', () => {
  const usual = { optimize: 'credits', source: 'local', areas: 'place', losses: false };
  const { topics, ...first } = firstChoice(null, true, PREVIEW, 'local');
  assert.deepEqual([topics.length, first], [18, { lat: 0, lng: 3, order: 4, ...usual }]);
  const unknown = { ...PREVIEW, location: null, order: null };
  assert.deepEqual(firstChoice(null, true, unknown, 'local'), {
    lat: null,
    lng: null,
    order: 'file',
    topics,
    ...usual,
  });
  const job = makeJobFile({ lat: 3, lng: 4, topics: ['hail'], optimize: 'calls', order: 1 }, [
    'a',
    'b',
    'c',
    'd',
    'e',
  ]);
  const { lat, lng, order } = firstChoice(job, true, { ...PREVIEW, columns: ['a', 'e'] }, 'local');
  assert.deepEqual([lat, lng, order], [null, 1, 'file']);
});

test('a choice is refused unless each part is one that the page offers', () => {
  const choice = { lat: 0, lng: 1, topics: ['hail'], optimize: 'credits' };
  assert.ok(choiceSchema.safeParse(choice).success);
  for (const part of [
    ...[
      { lat: -1 },
      { lat: 1.5 },
      { lat: null },
      { lng: -1 },
      { lng: 0.5 },
      { lng: '1' },
      { lng: undefined },
    ],
    ...[
      { topics: [] },
      { topics: ['rain'] },
      { topics: undefined },
      { optimize: 'time' },
      { optimize: undefined },
    ],
    ...[
      { header: 'no' },
      { order: -1 },
      { order: 'value' },
      { source: 'web' },
      { areas: 'state' },
      { budget: 5 },
    ],
  ]) {
    assert.ok(!choiceSchema.safeParse({ ...choice, ...part }).success, JSON.stringify(part));
  }
});

const UPLOAD = '/home/ann/.local/share/perilbook/ui/0123456789abcdef/input/';

test('a hint on the page names no flag, no job file, no command and no folder of the workspace', () => {
  const message = 'No latitude column was found in';
  const hint = 'Name it: --lat COLUMN (location: in the job file).';
  assert.deepEqual(
    pageMessage(new PerilbookError('INPUT_COLUMNS', `${message} ${UPLOAD}book.csv`, hint)),
    {
      message: `${message} book.csv`,
      hint: 'Choose the latitude and longitude columns below, or check the box if the first line is data.',
    },
  );
  const kept = new PerilbookError('BUG', 'a', 'Use another name.');
  assert.deepEqual(pageMessage(kept), { message: 'a', hint: 'Use another name.' });
});

test('of a longer text the sentences for a terminal are left out', () => {
  assert.equal(
    withoutTerminal(
      'The quota is used up. If others spend: perilbook quota set --left N. It resets on Monday.',
    ),
    'The quota is used up. It resets on Monday.',
  );
  assert.equal(
    withoutTerminal('It is 5 - 3 places, from -95.3.'),
    'It is 5 - 3 places, from -95.3.',
  );
  assert.equal(withoutTerminal('Start perilbook ui again.'), 'Start perilbook ui again.');
});
