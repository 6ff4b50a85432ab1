import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf } from '../../../src/columns/topic-columns.ts';
import type { CellRecord, Field, TopicFailure } from '../../../src/contract/answer.ts';
import type { TopicSlug } from '../../../src/contract/topics.ts';
import { placeWriter } from '../../../src/formats/packed/place-table.ts';
import { cellNumber } from '../../../src/geo/cell-slots.ts';
import type { JobFile } from '../../../src/job/job-file.ts';
import { makeJob } from '../../../src/job/settings.ts';
import { AreaTable } from '../../../src/run/areas/area-table.ts';
import { makeFreshness } from '../../../src/run/frame/freshness.ts';
import type { RunContext } from '../../../src/run/frame/run-context.ts';
import {
  makePlan,
  NO_FIELDS,
  type PlanOptions,
  rowsWithAnswers,
} from '../../../src/run/plan/planning.ts';
import { CellTable } from '../../../src/run/scan/cell-table.ts';
import { RowPlaces } from '../../../src/run/scan/row-places.ts';
import type { Scan } from '../../../src/run/scan/scan-input.ts';
import type { PlaceReading, StoredForm, WantedAnswer } from '../../../src/store/answers/port.ts';
import { topicSet, topicsIn } from '../../../src/store/answers/topic-set.ts';
import { MovedClock } from '../../moved-clock.ts';

const NOW = Date.UTC(2026, 2, 15, 12);
const DAY = 86_400_000;
const TOPICS: TopicSlug[] = ['hail', 'park'];

interface Stored {
  readonly answered?: readonly TopicSlug[];
  readonly noData?: readonly TopicSlug[];
  readonly failed?: readonly TopicSlug[];
  readonly rejected?: readonly TopicSlug[];
}

const recordOf = ({
  answered = [],
  noData = [],
  failed = [],
  rejected = [],
}: Stored): CellRecord => {
  const answer = (topic: TopicSlug, asOf: number, field: Field) =>
    [topic, { topic, asOf, fields: [field] }] as const;
  const failures = (topics: readonly TopicSlug[], reason: TopicFailure['reason']) =>
    topics.map((topic) => [topic, { reason, note: '', at: NOW }] as const);
  return {
    answers: new Map([
      ...answered.map((topic) => answer(topic, NOW - DAY, 'High')),
      // A topic without data is asked again when its time to live has passed.
      ...noData.map((topic) => answer(topic, NOW - 400 * DAY, null)),
    ]),
    failures: new Map([...failures(failed, 'failed'), ...failures(rejected, 'rejected')]),
  };
};

interface Scene {
  readonly settings?: Partial<JobFile>;
  /** The cell of each row; null: not located. */
  readonly rows?: readonly (number | null)[];
  readonly values?: readonly number[];
  /** What the store has, by cell; `complete`: all that is wanted. */
  readonly stored?: Readonly<Record<number, Stored | 'complete'>>;
  readonly limit?: number;
  readonly leftMs?: number;
  readonly context?: Partial<RunContext>;
  /** All cells are in one tract. */
  readonly isOneTract?: boolean;
  readonly options?: PlanOptions;
  /** Why fields of places could not be kept in a file, each time that some were read. */
  readonly diskProblems?: readonly string[];
  /** What the ledger says was charged for answers that the store has not. */
  readonly creditsLost?: number;
}

