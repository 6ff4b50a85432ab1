import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import stringWidth from 'string-width';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LONG } from '../tier.ts';
import { perilbook } from './command-line.ts';

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
