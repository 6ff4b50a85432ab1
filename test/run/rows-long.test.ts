import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { nameOfInput, resolveInput } from '../../src/job/input-setting.ts';
import type { JobFile } from '../../src/job/job-file.ts';
import { newProgress } from '../../src/run/frame/progress.ts';
import type { Store } from '../../src/store/port.ts';
import { madeParquet } from '../rows/parquet-fixture.ts';
import { column, type Harness, openHarness, places, type RunOptions } from './harness.ts';

/** A job over part files in `in/`, written to `out/`. */
async function openPartScene(t: TestContext) {
  // A clock 200 times as fast ends calls after 0.75 s, which a busy machine may take: they are paid for and sent again.
  const harness = await openHarness(t, { factor: 20 });
  const path = (...names: string[]) => join(harness.folder, ...names);
  return {
    ...harness,
    write(name: string, content: string | Buffer) {
      mkdirSync(dirname(path('in', name)), { recursive: true });
      writeFileSync(path('in', name), content);
    },
    /** Files and folders in `out/`, temporary files included. */
    outputs: () => readdirSync(path('out'), { recursive: true }).map(String).sort(),
    out: (name: string) => readFileSync(path('out', name), 'utf8'),
    runParts: (settings: JobFile = {}, runOptions: RunOptions = {}) =>
      harness.run({ input: 'in', output: 'out', topics: ['hail'], ...settings }, runOptions),
  };
}

/** A CSV text of the places from one number up to, not including, another. */
function partOf(from: number, to: number): string {
  const rows = places(to).slice(from);
  return `id,lat,lng\n${rows.map(([lat, lng], index) => `${from + index},${lat},${lng}\n`).join('')}`;
}

test('a place in two parts is bought once, and ten parts have the rows of one file', async (t) => {
  const scene = await openPartScene(t);
  const { folder } = scene;
  for (let part = 0; part < 10; part++)
    scene.write(`part-${part}.csv`, partOf(part * 4, part * 4 + 8));
  const progress = newProgress();
  const { summary, state } = await scene.runParts({}, { progress });
  assert.equal(state, 'complete');
  assert.deepEqual([summary.rows, summary.cells, scene.charged()], [80, 44, 44]);
  assert.deepEqual(summary.parts, { total: 10 });
  assert.deepEqual([progress.rows, summary.status.ok], [80, 80]);
  const names = Array.from({ length: 10 }, (_, part) => `part-${part}.csv`);
  assert.deepEqual(scene.outputs(), names);
  const rows = (text: string) => text.split('\n').slice(1);
  const whole = names.flatMap((name) =>
    rows(readFileSync(join(folder, 'in', name), 'utf8')).filter(Boolean),
  );
  writeFileSync(join(folder, 'whole.csv'), `id,lat,lng\n${whole.join('\n')}\n`);
  const one = await scene.run({ input: 'whole.csv', output: 'whole.out.csv', topics: ['hail'] });
  assert.equal(scene.charged(), 44);
  assert.equal(one.summary.parts, null);
  assert.deepEqual(one.summary.status, summary.status);
  const written = names.flatMap((name) => rows(scene.out(name)).filter(Boolean));
  assert.deepEqual(
    written,
    rows(readFileSync(join(folder, 'whole.out.csv'), 'utf8')).filter(Boolean),
  );
  for (const name of names)
    assert.equal(scene.out(name).split('\n')[0], scene.out('part-0.csv').split('\n')[0]);
});

test('threads read and write the same bytes as this one, of parts that are written in several ways', async (t) => {
  const scene = await openPartScene(t);
  const rows = (count: number) => {
    const all = places(40).concat(...Array(count).fill(places(20)));
    return partOf(0, 1) + all.map((place) => `7,${place}`).join('\n');
  };
  scene.write('a.csv', `${rows(60)}\n1,n/a,\n`);
  scene.write('b.csv', '');
  scene.write('c.csv', rows(30).replaceAll(',', ';'));
  scene.write('d.csv', partOf(0, 3));
  const here = await scene.runParts({ output: 'here' }, { rowThreads: 0 });
  const progress = newProgress();
  const { summary } = await scene.runParts({ output: 'threads' }, { rowThreads: 2, progress });
  assert.deepEqual([progress.rows, summary.parts], [summary.rows, { total: 4 }]);
  assert.deepEqual(
    [summary.findings, summary.status],
    [here.summary.findings, here.summary.status],
  );
  for (const name of ['a.csv', 'b.csv', 'c.csv', 'd.csv']) {
    const [here, threads] = ['here', 'threads'].map((one) =>
      readFileSync(join(scene.folder, one, name)),
    );
    assert.deepEqual(threads, here, name);
  }
  assert.equal(scene.charged(), 40);
});

