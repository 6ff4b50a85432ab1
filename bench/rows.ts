import { execFileSync } from 'node:child_process';
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import type { Field } from '../src/contract/answer.ts';
import { listedPlaces } from '../src/formats/packed/output-places.ts';
import { openRowFile } from '../src/rows/open/open-row-file.ts';
import type { AddedColumn, PlacedFields } from '../src/rows/port.ts';
import { LATITUDE, LONGITUDE, writePortfolio } from './oed-portfolio.ts';
import { peakMegabytes } from './peak-memory.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';

/**
 * CSV in and out, beside its peer in the same run: node bench/rows.ts [rows] [places]
 * Each job runs in a process of its own, so that its peak memory is its own; the peer holds its arrays in a Map (some
 * 250 MB), which is no part of writing.
 */

const ROWS = sized(1_000_000, 2_000);
const PLACES = sized(200_000, 400);
const TOPICS = 18;
const RATINGS = [
  'Very Low',
  'Relatively Low',
  'Relatively Moderate',
  'Relatively High',
  'Very High',
];

const ADDED: readonly AddedColumn[] = [
  { name: 'hazard_status', type: 'text' },
  { name: 'hazard_note', type: 'text' },
  { name: 'hazard_as_of', type: 'time' },
  ...Array.from({ length: TOPICS }, (_, i): AddedColumn[] => [
    { name: `topic${i}_rating`, type: 'text' },
    { name: `topic${i}_score`, type: 'number' },
    { name: `topic${i}_frequency`, type: 'number' },
  ]).flat(),
];

function fieldsOf(place: number): Field[] {
  const fields: Field[] = ['ok', null, '2026-11-20T00:00:00.000Z'];
  for (let topic = 0; topic < TOPICS; topic++) {
    const score = (place * 31 + topic * 977) % 10_000;
    if (score % 17 === 0) fields.push(null, null, null);
    else fields.push(RATINGS[score % RATINGS.length]!, score / 100, (score * 7919) / 1e7);
  }
  return fields;
}

/** One array a place, shared by its rows. */
function sharedFields(): (key: string) => Field[] {
  const known = new Map<string, Field[]>();
  return (key) => {
    const fields = known.get(key) ?? fieldsOf(known.size);
    known.set(key, fields);
    return fields;
  };
}

const JOBS: Readonly<Record<string, (input: string, output: string) => Promise<void>>> = {
  'scan (two columns)': async (input) => {
    for await (const rows of (await openRowFile(input)).read([LATITUDE, LONGITUDE]))
      void rows.length;
  },
  'write, fields for each row': write,
  'write to .gz': (input, output) => write(input, `${output}.gz`),
  'write to .zst': (input, output) => write(input, `${output}.zst`),
  'csv-parse, Map, csv-stringify': peer,
};

/** Writes rows that each have fields of their own, as the kept columns of an earlier output are written. `warm` measures fields that rows
 * share by place. */
async function write(input: string, output: string): Promise<void> {
  const listed = listedPlaces(ADDED.length);
  let row = 0;
  const placed: PlacedFields = {
    async next(count) {
      listed.fill(Array.from({ length: count }, () => fieldsOf(row++)));
      return { numbers: Int32Array.from({ length: count }, (_, at) => at), places: listed.places };
    },
  };
  await (await openRowFile(input)).write({ output, dropFrom: null, added: ADDED, placed });
}

/** What one would write with the usual libraries; it does not keep the bytes of the original columns. */
async function peer(input: string, output: string): Promise<void> {
  const fields = sharedFields();
  let isHeader = true;
  const join = new Transform({
    objectMode: true,
    transform(record: string[], _encoding, done) {
      const added = isHeader
        ? ADDED.map(({ name }) => name)
        : fields(`${record[LATITUDE]},${record[LONGITUDE]}`);
      isHeader = false;
      done(null, [...record, ...added]);
    },
  });
  await pipeline(createReadStream(input), parse(), join, stringify(), createWriteStream(output));
}

async function runJob(name: string, input: string, output: string): Promise<void> {
  const start = performance.now();
  await JOBS[name]!(input, output);
  const seconds = (performance.now() - start) / 1000;
  console.log(JSON.stringify({ seconds, megabytes: peakMegabytes() }));
}

/** Runs every job, each in a process of its own. */
export async function run(rows = ROWS, places = PLACES): Promise<Goal[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-bench-'));
  try {
    const input = join(folder, 'portfolio.csv');
    await writePortfolio(input, { rows, places });
    const { size } = statSync(input);
    console.log(
      `${rows} rows at ${places} places, ${(size / 1e6).toFixed(0)} MB, ${ADDED.length} added columns\n`,
    );
    const lines: string[][] = [];
    for (const name of Object.keys(JOBS)) {
      const args = [import.meta.filename, name, input, join(folder, 'out.csv')];
      const { seconds, megabytes } = JSON.parse(
        execFileSync(process.execPath, args, { encoding: 'utf8' }),
      );
      const figures = [
        seconds.toFixed(2),
        (rows / seconds).toFixed(0),
        (size / 1e6 / seconds).toFixed(0),
      ];
      lines.push([name, ...figures, megabytes.toFixed(0)]);
    }
    console.log(table(['job', 'seconds', 'rows/s', 'MB/s', 'peak MB'], lines));
  } finally {
    rmSync(folder, { recursive: true });
  }
  return [];
}

if (process.argv[1] === import.meta.filename) {
  const [first, second, third] = process.argv.slice(2);
  if (first !== undefined && first in JOBS) await runJob(first, second!, third!);
  else await run(Number(first ?? ROWS), Number(second ?? PLACES));
}
