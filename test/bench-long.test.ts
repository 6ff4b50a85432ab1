import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { goalTable } from '../bench/table.ts';
import { times } from './tier.ts';

const FOLDER = join(import.meta.dirname, '../bench');

test('the goals are in one table, which says of each whether it is met', () => {
  const text = goalTable([
    ['warm', { what: 'time', measured: 0.704, unit: 'of DuckDB', atMost: 0.7 }],
    ['bodies', { what: 'answers', measured: 40, unit: 'answers/s', atLeast: 40 }],
  ]);
  assert.match(
    text,
    /^\| warm +\| +time \| +0\.7 \| +at most 0\.7 \| +of DuckDB \| falls short \|$/m,
  );
  assert.match(text, /^\| bodies +\| +answers \| +40 \| +at least 40 \| +answers\/s \| +met \|$/m);
});

const measuring = globSync('*.ts', { cwd: FOLDER })
  .filter((file) =>
    /^export (async )?function run\(/m.test(readFileSync(join(FOLDER, file), 'utf8')),
  )
  .map((file) => file.replace('.ts', ''));

/** Those that take a second or two of processor time. All take half a minute: the soak runs them. */
const SHORTEST = ['areas', 'coverage', 'layouts'];
const tried = times({ long: 0, soak: 1 }) > 0 ? measuring : SHORTEST;

test('the benchmarks run, at a tiny size, and print their tables', {
  timeout: 900_000,
}, async (t) => {
  const args = [join(FOLDER, 'main.ts'), '--tiny', ...tried];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  assert.equal(stderr, '');
  const [report, goals] = stdout.split(/^# Goals$/m) as [string, string];
  assert.match(goals, /^\| benchmark +\| +figure \| .*\| +result \|$/m);
  const sections = report.split(/^## /m).slice(1);
  assert.deepEqual(sections.map((section) => /^\w+/.exec(section)![0]).sort(), tried.toSorted());
  for (const section of sections) {
    t.diagnostic(section.trimEnd().split('\n').at(-1)!);
    assert.match(section, /^\| .* \|\n\| -+ \|[-: |]+\|\n\| .*\d.* \|$/m);
  }
});

test('the memory of a measured process is its own, not that of the process that started it', () => {
  const held = Buffer.alloc(300 * 2 ** 20, 1);
  const program = `import { peakMegabytes } from ${JSON.stringify(join(FOLDER, 'peak-memory.ts'))}; console.log(peakMegabytes())`;
  const told = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  const megabytes = Number(told);
  assert.ok(megabytes > 20 && megabytes < held.length / 2 ** 20, told);
});
