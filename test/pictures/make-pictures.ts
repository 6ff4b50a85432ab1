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
/** 1,040 credits at 300 a minute take three and a half minutes, here as many seconds. */
const CLOCK_FACTOR = 60;
const ARGUMENTS = ['portfolio.csv', '-o', 'out.csv', '--topics', 'natural', '--order-by', 'tiv'];
/** The share of the places at which the terminal is shown. */
const SHOWN_SHARE = 0.6;

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

/** Buys, and returns a picture of the terminal on the way. */
async function runInTerminal(): Promise<string> {
  const args = ['run', ...ARGUMENTS, '--yes'];
  const screen = new TerminalScreen();
  const title = `perilbook ${args.join(' ')}`;
  screen.write(`$ ${title}\n`);
  let picture: string | null = null;
  const stderr = new PassThrough();
  stderr.on('data', (chunk: Buffer) => {
    screen.write(chunk.toString());
    const [, done, all] = /\b(\d+) of (\d+) places/.exec(screen.text) ?? [];
    if (picture === null && Number(done) >= Number(all) * SHOWN_SHARE) picture = screen.svg(title, ROWS, COLUMNS);
  });
  await ran(args, stderr);
  if (picture === null) throw new Error(`The run was never shown at ${SHOWN_SHARE * 100} %:\n${screen.text}`);
  return picture;
}

async function pictureOfReport(file: string): Promise<void> {
  const browser = await startBrowser({ after: (close: () => Promise<void>) => cleanups.push(close) });
  const page = await browser.newPage({ viewport: { width: 1200, height: 860 }, colorScheme: 'light' });
  await page.goto(pathToFileURL(file).href);
  // As PNG it takes 280 kB.
  await page.screenshot({ path: join(PICTURES, 'report.jpg'), quality: 85 });
}
