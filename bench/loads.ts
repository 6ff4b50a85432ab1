/**
 * The memory of `perilbook data load tri` for files of growing size: held in memory, the facilities of 300 MB took 2.15 GB. BENCH_MB
 * chooses the sizes.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/base/clock.ts';
import { loadFiles } from '../src/data/loaders/load-files.ts';
import { openDataDatabase } from '../src/data/tables/data-database.ts';
import { FLAGS } from './own-process.ts';
import { peakMegabytes } from './peak-memory.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';

/** What a load may take, whatever the size of the file. */
const LIMIT_MB = 500;
/** Measures a load of each size in a process of its own. */
export async function run(): Promise<Goal[]> {
  const sizes = (process.env.BENCH_MB ?? sized('60,300', '1')).split(',').map(Number);
  const goals: Goal[] = [];
  const lines = sizes.map((size) => {
    const { rows, sites, seconds, megabytes } = measureLoad(size, FLAGS);
    goals.push({
      what: `${size} MB loaded, peak memory`,
      measured: megabytes,
      unit: 'MB',
      atMost: LIMIT_MB,
    });
    return [
      size,
      rows,
      sites,
      seconds.toFixed(0),
      megabytes.toFixed(0),
      (megabytes / LIMIT_MB).toFixed(2),
    ];
  });
  console.log(
    table(
      ['MB in', 'rows', 'facilities', 'seconds', 'peak MB', `of the limit (${LIMIT_MB})`],
      lines,
    ),
  );
  return goals;
}

export interface LoadMeasure {
  readonly rows: number;
  readonly sites: number;
  readonly seconds: number;
  /** The most memory that the process held. */
  readonly megabytes: number;
}

/** Loads a file of so many megabytes in a process that runs with these flags. */
export function measureLoad(size: number, flags: readonly string[]): LoadMeasure {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-loads-'));
  try {
    const file = join(folder, 'tri.csv');
    writeTri(file, size * 1e6);
    const told = execFileSync(process.execPath, [...flags, import.meta.filename, file], {
      encoding: 'utf8',
    });
    return JSON.parse(told) as LoadMeasure;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const NAMED = [
  'YEAR',
  'TRI_FACILITY_ID',
  'FACILITY_NAME',
  'STREET_ADDRESS',
  'ST',
  'LATITUDE',
  'LONGITUDE',
  'CHEMICAL',
];
/** The real file has 109 columns, of which some 60 are filled, and 650 bytes a row. */
const FIGURES = 101;
const ROWS_OF_A_FACILITY = 3;

/** A file in the form of the Toxics Release Inventory's basic data file: rows of one facility lie far apart. */
function writeTri(file: string, bytes: number): void {
  const descriptor = openSync(file, 'w');
  try {
    writeSync(
      descriptor,
      `${[...NAMED, ...Array.from({ length: FIGURES }, (_, i) => `8.${i}_FIGURE`)].join()}\n`,
    );
    const facilities = Math.ceil(bytes / 650 / ROWS_OF_A_FACILITY);
    for (let row = 0; row < facilities * ROWS_OF_A_FACILITY; row += 1_000) {
      const lines = Array.from(
        { length: Math.min(1_000, facilities * ROWS_OF_A_FACILITY - row) },
        (_, i) => triRow(row + i, (row + i) % facilities),
      );
      writeSync(descriptor, lines.join(''));
    }
  } finally {
    closeSync(descriptor);
  }
}

function triRow(row: number, facility: number): string {
  const named = [
    2024,
    `9${facility}SMPLE${facility}MAIN`,
    `FACILITY NUMBER ${facility}`,
    `${facility} MAIN ST`,
    'CA',
  ];
  const place = [
    (36 + (facility % 997) / 1_000).toFixed(4),
    (-119 - (facility % 991) / 1_000).toFixed(4),
  ];
  const figures = Array.from({ length: FIGURES }, (_, i) =>
    i % 2 === 0 ? '' : `${(row * (i + 7)) % 10_007}`,
  );
  return `${[...named, ...place, `CHEMICAL ${row % 613}`, ...figures].map((cell) => `"${cell}"`).join()}\n`;
}

/** In the process that is measured. */
if (process.argv[1] === import.meta.filename) {
  const file = process.argv[2]!;
  const database = openDataDatabase(join(file, '../data.db'));
  const begun = performance.now();
  const { rows, records } = await loadFiles(database, 'tri', [file], {}, systemClock);
  database.close();
  const megabytes = peakMegabytes();
  const seconds = (performance.now() - begun) / 1_000;
  console.log(JSON.stringify({ rows, sites: records, seconds, megabytes }));
}
