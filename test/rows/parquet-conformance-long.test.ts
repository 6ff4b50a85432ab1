import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { PerilbookError } from '../../src/base/errors.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { CHUNK, CHUNK_META, FOOTER, PAGE, ROW_GROUP } from '../../src/rows/parquet/format.ts';
import {
  readThrift,
  setField,
  type ThriftStruct,
  writeThrift,
} from '../../src/rows/parquet/thrift.ts';
import { noRealData, realFile } from '../real-data.ts';
import { allRows, temporaryFolder, writeRows } from './book-fixture.ts';
import { askDuckdb, quoted } from './duckdb-child.ts';
import { ALL_TYPES, alternating, hazardNames, madeParquet, withFooter } from './parquet-fixture.ts';

const data = realFile('parquet');
const folder = temporaryFolder();

const files = noRealData
  ? []
  : readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.parquet(?:\.encrypted)?$/.test(name),
    );

/** Files that are damaged in their footer: those whose pages are bad come out as they went in. */
const DAMAGED_FOOTERS = ['ARROW-RS-GH-6229-DICTHEADER.parquet', 'PARQUET-1481.parquet'];

for (const name of files) {
  test(`conformance: ${name}`, async () => {
    const file = join(data, name);
    const output = join(folder, `${name.replaceAll('/', '-')}.out`);
    try {
      const book = await openRowFile(file);
      const result = await writeRows(book, { output, added: ALL_TYPES, fill: alternating });
      assert.equal(result.bytes, statSync(output).size);
    } catch (error) {
      assert.ok(
        error instanceof PerilbookError && error.code === 'INPUT_UNREADABLE',
        String(error),
      );
      const isEncrypted = name.endsWith('.encrypted');
      const isBad = isEncrypted || DAMAGED_FOOTERS.some((bad) => name.endsWith(bad));
      assert.ok(isBad, `${name} is refused: ${error.message}`);
      assert.equal(isEncrypted, error.message.endsWith('is encrypted'));
      return;
    }
    assertSameBody(file, output);
    const before = `select * from read_parquet(${quoted(file)})`;
    const after = `select * exclude (${hazardNames}) from read_parquet(${quoted(output)})`;
    const [original, enriched] = await askDuckdb(before, after);
    await assertReadable(file);
    if (typeof original === 'string') {
      assert.equal(
        typeof enriched,
        'string',
        `DuckDB refuses ${name} and reads what was made of it`,
      );
      return;
    }
    assert.deepEqual(enriched, original);
  });
}

test('footers come out of the tree as they went in', { skip: noRealData }, () => {
  let count = 0;
  for (const name of files) {
    const bytes = readFileSync(join(data, name));
    const length = bytes.readUInt32LE(bytes.length - 8);
    const footer = bytes.subarray(bytes.length - 8 - length, -8);
    // An encrypted footer, or the signature behind one, is no Thrift.
    if (name.endsWith('.encrypted')) continue;
    const { struct, end } = readThrift(footer);
    assert.equal(end, length, name);
    assert.deepEqual(writeThrift(struct), footer, name);
    count++;
  }
  assert.ok(count > 70);
});

/** All of the input up to its footer stands at the beginning of the output. */
function assertSameBody(file: string, output: string): void {
  const [before, after] = [readFileSync(file), readFileSync(output)];
  const end = before.length - 8 - before.readUInt32LE(before.length - 8);
  assert.equal(before.compare(after, 0, end, 0, end), 0);
}

/** Values whose pages are bad cannot be read as text; their pages were copied without a look. */
async function assertReadable(file: string): Promise<void> {
  const book = await openRowFile(file);
  const columns = [...book.columns.keys()];
  await allRows(book, columns).catch((error) =>
    assert.ok(error instanceof PerilbookError, String(error)),
  );
}

function reasonOf(error: PerilbookError): string {
  return error.message
    .replaceAll(`${data}/`, '')
    .replace(/^\S+ (?:cannot be read as Parquet: )?/, '');
}

/** A file of one column in one page, with the checksum of the page in its header. */
async function withChecksum(file: string): Promise<Buffer> {
  await madeParquet(
    'select 38 + i / 100 as lat from range(40) t(i)',
    file,
    "compression 'uncompressed'",
  );
  const bytes = readFileSync(file);
  const { struct: header, end } = readThrift(bytes.subarray(4));
  const page = bytes.subarray(4 + end, 4 + end + PAGE.size.read(header)!);
  setField(header, PAGE.checksum.make(crc32(page) | 0));
  const body = Buffer.concat([bytes.subarray(0, 4), writeThrift(header), page]);
  const edit = (footer: ThriftStruct) => {
    const [chunk] = ROW_GROUP.chunks.read(FOOTER.rowGroups.read(footer)![0]!)!;
    for (const size of [CHUNK_META.unpackedSize, CHUNK_META.size]) {
      setField(CHUNK.meta.read(chunk!)!, size.make(body.length - 4));
    }
  };
  return withFooter(bytes, edit, body);
}

test('a page that does not match its checksum is refused, with its column', async () => {
  const file = join(folder, 'checksum.parquet');
  const bytes = await withChecksum(file);
  const readDamagedAt = async (at: number) => {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1;
    writeFileSync(file, damaged);
    return await allRows(await openRowFile(file), [0]);
  };
  const end = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
  await assert.rejects(readDamagedAt(end - 1), {
    code: 'INPUT_UNREADABLE',
    message: `${file} is damaged: page 1 of column lat in row group 1 does not match its checksum`,
    hint: 'Copy or download the file again.',
    context: { file, column: 'lat' },
  });
  writeFileSync(file, bytes);
  assert.equal((await allRows(await openRowFile(file), [0])).length, 40);
});

test('checksums of other writers: right ones are read, wrong ones name the page', {
  skip: noRealData,
}, async () => {
  const problems = async (name: string) => {
    const rowFile = await openRowFile(join(data, 'conformance/data', name));
    const messages: string[] = [];
    for (const column of rowFile.columns.keys()) {
      await allRows(rowFile, [column]).catch((error) => messages.push(reasonOf(error)));
    }
    return messages;
  };
  for (const name of [
    ...[
      'datapage_v1-uncompressed-checksum.parquet',
      'datapage_v1-snappy-compressed-checksum.parquet',
    ],
    ...['plain-dict-uncompressed-checksum.parquet', 'rle-dict-snappy-checksum.parquet'],
  ]) {
    assert.deepEqual(await problems(name), [], name);
  }
  const wrong = (page: number, column: string) =>
    `is damaged: page ${page} of column ${column} in row group 1 does not match its checksum`;
  assert.deepEqual(await problems('datapage_v1-corrupt-checksum.parquet'), [
    wrong(1, 'a'),
    wrong(2, 'b'),
  ]);
  const ofDictionary = await problems('rle-dict-uncompressed-corrupt-checksum.parquet');
  assert.deepEqual(ofDictionary, [wrong(1, 'long_field'), wrong(1, 'binary_field')]);
});