async function planOf(scene: Scene) {
  const { rows = [0, 1, 2, 3], values = [], stored = {}, isOneTract = false } = scene;
  const { settings, limit, leftMs, context, options, creditsLost = 0 } = scene;
  const said = {
    input: 'in.csv',
    service: { base_url: 'https://hazards.example' },
    topics: TOPICS,
    ...settings,
  };
  const made = makeJob([said], { dataFolder: '/', workingFolder: '/' });
  const job = limit === undefined ? made : { ...made, limit };
  const [cells, places, areas] = [new CellTable(), new RowPlaces(), new AreaTable()];
  for (const row of rows) {
    if (row === null) places.addUnlocated('empty', '');
    else places.addCell(cells.add({ lat7: row, lng7: 7 }, values[row]));
  }
  for (let cell = 0; isOneTract && cell < cells.size; cell++) areas.record(cell, 'tract', '1');
  const clock = new MovedClock(NOW);
  const asked: (readonly WantedAnswer[])[] = [];
  const notices: string[] = [];
  const records = new Map<StoredForm, CellRecord>();
  const store = {
    async *readPlaces({ wanted, cells: of, table, rated }: PlaceReading) {
      asked.push(wanted);
      const writer = placeWriter(table);
      const [pairs, forms]: [number[], StoredForm[]] = [[], []];
      for (const [lat7, record] of Object.entries(stored)) {
        const number = cellNumber(of, Number(lat7), 7);
        writer.reserve(1);
        writer.end(number, 1);
        if (record === 'complete') continue;
        const form = { isComplete: false, row: { answers: new Uint8Array(), failures: null } };
        pairs.push(number, forms.push(form) - 1);
        records.set(form, recordOf(record));
      }
      const ratings = new Float64Array(512 * rated.length);
      const left = writer.flush();
      const none = { uncounted: [], numbered: [] };
      yield { reader: '0', pairs: Int32Array.from(pairs), forms, ratings, ...none, left };
      for (const problem of scene.diskProblems ?? []) {
        const more = { pairs: new Int32Array(), forms: [], ratings, ...none };
        yield { reader: '0', ...more, left: { ...writer.flush(), problem } };
      }
    },
    recordsOf: async (forms: readonly StoredForm[]) => forms.map((form) => records.get(form)!),
    readAreas: async (_: number, names: readonly string[]) => names.map(() => null),
    bundleContents: async () => ({ standard: null, enterprise: null }),
    chargedPrices: async () => new Map(),
    creditsWithoutAnswers: async () => creditsLost,
    callTimes: async () => [],
    spending: async () => ({ charged: 9_900, unknown: 0, open: 0, exhaustedAt: null }),
  };
  const source = {
    job,
    connection: { kind: 'service', sample: false, keys: [] },
    source: 1,
    freshness: makeFreshness(job, NOW),
    ...context,
  };
  const plan = await makePlan(
    {
      ...source,
      sources: [source],
      store,
      apiKeys: { keyFor: () => ({}), refused: [] },
      isContinued: false,
      effects: { clock, notice: (text: string) => notices.push(text) },
      deadline: leftMs === undefined ? null : clock.now() + leftMs,
      ...context,
    } as unknown as RunContext,
    {
      cells,
      places,
      located: rows.filter((row) => row !== null).length,
      areas,
      coded: null,
    } as unknown as Scan,
    { origin: null, ...options },
  );
  const lacks = Array.from({ length: cells.size }, (_, cell) => topicsIn(plan.missing.get(cell)));
  return { ...plan, order: [...plan.order], lacks, asked, notices };
}

test('a cell lacks what has no fresh answer; one that lacks nothing is neither ordered nor priced', async () => {
  const rows = [0, 1, 2, 3, 4, 4];
  const stored: Scene['stored'] = {
    0: 'complete',
    1: { answered: ['hail'] },
    2: { noData: ['hail'] },
    4: { rejected: ['hail'] },
  };
  const plan = await planOf({ rows, stored });
  // A place that the service rejected is neither asked for nor complete.
  assert.deepEqual(plan.lacks, [[], ['park'], TOPICS, TOPICS, []]);
  assert.deepEqual([plan.order, plan.price.credits, plan.cellsCached], [[1, 2, 3], 5, 1]);
  assert.deepEqual(plan.rejected, { cells: 1, rows: 2 });
  assert.deepEqual([...plan.hadNoData], [[2, topicSet(['hail'])]]);
  assert.deepEqual([plan.fields.isComplete(0), plan.fields.isComplete(1)], [true, false]);
  const widths = TOPICS.map((topic) => columnsOf(topic).length);
  assert.deepEqual(
    plan.asked[0]!.map(({ fields }) => fields),
    widths,
  );
  assert.deepEqual([plan.areas, plan.beyondLimit], [null, 0]);
  const { origin } = await planOf({ options: { origin: undefined } as unknown as PlanOptions });
  assert.equal(origin, null, 'a service says no origin');
  const bare = await planOf({ rows, stored, options: { fieldsOf: NO_FIELDS } });
  assert.deepEqual(
    [bare.fields.tables[0]!.width, bare.asked[0]!.map(({ fields }) => fields)],
    [0, [0, 0]],
  );
});