test('every part is written again, as the inputs, the answers and the columns are now', async (t) => {
  const scene = await openPartScene(t);
  for (const name of ['a.csv', 'b.csv', 'deep/c.csv']) scene.write(name, partOf(0, 3));
  await scene.runParts();
  scene.write('b.csv', partOf(0, 4));
  rmSync(join(scene.folder, 'out/deep/c.csv'));
  writeFileSync(join(scene.folder, 'out/a.csv'), 'edited by hand\n');
  await scene.runParts();
  for (const [name, rows] of Object.entries({ 'a.csv': 3, 'b.csv': 4, 'deep/c.csv': 3 })) {
    assert.deepEqual(column(scene.out(name), 'hazard_status'), Array(rows).fill('ok'), name);
  }
  assert.deepEqual([scene.charged(), scene.notices], [4, []]);
  // A year later every answer is stale, bought anew, and in every part.
  scene.clock.moveTo('2027-06-15T12:00:00Z');
  rmSync(join(scene.folder, 'in/b.csv'));
  await scene.runParts({ prefix: 'x_' });
  assert.match(column(scene.out('a.csv'), 'x_hazard_as_of')[0]!, /^2027-/);
});

test('part files without a header or any rows are written again by a later run, also after one that was killed', async (t) => {
  const scene = await openPartScene(t);
  scene.write('a.csv', partOf(0, 2).replace(/^.*\n/, ''));
  scene.write('b.csv.gz', gzipSync(''));
  const settings = { header: false, location: { lat: '2', lng: '3' } };
  // A run that ends before the store knows: as if it had been killed.
  const finishRun: Store['finishRun'] = async () => assert.fail('killed');
  await assert.rejects(
    scene.runParts(settings, { store: { ...scene.store, finishRun } }),
    /killed/,
  );
  assert.deepEqual(scene.outputs(), ['a.csv', 'b.csv.gz']);
  for (let again = 0; again < 2; again++)
    assert.equal((await scene.runParts(settings)).state, 'complete');
  // In another folder, files like these are not known.
  mkdirSync(join(scene.folder, 'other'));
  writeFileSync(join(scene.folder, 'other/a.csv'), '1,2,3\n');
  await assert.rejects(scene.runParts({ ...settings, output: 'other' }), { code: 'OUTPUT_EXISTS' });
});

test('a part that cannot be written ends the run: the others are whole or untouched', async (t) => {
  for (const rowThreads of [0, 2]) {
    const scene = await openPartScene(t);
    for (const name of ['a.csv', 'b.csv']) scene.write(name, partOf(0, 2));
    // After the scan and before the parts are written.
    const startRun: Store['startRun'] = (...given) => {
      utimesSync(join(scene.folder, 'in/b.csv'), 1, 1);
      return scene.store.startRun(...given);
    };
    await assert.rejects(scene.runParts({}, { rowThreads, store: { ...scene.store, startRun } }), {
      ...{ code: 'INPUT_UNREADABLE', message: /in\/b\.csv has changed since it was listed/ },
    });
    assert.ok(scene.outputs().every((name) => name === 'a.csv'));
    assert.equal((await scene.runParts({}, { rowThreads })).state, 'complete');
    assert.equal(scene.charged(), 2);
  }
});

test('names, compression and hidden files: what goes in comes out, and nothing else', async (t) => {
  const scene = await openPartScene(t);
  scene.write('year=2024/part-0.csv.gz', gzipSync(partOf(0, 2)));
  scene.write('year=2025/part-0.csv.gz', gzipSync(partOf(1, 3)));
  scene.write('year=2025/_SUCCESS', '');
  scene.write('year=2025/.part-0.csv.gz.crc', 'crc');
  scene.write('empty.csv', '');
  await scene.runParts();
  assert.deepEqual(scene.outputs(), [
    ...[
      'empty.csv',
      'year=2024',
      'year=2024/part-0.csv.gz',
      'year=2025',
      'year=2025/part-0.csv.gz',
    ],
  ]);
  const text = gunzipSync(
    readFileSync(join(scene.folder, 'out/year=2025/part-0.csv.gz')),
  ).toString();
  assert.deepEqual(column(text, 'id'), ['1', '2']);
  assert.equal(scene.charged(), 3);
  // A second run over the output, as a job of its own, keeps one set of columns.
  await scene.runParts({ input: 'out', output: 'again' });
  const again = readdirSync(join(scene.folder, 'again'), { recursive: true });
  assert.equal(again.length, 5);
  const twice = gunzipSync(
    readFileSync(join(scene.folder, 'again/year=2025/part-0.csv.gz')),
  ).toString();
  assert.equal(twice, text);
});

