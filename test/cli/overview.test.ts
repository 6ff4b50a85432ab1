import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import stringWidth from 'string-width';
import { MovedClock } from '../moved-clock.ts';
import { provideLocalData, provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LONG } from '../tier.ts';
import { perilbook } from './command-line.ts';

test('perilbook alone says what it is, three first steps and what is on this machine; it makes no file', async (t) => {
  const folder = temporaryFolder(t);
  const { code, stdout, stderr } = await perilbook([], { folder, env: { XDG_DATA_HOME: folder } });
  assert.deepEqual([code, stderr, readdirSync(folder)], [0, '', []]);
  const [what, empty, ...rest] = stdout.split('\n');
  assert.match(what!, /^Perilbook adds hazard ratings to a file of US locations\b.*\.$/);
  assert.equal(empty, '');
  assert.match(
    rest.join('\n'),
    /^First steps:\n {2}try the sample +perilbook run .*\n {2}price your file +perilbook plan /,
  );
  assert.match(stdout, /\n {2}open the page +perilbook ui\n/);
  assert.match(stdout, /\n {2}data +none\. To get FEMA's ratings: perilbook data get natural --for FILE\n/);
  assert.match(stdout, /\n {2}last run +none\n {2}quota +no account was used yet\n/);
});

test('the first of the first steps can be copied', LONG, async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'perilbook/store.db'));
  const env = { XDG_DATA_HOME: folder };
  const { stdout } = await perilbook([], { folder, env });
  const [, command] = /try the sample +perilbook (.*)/.exec(stdout)!;
  // One topic costs a fifth of the time of 18.
  const ran = await perilbook(command!.replace('--topics natural', '--topics hail').split(' '), { folder, env });
  assert.equal(ran.code, 0, ran.stderr);
  assert.ok(existsSync(join(folder, 'sample.csv')));
});

test('the state of the machine is that of data, status and quota', LONG, async (t) => {
  const folder = temporaryFolder(t);
  const clock = new MovedClock('2027-03-15T12:00:00Z');
  const env = { XDG_DATA_HOME: folder };
  const run = (...args: string[]) => perilbook(args, { folder, env, clock });
  writeFileSync(join(folder, 'book.csv'), 'lat,lng\n34.0522,-118.2437\n41.8781,-87.6298\n');
  provideSampleData(join(folder, 'perilbook/store.db'));
  await run('run', 'book.csv', '-t', 'hail', '--service', 'sample', '--budget', '1');
  const paused = (await run()).stdout;
  assert.match(paused, /\n {2}last run +book, 2027-03-15 12:\d\d UTC: paused\n/);
  assert.match(paused, /\n {2}quota +sample account: 9,999 of 10,000 credits left, resets on 2027-04-01 00:00 UTC\n/);
  provideLocalData(folder, clock.now());
  await run('run', 'book.csv', '-t', 'hail');
  const local = (await run()).stdout;
  assert.match(local, /\n {2}data +37 topics, boundaries of 56 states and territories\n/);
  assert.match(local, /\n {2}last run +book, 2027-03-15 12:\d\d UTC: complete\n/);
});

test('files that are no store and no data are told, and are no failure', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'perilbook'));
  writeFileSync(join(folder, 'perilbook/store.db'), 'lat,lng\n'.repeat(1_000));
  writeFileSync(join(folder, 'perilbook/data.db'), 'lat,lng\n'.repeat(1_000));
  const { code, stdout } = await perilbook([], { folder, env: { XDG_DATA_HOME: folder } });
  assert.equal(code, 0);
  assert.match(stdout, /data +.*data\.db.*\n[\s\S]*last run +.*store\.db/);
  const away = await perilbook([], {
    folder,
    env: { XDG_DATA_HOME: join(folder, 'x'), PERILBOOK_STORE: 'postgres://me@127.0.0.1:1/none' },
  });
  assert.deepEqual([away.code, away.stderr], [0, '']);
  assert.match(away.stdout, /last run +in postgres:\/\/me@127\.0\.0\.1:1\/none: perilbook status\n/);
});

/** Lines that are too wide although they could have been broken at a space. */
const broken = (text: string, columns: number) =>
  text.split('\n').filter((line) => stringWidth(line) > columns && line.trim().includes(' '));

for (const columns of [60, 100]) {
  test(`no word is broken on a terminal of ${columns} columns: overview, help, topics, lists and hints`, async (t) => {
    const folder = temporaryFolder(t);
    const env = { XDG_DATA_HOME: folder };
    for (const words of [[], ['help'], ['data', '--help'], ['run', '--help'], ['topics'], ['data'], ['data', 'load']]) {
      const { stdout } = await perilbook(words, { folder, env, columns });
      assert.ok(stdout.length > 100);
      assert.deepEqual(broken(stdout, columns), [], words.join(' '));
    }
    for (const words of [
      ['plan', 'none.csv'],
      ['data', 'get'],
      ['data', 'load', 'wells'],
      ['cache', 'prune'],
    ]) {
      const { stderr } = await perilbook(words, { folder, env, columns });
      assert.match(stderr, /\[[A-Z_]+\]/);
      assert.deepEqual(broken(stderr, columns), [], words.join(' '));
    }
    const { stdout } = await perilbook(['topics'], { folder, env, columns });
    assert.match(stdout, /^slug +.*columns$/m);
    assert.match(stdout, /\n {20,}air_quality.*\n/, 'what is too long continues below its column');
  });
}