test('a plan counts the rows that have an answer after its run: those of the store, and those that it buys', async () => {
  const rows = [0, 1, 1, 2];
  const scene: Scene = { rows, stored: { 0: { answered: ['hail'] } } };
  const afterRun = async (budget: number, isLocal = false) =>
    rowsWithAnswers(await planOf({ ...scene, settings: { budget } }), isLocal);
  assert.deepEqual(
    [await afterRun(0), await afterRun(2), await afterRun(100), await afterRun(0, true)],
    [1, 1, 4, 4],
  );
});

test('a temporary folder that is full is told once', async () => {
  const { notices } = await planOf({ diskProblems: ['ENOSPC', 'ENOSPC'] });
  assert.deepEqual([notices.length, /no room .*\(ENOSPC\)/.test(notices[0]!)], [1, true]);
});

test('lost answers are told before they are bought again, but for those of sample data, which cost nothing', async () => {
  const told = async (sample: boolean) => {
    const connection = { kind: 'service', sample, keys: [] } as unknown as RunContext['connection'];
    return (await planOf({ creditsLost: 15, context: { connection } })).notices;
  };
  assert.match((await told(false)).join(), /15 credits were charged: they were pruned or lost/);
  assert.deepEqual(await told(true), []);
});

test('a batch of a run that goes on does not buy again what failed in it: it may have been charged', async () => {
  const stored = { 0: { failed: ['hail'] }, 1: { failed: TOPICS } } as const;
  const first = await planOf({ stored, rows: [0, 1] });
  assert.deepEqual([first.lacks, first.price.credits], [[TOPICS, TOPICS], 4]);
  const next = await planOf({ stored, rows: [0, 1], context: { isContinued: true } });
  assert.deepEqual([next.lacks, next.order, next.price.credits], [[['park'], []], [0], 1]);
});

test('credits are spent on the most valuable cells first, or on the least; equal ones in the order of the file', async () => {
  const orderBy = async (order_by?: JobFile['order_by']) =>
    (await planOf({ values: [5, 9, 5, 7], ...(order_by ? { settings: { order_by } } : {}) })).order;
  assert.deepEqual(await orderBy(), [1, 3, 0, 2]);
  assert.deepEqual(await orderBy({ column: 'premium' }), [1, 3, 0, 2]);
  assert.deepEqual(await orderBy({ column: 'premium', direction: 'asc' }), [0, 2, 3, 1]);
  assert.deepEqual(await orderBy('file'), [0, 1, 2, 3]);
});

test('a limit counts located rows: cells beyond it are neither bought nor priced', async () => {
  const rows = [0, null, 1, 0, 2, 3];
  const limited = async (limit: number, stored: Scene['stored'] = {}) => {
    const settings = { order_by: 'file' } as const;
    const { order, beyondLimit, price, cellsCached } = await planOf({
      rows,
      limit,
      stored,
      settings,
    });
    return [order, beyondLimit, price.credits, cellsCached];
  };
  assert.deepEqual(await limited(1), [[0], 3, 2, 0]);
  assert.deepEqual(await limited(2), [[0, 1], 2, 4, 0]);
  assert.deepEqual(await limited(3), [[0, 1], 2, 4, 0]);
  assert.deepEqual(await limited(4), [[0, 1, 2], 1, 6, 0]);
  assert.deepEqual(await limited(5), [[0, 1, 2, 3], 0, 8, 0]);
  assert.deepEqual(await limited(6), [[0, 1, 2, 3], 0, 8, 0]);
  assert.deepEqual(await limited(2, { 0: 'complete', 3: 'complete' }), [[1], 1, 2, 2]);
});