test('an output that a link leads into the input is refused before anything is bought', async (t) => {
  const scene = await openPartScene(t);
  scene.write('a.csv', partOf(0, 2));
  symlinkSync(join(scene.folder, 'in'), join(scene.folder, 'link'));
  const refused = { code: 'OUTPUT_UNWRITABLE', message: /lies inside the input folder/ };
  await assert.rejects(scene.runParts({ output: 'link/out' }), refused);
  assert.deepEqual([existsSync(join(scene.folder, 'in/out')), scene.charged()], [false, 0]);
});

test('one file is a part where its output is named as a folder; the default output is beside the input folder', async (t) => {
  const scene = await openPartScene(t);
  for (const name of ['a.csv', 'a[1].csv', 'deep/b.csv']) scene.write(name, partOf(0, 1));
  const of = (input: string | string[], output?: string) => {
    const { parts, ...paths } = resolveInput(input, output, scene.folder);
    const all = [paths.input, paths.output, parts?.folder ?? 'one file'];
    return [...all.map((path) => path.replace(scene.folder, '')), nameOfInput({ parts, ...paths })];
  };
  assert.deepEqual(of('in/a.csv'), ['/in/a.csv', '/in/a.hazards.csv', 'one file', 'a']);
  assert.deepEqual(of(['in/a.csv'], 'x.csv'), ['/in/a.csv', '/x.csv', 'one file', 'a']);
  assert.deepEqual(of('in/a[1].csv', 'x.csv'), ['/in/a[1].csv', '/x.csv', 'one file', 'a[1]']);
  assert.deepEqual(of('in/a.csv', 'x/'), ['/in/a.csv', '/x', '/in', 'in']);
  assert.deepEqual(of('in/', 'y.csv/').slice(1), ['/y.csv', '/in', 'in']);
  assert.throws(() => of('in/', 'x.csv'), {
    code: 'USAGE',
    message: /^x\.csv is the name of a file/,
  });
  mkdirSync(join(scene.folder, 'x.csv'));
  assert.equal(of('in/', 'x.csv')[1], '/x.csv');
  assert.deepEqual(of('in/'), ['/in', '/in.hazards', '/in', 'in']);
  assert.deepEqual(of('in/*.csv'), ['/in/*.csv', '/in.hazards', '/in', 'in']);
  assert.deepEqual(of(['in/deep/b.csv', 'in/a.csv']), ['/in', '/in.hazards', '/in', 'in']);
  assert.deepEqual(of(['in/deep/*', 'in/deep/b.csv']), [
    '/in/deep',
    '/in/deep.hazards',
    '/in/deep',
    'deep',
  ]);
  assert.throws(() => resolveInput(['/x/a.csv', '/y/b.csv'], undefined, '/'), {
    code: 'USAGE',
    message: 'Missing output folder',
  });
});

const ROWS = 6_000;

/** Rows of every kind, with fields that hold line ends: 1.5 MB, three segments. */
function messyRows(): string {
  const known = places(30);
  const filler = `"line one\nline ""two""\r\n${'x'.repeat(200)}"`;
  const rows = Array.from({ length: ROWS }, (_, index) => {
    const [north, lng] = known[(index * 7919) % known.length]!;
    // Five locations of one place, which is told from others by its fourth decimal.
    const lat = (north + 0.0003 + (index % 5) * 0.00001).toFixed(5);
    if (index % 997 === 0) return `${index},n/a,${lng},${filler},1`;
    if (index % 499 === 0) return `${index},48.${index % 7},2.35,,12`;
    if (index % 2_003 === 0) return `${index},${lat}`;
    // Without its value alone.
    if (index % 1_009 === 0) return `${index},${lat},${lng}${index % 2 === 0 ? '' : ',,'}`;
    if (index % 501 === 0) return `${index},${lat},${lng},${filler},many`;
    return `${index},${lat},${lng},${filler},${index % 9}.25`;
  });
  return `id,lat,lng,text,tiv\n${rows.join('\n')}`;
}

