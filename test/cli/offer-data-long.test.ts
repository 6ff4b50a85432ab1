import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { parse } from 'csv-parse/sync';
import { readJob } from '../../src/cli/frame/job-of-options.ts';
import { dataForPage } from '../../src/cli/frame/offer-data.ts';
import { MovedClock } from '../moved-clock.ts';
import { perilbook, type SetupOptions } from './command-line.ts';
import { machineWithoutRadon } from './radon-mirror.ts';

const QUESTION = /Download about .*\? \[y\/N\]/;

/** A book with columns of other names, on a machine that lacks the data of one of its topics. */
async function scene(t: TestContext) {
  const clock = new MovedClock('2027-03-15T12:00:00Z');
  const { folder, mirror } = await machineWithoutRadon(t, clock.now());
  writeFileSync(join(folder, 'book.csv'), 'north,east\n34.0522,-118.2437\n41.8781,-87.6298\n');
  const columns = ['--lat', 'north', '--lng', 'east'];
  return {
    ...{ folder, mirror },
    run: (args: readonly string[], options: SetupOptions = {}) =>
      perilbook(['run', 'book.csv', '--topics', 'hail,radon', ...columns, ...args], {
        ...{ folder, clock, env: { XDG_DATA_HOME: folder }, columns: 100 },
        ...options,
      }),
    zones: () =>
      (
        parse(readFileSync(join(folder, 'book.hazards.csv')), { columns: true }) as Record<
          string,
          string
        >[]
      ).map(({ radon_zone }) => radon_zone),
  };
}

test('a run on a terminal fetches the data that its topics lack after a yes, and answers from it', async (t) => {
  const { mirror, run, zones } = await scene(t);
  const ran = await run([], { typed: 'y\r' });
  assert.match(ran.stderr, QUESTION);
  assert.match(
    ran.stderr,
    /States: .*CA.*IL[\s\S]*\n *radon +about 200\.0 kB[\s\S]*Licence of .*radon/,
  );
  assert.match(ran.stderr, /radon: loaded 2 records/);
  assert.deepEqual(zones(), ['Zone 2', 'Zone 2'], ran.stderr);
  const requests = mirror.requests.length;
  assert.doesNotMatch((await run([], { typed: 'y\r' })).stderr, QUESTION);
  assert.equal(mirror.requests.length, requests);
});

test('a no leaves the run as it was; without a terminal, and with --yes or --quiet, nothing is asked or fetched', async (t) => {
  const { folder, mirror, run, zones } = await scene(t);
  const plain = await run([]);
  assert.doesNotMatch(plain.stderr, QUESTION);
  const without = zones();
  const refused = await run([], { typed: 'n\r' });
  assert.match(refused.stderr, QUESTION);
  assert.match(refused.stderr, /Nothing was downloaded/);
  assert.deepEqual([refused.code, zones()], [plain.code, without]);
  for (const option of ['--yes', '--quiet']) {
    const { code, stderr } = await run([option], { typed: 'y\r' });
    assert.doesNotMatch(stderr, QUESTION);
    assert.equal(code, plain.code);
  }
  // No location of it is in a state.
  writeFileSync(join(folder, 'book.csv'), 'north,east\n48.9,2.3\n');
  const abroad = await run([], { typed: 'y\r' });
  assert.doesNotMatch(abroad.stderr, QUESTION);
  assert.match(abroad.stderr, /Written: .*1 row/);
  assert.equal(mirror.requests.length, 0);
});

test('a run on a terminal whose input is a pipe asks nothing, and reads all of its rows', {
  timeout: 60_000,
}, async (t) => {
  const { folder, run, zones } = await scene(t);
  const pipe = join(folder, 'book.csv');
  rmSync(pipe);
  execFileSync('mkfifo', [pipe]);
  const writer = spawn('sh', ['-c', 'printf "north,east\\n34.0522,-118.2437\\n" > "$0"', pipe]);
  t.after(() => writer.kill());
  const { stderr } = await run([], { typed: 'n\r' });
  assert.doesNotMatch(stderr, QUESTION);
  assert.equal(zones().length, 1, stderr);
});

test('the page gets all that a download prints, also beyond the 64 KB that a stream buffers', async (t) => {
  const { folder } = await scene(t);
  const others = "NOT IN ('areas', 'nri')";
  const data = new Database(join(folder, 'perilbook/data.db'));
  data
    .exec(`DELETE FROM parts WHERE dataset ${others}; DELETE FROM datasets WHERE name ${others}`)
    .close();
  const licence = `${'word '.repeat(20_000)}end of the licence`;
  appendFileSync(
    join(folder, 'perilbook/sources.yaml'),
    `sources: { radon: { licence: ${licence} } }\n`,
  );
  const streams = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
  };
  const context = {
    ...{
      ...streams,
      args: [],
      env: { XDG_DATA_HOME: folder },
      workingFolder: folder,
      version: '0.0.0',
    },
    ...{
      clock: new MovedClock('2027-03-15T12:00:00Z'),
      random: Math.random,
      interrupt: new AbortController().signal,
    },
    owner: { name: 'test', isAlive: () => true },
  };
  const job = readJob(context, ['book.csv'], {
    topics: 'powerPlant,park,radon',
    lat: 'north',
    lng: 'east',
  });
  const printed = await dataForPage(context, job, true);
  assert.match(printed!, /end of the licence[\s\S]*\nradon: loaded 2 records/);
  assert.match(printed!, /end of the licence[\s\S]*\n(?:error|warning): parks: .*404/);
});
