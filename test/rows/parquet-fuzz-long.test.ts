import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { openRowFile } from '../../src/rows/open-row-file.ts';
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
    assert.ok(error instanceof PerilbookError, error instanceof Error ? error.stack : String(error));
    assert.ok(['INPUT_UNREADABLE', 'INPUT_COLUMNS'].includes(error.code), `${error.code} ${error.message}`);
    return 'refused';
  }
}

function flipped(bytes: Buffer, from: number, to: number, random: (below: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  for (let times = 1 + random(3); times > 0; times--) copy[from + random(to - from)] = random(256);
  return copy;
}

const FOOTERS = times({ long: 240, soak: 4_000 });
const PAGES = times({ long: 150, soak: 2_400 });

test('footers with bytes that are not theirs: each is read or refused', { timeout: 300_000 }, async (t) => {
  const sources = readdirSync(golden).filter((name) => name.endsWith('.parquet'));
  const files = sources.map((name) => readFileSync(join(golden, name)));
  const nested = join(folder, 'nested.parquet');
  await madeParquet(
    `select [i] as list, {'zip': 'z', 'n': {'deep': i}} as address, map {'k': i} as tags from range(40) t(i)`,
    nested,
  );
  files.push(readFileSync(nested));
  const random = seeded(1);
  const counts = { read: 0, refused: 0 };
  for (let i = 0; i < FOOTERS; i++) {
    const bytes = files[i % files.length]!;
    const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
    counts[await digest(flipped(bytes, footer, bytes.length, random))]++;
  }
  t.diagnostic(JSON.stringify(counts));
  assert.ok(counts.refused > FOOTERS / 4 && counts.read > FOOTERS / 40);
});

test('pages with bytes that are not theirs: each is read or refused', { timeout: 300_000 }, async (t) => {
  const query = `select i as a, i::double / 3 as b, 'text ' || (i % 9) as c, [i] as d,
    timestamp '2024-01-01' + to_seconds(i) as e, (i / 7)::decimal(20, 2) as f from range(400) t(i)`;
  const files: Buffer[] = [];
  for (const options of [
    ...['compression snappy', 'compression zstd', 'compression gzip'],
    ...['compression lz4_raw', 'parquet_version v2'],
  ]) {
    const file = join(folder, 'pages.parquet');
    await madeParquet(query, file, options);
    files.push(readFileSync(file));
  }
  const random = seeded(2);
  const counts = { read: 0, refused: 0 };
  for (let i = 0; i < PAGES; i++) {
    const bytes = files[i % files.length]!;
    const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
    counts[await digest(flipped(bytes, 4, footer, random))]++;
  }
  t.diagnostic(JSON.stringify(counts));
  assert.ok(counts.refused > PAGES / 12);
});

test('files that were cut anywhere are refused', async () => {
  const whole = readFileSync(join(golden, 'flat.out.parquet'));
  for (let end = 16; end < whole.length; end += 7) {
    assert.equal(await digest(whole.subarray(0, end)), 'refused');
  }
});