/** Runs a job by this thread alone, and with another: the figures and the bytes are the same. */
async function ranBoth(harness: Harness, what: string, settings: JobFile) {
  const job: JobFile = {
    input: 'messy.csv',
    output: 'output.csv',
    topics: ['hail', 'tornado'],
    ...settings,
  };
  const outcome = async (rowThreads: number) => {
    const { summary } = await harness.run(job, { rowThreads });
    const { rows, located, invalid, outside_us, findings, columns, status, credits_spent } =
      summary;
    const figures = {
      rows,
      located,
      invalid,
      outside_us,
      findings,
      columns,
      status,
      credits_spent,
    };
    return { figures, output: readFileSync(join(harness.folder, job.output!), 'latin1') };
  };
  const [one, two] = [await outcome(0), await outcome(1)];
  assert.deepEqual(two.figures, one.figures, what);
  assert.ok(two.output === one.output, `${what}: the same bytes`);
  return two;
}

test('threads read and write the same rows, findings and sums as one thread does', async (t) => {
  const harness = await openHarness(t);
  writeFileSync(join(harness.folder, 'messy.csv'), messyRows());
  const settings: JobFile = { order_by: 'tiv' };
  const bought = await harness.run(
    { input: 'messy.csv', topics: ['hail', 'tornado'], ...settings },
    { rowThreads: 1 },
  );
  assert.equal(bought.summary.credits_spent, harness.charged());
  const { figures, output } = await ranBoth(harness, 'with values', settings);
  assert.deepEqual([figures.rows, figures.credits_spent], [ROWS, 0]);
  await ranBoth(harness, 'without values, degrees are read as numbers', {});
  // Its own columns are dropped, and its values are compared with the store.
  writeFileSync(join(harness.folder, 'messy.csv'), output);
  await ranBoth(harness, 'an output is an input again', settings);
});

test('threads read and write the same row groups as one thread does', async (t) => {
  const harness = await openHarness(t);
  const known = places(30);
  const list = (axis: 0 | 1) => `[${known.map((place) => place[axis]).join()}]`;
  const lat = `CASE WHEN i % 997 = 0 THEN NULL WHEN i % 991 = 0 THEN 'nan'::DOUBLE WHEN i % 983 = 0 THEN 1e-9
    WHEN i % 977 = 0 THEN 4000 WHEN i % 971 = 0 THEN 48.85 ELSE ${list(0)}[1 + i % 30] + 0.0003 + (i % 5) * 0.00001 END`;
  for (const type of ['DOUBLE', 'VARCHAR']) {
    // Too large for an amount. Threads read whole numbers as doubles: above 2^53 the example in a note may be one off.
    const query = `SELECT i AS id, (${lat})::${type} AS lat, (${list(1)}[1 + i % 30])::${type} AS lng,
      CASE WHEN i % 887 = 0 THEN NULL WHEN i % 883 = 0 THEN -5 WHEN i % 881 = 0 THEN 2000000000000000 ELSE i END AS tiv FROM range(0, ${ROWS}) r(i)`;
    await madeParquet(query, join(harness.folder, 'messy.parquet'), 'row_group_size 2048');
    const settings: JobFile = { input: 'messy.parquet', output: 'output.parquet' };
    await harness.run({ ...settings, topics: ['hail', 'tornado'] });
    const { figures } = await ranBoth(harness, type, settings);
    assert.equal(figures.rows, ROWS);
    assert.ok(figures.invalid > 15 && figures.located > 5_900);
  }
});

test('a plan refuses more rows than a sheet of Excel has room for', async (t) => {
  const harness = await openHarness(t);
  const planOf = (count: number) => {
    writeFileSync(join(harness.folder, 'in.csv'), `lat,lng\n${'1,\n'.repeat(count)}`);
    return harness.plan({ topics: ['hail'], input: 'in.csv', output: 'out.xlsx' });
  };
  await assert.rejects(planOf(2 ** 20), {
    code: 'OUTPUT_UNWRITABLE',
    context: { file: join(harness.folder, 'out.xlsx') },
  });
  assert.equal((await planOf(2 ** 20 - 1)).rows, 2 ** 20 - 1);
});
