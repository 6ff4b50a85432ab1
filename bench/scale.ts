import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePortfolio } from './oed-portfolio.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';
import { filesIn, makeAnswers, measureApart } from './warm.ts';

/** What a run may take, whatever the size of the book. */
const LIMIT_MB = 350;

/**
 * The memory of a whole warm run (scan, plan, write) of CSV files of growing length over the same 200,000 places, each in a
 * process of its own, beside the limit. BENCH_ROWS=1000000,50000000 chooses the lengths; 50 million rows need 45 GB of disk.
 */
export async function run(): Promise<Goal[]> {
  const sizes = (process.env.BENCH_ROWS ?? sized('1000000,10000000', '1000,2000'))
    .split(',')
    .map(Number);
  const places = Number(process.env.BENCH_PLACES ?? sized(200_000, 400));
  const lines: (string | number)[][] = [];
  const goals: Goal[] = [];
  const compiled = mkdtempSync(join(tmpdir(), 'perilbook-compiled-'));
  for (const rows of sizes) {
    const folder = mkdtempSync(join(tmpdir(), 'perilbook-scale-'));
    try {
      const { input, output } = filesIn(folder, 'csv');
      await writePortfolio(input, { rows, places });
      const cells = await makeAnswers(folder);
      const { seconds, megabytes } = measureApart('perilbook', 'csv', folder, compiled);
      const size = (file: string) => (statSync(file).size / 1e6).toFixed(0);
      const ratio = (megabytes / LIMIT_MB).toFixed(2);
      const what = `${rows.toLocaleString('en-US')} rows, peak memory`;
      goals.push({ what, measured: megabytes, unit: 'MB', atMost: LIMIT_MB });
      const speed = Math.round(rows / seconds).toLocaleString('en-US');
      lines.push([
        rows.toLocaleString('en-US'),
        cells,
        size(input),
        size(output),
        speed,
        megabytes.toFixed(0),
        ratio,
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  rmSync(compiled, { recursive: true, force: true });
  console.log(
    table(
      [
        'rows',
        'cells',
        'MB in',
        'MB out',
        'rows a second',
        'peak MB',
        `of the limit (${LIMIT_MB})`,
      ],
      lines,
    ),
  );
  return goals;
}
