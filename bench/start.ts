/**
 * Seconds from the start of the process to its end, of the built package and of the first `npm start` of a checkout, with the goal of each.
 * `node -e 0` is the limit: what Node itself takes.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';

const ROOT = join(import.meta.dirname, '..');
const ROWS = sized(1_000, 10);
const ROUNDS = sized(3, 1);
const isTiny = sized(false, true);

interface Start {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Seconds; null for the limit. */
  readonly goal: number | null;
  /** Deleted before each round. */
  readonly fresh?: readonly string[];
}

/** Prints the median of three rounds. */
export function run(): Goal[] {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-start-'));
  try {
    const main = makePackage(folder);
    writeFileSync(join(folder, 'portfolio.csv'), portfolio());
    const start = ['npm', 'start', '--silent'] as const;
    const starts: Start[] = [
      { name: 'node -e 0', command: [process.execPath, '-e', '0'], goal: null },
      { name: 'perilbook --version', command: [process.execPath, main, '--version'], goal: 0.15 },
      { name: 'perilbook help', command: [process.execPath, main, 'help'], goal: 0.15 },
      {
        name: `perilbook plan, ${ROWS.toLocaleString('en-US')} rows`,
        command: [
          process.execPath,
          main,
          'plan',
          'portfolio.csv',
          '--topics',
          'natural',
          '--service',
          'sample',
        ],
        goal: 0.4,
      },
    ];
    if (!isTiny) {
      starts.push(
        { name: 'first npm start', command: start, goal: 3, fresh: ['.perilbook', 'cache'] },
        { name: 'next npm start', command: start, goal: 3 },
      );
    }
    const measured = starts.map((one) => ({ ...one, seconds: median(folder, one) }));
    const rows = measured.map(({ name, seconds }) => [name, seconds.toFixed(2)]);
    console.log(table(['', 'seconds'], rows));
    return measured.flatMap(({ name, seconds, goal }) =>
      goal === null ? [] : [{ what: name, measured: seconds, unit: 's', atMost: goal }],
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Puts the checkout and its package into a folder; returns what starts the package. A tiny run does not build: it starts the source. */
function makePackage(folder: string): string {
  for (const name of ['bin', 'src', 'jobs', 'sample-data', 'package.json', 'build.ts']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  if (isTiny) return join(folder, 'bin/perilbook.cjs');
  cpSync(join(ROOT, 'tsconfig.json'), join(folder, 'tsconfig.json'));
  cpSync(join(ROOT, 'tsconfig.build.json'), join(folder, 'tsconfig.build.json'));
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder, stdio: 'inherit' });
  // The bin prefers the source of a checkout.
  const built = join(folder, 'package');
  for (const name of ['bin', 'dist', 'jobs', 'sample-data', 'package.json']) {
    cpSync(join(folder, name), join(built, name), { recursive: true });
  }
  return join(built, 'bin/perilbook.cjs');
}

function median(folder: string, { command: [program, ...args], fresh = [] }: Start): number {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const seconds = Array.from({ length: ROUNDS }, () => {
    for (const name of fresh) rmSync(join(folder, name), { recursive: true, force: true });
    const begun = performance.now();
    execFileSync(program, args, {
      cwd: folder,
      env: { ...env, XDG_CACHE_HOME: join(folder, 'cache'), XDG_DATA_HOME: join(folder, 'data') },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return (performance.now() - begun) / 1_000;
  });
  return seconds.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
}

/** Places on a grid inland. */
function portfolio(): string {
  const lines = Array.from(
    { length: ROWS },
    (_, row) => `${row},${36 + (row % 50) / 10},${-100 + Math.floor(row / 50) / 10}`,
  );
  return `id,lat,lng\n${lines.join('\n')}\n`;
}
