import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { randomFrom } from '../random-from.ts';
import { times } from '../tier.ts';
import { temporaryFolder, writeRows } from './book-fixture.ts';
import { ALL_TYPES, alternating, madeParquet } from './parquet-fixture.ts';

const folder = temporaryFolder();
const golden = join(import.meta.dirname, 'golden-parquet');

/** The same numbers in every run. */
function seeded(seed: number): (below: number) => number {
  const random = randomFrom(seed);
  return (below) => Math.floor(random() * below);
}

/** Opens, reads and writes a file; the only allowed error is one that names the problem. */
async function digest(bytes: Buffer): Promise<'read' | 'refused'> {
  const [file, output] = [join(folder, 'fuzz.parquet'), join(folder, 'fuzz-out.parquet')];
  writeFileSync(file, bytes);
  try {
    const book = await openRowFile(file);
    // A row count may be damaged in such a way that it is merely large.
    let rows = 0;
    for await (const batch of book.read([...book.columns.keys()])) {
      rows += batch.length;
      if (rows > 100_000) return 'read';
    }
    await writeRows(book, { output, added: ALL_TYPES, fill: alternating });
    return 'read';
  } catch (error) {
    assert.ok(
      error instanceof PerilbookError,
      error instanceof Error ? error.stack : String(error),
    );
    assert.ok(
      ['INPUT_UNREADABLE', 'INPUT_COLUMNS'].includes(error.code),
      `${error.code} ${error.message}`,
    );
    return 'refused';
  }
}

/** How many of some files are read and how many refused, with some bytes changed in their footers or in their pages. */
async function digestFlipped(
  files: readonly Buffer[],
  part: 'footer' | 'pages',
  trials: number,
  seed: number,
) {
  const random = seeded(seed);
  const counts = { read: 0, refused: 0 };
  for (let i = 0; i < trials; i++) {
    const bytes = Buffer.from(files[i % files.length]!);
    const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
    const [from, to] = part === 'footer' ? [footer, bytes.length] : [4, footer];
    for (let changed = 1 + random(3); changed > 0; changed--)
      bytes[from + random(to - from)] = random(256);
    counts[await digest(bytes)]++;
  }
  return counts;
}

/** A file that DuckDB writes. */
async function fileOf(query: string, options?: string): Promise<Buffer> {
  const file = join(folder, 'made.parquet');
  await madeParquet(query, file, options);
  return readFileSync(file);
}

const FOOTERS = times({ long: 240, soak: 4_000 });
const PAGES = times({ long: 150, soak: 2_400 });

test('footers with bytes that are not theirs: each is read or refused', {
  timeout: 300_000,
}, async (t) => {
  const sources = readdirSync(golden).filter((name) => name.endsWith('.parquet'));
  const nested = `select [i] as list, {'zip': 'z', 'n': {'deep': i}} as address, map {'k': i} as tags from range(40) t(i)`;
  const files = [...sources.map((name) => readFileSync(join(golden, name))), await fileOf(nested)];
  const counts = await digestFlipped(files, 'footer', FOOTERS, 1);
  t.diagnostic(JSON.stringify(counts));
  assert.ok(counts.refused > FOOTERS / 4 && counts.read > FOOTERS / 40);
});

test('pages with bytes that are not theirs: each is read or refused', {
  timeout: 300_000,
}, async (t) => {
  const query = `select i as a, i::double / 3 as b, 'text ' || (i % 9) as c, [i] as d,
    timestamp '2024-01-01' + to_seconds(i) as e, (i / 7)::decimal(20, 2) as f from range(400) t(i)`;
  const files: Buffer[] = [];
  for (const codec of ['snappy', 'zstd', 'gzip', 'lz4_raw'])
    files.push(await fileOf(query, `compression ${codec}`));
  files.push(await fileOf(query, 'parquet_version v2'));
  const counts = await digestFlipped(files, 'pages', PAGES, 2);
  t.diagnostic(JSON.stringify(counts));
  assert.ok(counts.refused > PAGES / 12);
});

test('files that were cut anywhere are refused', async () => {
  const whole = readFileSync(join(golden, 'flat.out.parquet'));
  for (let end = 16; end < whole.length; end += 7) {
    assert.equal(await digest(whole.subarray(0, end)), 'refused');
  }
});
