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
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { nameOfInput, resolveInput } from '../../../src/job/input-setting.ts';
import { newProgress } from '../../../src/run/progress.ts';
import type { Store } from '../../../src/store/port.ts';
import { column, places } from '../harness.ts';
import { openPartScene, partOf } from './part-scene.ts';

test('a place in two parts is bought once, and ten parts have the rows of one file', async (t) => {
  const scene = await openPartScene(t);
  const { folder } = scene;
  for (let part = 0; part < 10; part++) scene.write(`part-${part}.csv`, partOf(part * 4, part * 4 + 8));
  const progress = newProgress();
  const { summary, state } = await scene.runParts({}, { progress });
  assert.equal(state, 'complete');
  assert.deepEqual([summary.rows, summary.cells, scene.charged()], [80, 44, 44]);
  assert.deepEqual(summary.parts, { total: 10 });
  assert.deepEqual([progress.rows, summary.status.ok], [80, 80]);
  const names = Array.from({ length: 10 }, (_, part) => `part-${part}.csv`);
  assert.deepEqual(scene.outputs(), names);
  const rows = (text: string) => text.split('\n').slice(1);
  const whole = names.flatMap((name) => rows(readFileSync(join(folder, 'in', name), 'utf8')).filter(Boolean));
  writeFileSync(join(folder, 'whole.csv'), `id,lat,lng\n${whole.join('\n')}\n`);
  const one = await scene.run({ input: 'whole.csv', output: 'whole.out.csv', topics: ['hail'] });
  assert.equal(scene.charged(), 44);
  assert.equal(one.summary.parts, null);
  assert.deepEqual(one.summary.status, summary.status);
  const written = names.flatMap((name) => rows(scene.out(name)).filter(Boolean));
  assert.deepEqual(written, rows(readFileSync(join(folder, 'whole.out.csv'), 'utf8')).filter(Boolean));
  for (const name of names) assert.equal(scene.out(name).split('\n')[0], scene.out('part-0.csv').split('\n')[0]);
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
  assert.deepEqual([summary.findings, summary.status], [here.summary.findings, here.summary.status]);
  for (const name of ['a.csv', 'b.csv', 'c.csv', 'd.csv']) {
    const [here, threads] = ['here', 'threads'].map((one) => readFileSync(join(scene.folder, one, name)));
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
  assert.match(
    scene.notices.at(-1)!,
    /out\/b\.csv belongs to no part of the input\. Delete it if you do not need it\.$/,
  );
});

test('part files without a header or any rows are written again by a later run, also after one that was killed', async (t) => {
  const scene = await openPartScene(t);
  scene.write('a.csv', partOf(0, 2).replace(/^.*\n/, ''));
  scene.write('b.csv.gz', gzipSync(''));
  const settings = { header: false, location: { lat: '2', lng: '3' } };
  // A run that ends before the store knows: as if it had been killed.
  const finishRun: Store['finishRun'] = async () => assert.fail('killed');
  await assert.rejects(scene.runParts(settings, { store: { ...scene.store, finishRun } }), /killed/);
  assert.deepEqual(scene.outputs(), ['a.csv', 'b.csv.gz']);
  for (let again = 0; again < 2; again++) assert.equal((await scene.runParts(settings)).state, 'complete');
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
    ...['empty.csv', 'year=2024', 'year=2024/part-0.csv.gz', 'year=2025', 'year=2025/part-0.csv.gz'],
  ]);
  const text = gunzipSync(readFileSync(join(scene.folder, 'out/year=2025/part-0.csv.gz'))).toString();
  assert.deepEqual(column(text, 'id'), ['1', '2']);
  assert.equal(scene.charged(), 3);
  // A second run over the output, as a job of its own, keeps one set of columns.
  await scene.runParts({ input: 'out', output: 'again' });
  const again = readdirSync(join(scene.folder, 'again'), { recursive: true });
  assert.equal(again.length, 5);
  const twice = gunzipSync(readFileSync(join(scene.folder, 'again/year=2025/part-0.csv.gz'))).toString();
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
  assert.throws(() => of('in/', 'x.csv'), { code: 'USAGE', message: /^x\.csv is the name of a file/ });
  mkdirSync(join(scene.folder, 'x.csv'));
  assert.equal(of('in/', 'x.csv')[1], '/x.csv');
  assert.deepEqual(of('in/'), ['/in', '/in.hazards', '/in', 'in']);
  assert.deepEqual(of('in/*.csv'), ['/in/*.csv', '/in.hazards', '/in', 'in']);
  assert.deepEqual(of(['in/deep/b.csv', 'in/a.csv']), ['/in', '/in.hazards', '/in', 'in']);
  assert.deepEqual(of(['in/deep/*', 'in/deep/b.csv']), ['/in/deep', '/in/deep.hazards', '/in/deep', 'deep']);
  assert.throws(() => resolveInput(['/x/a.csv', '/y/b.csv'], undefined, '/'), {
    code: 'USAGE',
    message: 'Missing output folder',
  });
});