test('a run may spend its budget, or the price with its retries; it buys what budget, quota and time allow', async () => {
  // 100 credits of the month are left; each of four cells costs 15, and 15 retries at most.
  const topics = ['natural'];
  const spend = async (scene: Scene) => {
    const plan = await planOf({ ...scene, settings: { topics, ...scene.settings } });
    const { bounds, reach, price } = plan;
    return {
      bounds,
      reach: reach.credits,
      price: price.credits,
      retries: price.retryCredits,
    };
  };
  const whole = { price: 64, retries: 68 };
  const bounds = { run: 132, quota: 100, time: Number.POSITIVE_INFINITY };
  assert.deepEqual(await spend({}), { ...whole, bounds, reach: 64 });
  assert.deepEqual(await spend({ settings: { budget: 40 } }), {
    ...whole,
    bounds: { ...bounds, run: 40 },
    reach: 32,
  });
  assert.deepEqual(await spend({ settings: { reserve: 80 } }), {
    ...whole,
    bounds: { ...bounds, quota: 20 },
    reach: 16,
  });
  assert.equal((await spend({ leftMs: 0 })).reach, 0);
  const perMinute = { subscription: { credits_per_month: 10_000, credits_per_minute: 16 } };
  const within = async (leftMs: number) =>
    (await spend({ leftMs, settings: perMinute })).bounds.time;
  assert.deepEqual(
    [await within(59_999), await within(60_000), await within(125_000)],
    [16, 32, 48],
  );
  const slow = await spend({ leftMs: 1, settings: { concurrency: 1 } });
  assert.deepEqual([slow.bounds.time < 16, slow.reach], [true, 0]);
});

test('each way to buy is weighed against the quota: what it costs beyond the allowance, and when it ends', async () => {
  // 100 credits of the allowance are left, and $12 buy 300 more.
  const { ways, bounds } = await planOf({
    settings: { topics: ['natural'], overages: { ceiling: 12 } },
  });
  assert.equal(bounds.quota, 400);
  const weighed = Object.entries(ways).map(([way, { price, calls, overageDollars, forecast }]) => [
    way,
    ...[price.credits, calls, overageDollars, forecast.fits],
  ]);
  assert.deepEqual(weighed, [
    ['planned', 64, 8, 0, true],
    ['cheapest', 64, 8, 0, true],
    ['fewest_calls', 140, 4, 1.6, true],
    ['standard', 60, 4, 0, true],
    ['enterprise', 140, 4, 1.6, true],
  ]);
  const small = await planOf({ settings: { topics: ['natural'], reserve: 50 } });
  assert.deepEqual(
    [small.ways.planned.forecast.fits, small.ways.planned.forecast.periods],
    [false, 2],
  );
});

test('with areas one cell is bought for its tract, and twenty to verify; local answers are free, so areas save none', async () => {
  const scene: Scene = {
    rows: Array.from({ length: 30 }, (_, row) => row),
    isOneTract: true,
    settings: { topics: ['hail'], areas: 'tract' },
  };
  const { order, price, areas, areaSavings } = await planOf(scene);
  const { saved, savedAt } = areaSavings!;
  assert.deepEqual([order.length, price.credits, saved, areas!.plan.spared], [21, 21, 9, 9]);
  const sparedCells = scene.rows!.filter((cell) => savedAt(cell!) !== 0);
  assert.deepEqual(
    [sparedCells.length, sparedCells.some((cell) => order.includes(cell!))],
    [9, false],
  );
  const values = scene.rows!.map((row) => row!);
  for (const [order_by, first] of [
    ['file', 0],
    [{ column: 'premium' }, 29],
  ] as const) {
    const ordered = await planOf({ ...scene, values, settings: { ...scene.settings, order_by } });
    assert.deepEqual(
      [[...ordered.areas!.plan.represents.keys()], ordered.price.credits],
      [[first], 21],
    );
    assert.ok(!ordered.areas!.plan.verifying.has(first), 'the first place answers for the tract');
  }
  const connection = {
    kind: 'local',
    sample: false,
    data: {},
  } as unknown as RunContext['connection'];
  assert.equal((await planOf({ ...scene, context: { connection } })).areas, null);
});

test('local data cost nothing, and all of it is read', async () => {
  const connection = {
    kind: 'local',
    sample: false,
    data: {},
  } as unknown as RunContext['connection'];
  const plan = await planOf({ settings: { service: 'local' }, context: { connection } });
  const { price, bounds, account, reach, order } = plan;
  assert.deepEqual(
    [price.credits, bounds.run, account, bounds.quota, reach.cells, order.length],
    [0, 0, null, 0, 4, 4],
  );
});
