/** `npm run pictures`: makes the pictures of the README from a real run of the sample portfolio. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { program } from '../../src/cli/program.ts';
import { startBrowser } from '../browser.ts';
import { ROOT } from '../cli/command-line.ts';
import { FastClock } from '../fast-clock.ts';
import { provideSampleData } from '../sample-database.ts';
import { TerminalScreen } from './terminal-screen.ts';

const PICTURES = join(ROOT, 'docs/pictures');
const COLUMNS = 104;
const ROWS = 38;
const CLOCK_FACTOR = 60;
const ARGUMENTS = ['portfolio.csv', '-o', 'out.csv', '--topics', 'natural', '--service', 'sample'];

const clock = new FastClock('2026-11-20T12:00:00Z', CLOCK_FACTOR);
const folder = mkdtempSync(join(tmpdir(), 'perilbook-pictures-'));
const cleanups: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
try {
  copyFileSync(join(ROOT, 'sample-data/portfolio-oed.csv'), join(folder, 'portfolio.csv'));
  provideSampleData(join(folder, 'store.db'));
  mkdirSync(PICTURES, { recursive: true });
  const picture = await runInTerminal();
  writeFileSync(join(PICTURES, 'terminal.svg'), picture);
  await ran(['report', ...ARGUMENTS, '--report', 'report.html'], new PassThrough().resume());
  await pictureOfReport(join(folder, 'report.html'));
} finally {
  for (const cleanup of cleanups.toReversed()) await cleanup();
}

/** Runs a command as the bin would, in this process, on a terminal. */
async function ran(args: readonly string[], stderr: PassThrough): Promise<void> {
  const code = await program(
    {
      args,
      env: { LANG: 'en_US.UTF-8', FORCE_COLOR: '1', PERILBOOK_STORE: join(folder, 'store.db') },
      workingFolder: folder,
      stdin: new PassThrough().end(),
      stdout: new PassThrough().resume(),
      stderr: Object.assign(stderr, { isTTY: true, columns: COLUMNS, rows: ROWS }),
      clock,
      random: Math.random,
      interrupt: new AbortController().signal,
      owner: { name: `pictures/${process.pid}`, isAlive: () => true },
    },
    '1.0.0',
  );
  if (code !== 0) throw new Error(`perilbook ${args.join(' ')} ended with exit code ${code}`);
}

/** Runs, and returns a picture of the terminal at the end. */
async function runInTerminal(): Promise<string> {
  const args = ['run', ...ARGUMENTS];
  const screen = new TerminalScreen();
  const title = `perilbook ${args.join(' ')}`;
  screen.write(`$ ${title}\n`);
  const stderr = new PassThrough();
  stderr.on('data', (chunk: Buffer) => screen.write(chunk.toString()));
  await ran(args, stderr);
  return screen.svg(title, ROWS, COLUMNS);
}

async function pictureOfReport(file: string): Promise<void> {
  const browser = await startBrowser({
    after: (close: () => Promise<void>) => cleanups.push(close),
  });
  const page = await browser.newPage({
    viewport: { width: 1200, height: 860 },
    colorScheme: 'light',
  });
  await page.goto(pathToFileURL(file).href);
  // As PNG it takes 280 kB.
  await page.screenshot({ path: join(PICTURES, 'report.jpg'), quality: 85 });
}
