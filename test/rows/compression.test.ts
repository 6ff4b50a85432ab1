import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { constants, gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { detectCompression } from '../../src/formats/bytes/unpack.ts';
import { compressionOfOutput } from '../../src/rows/files/compression.ts';
import { compressedOutput } from '../../src/rows/files/row-output.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { LONG } from '../tier.ts';
import { allRows, temporaryFolder, writeRows } from './book-fixture.ts';

const folder = temporaryFolder();
const ROWS = 400;
const TEXT = `lat,lng,n\n${Array.from({ length: ROWS }, (_, i) => `30.${i * 7919},-100.${(i * 104_729) % 99_991},${i}\n`).join('')}`;
const [first, second] = [Buffer.from(TEXT.slice(0, 3000)), Buffer.from(TEXT.slice(3000))];

const [gzip, gzip1, gzip2] = [gzipSync(TEXT), gzipSync(first), gzipSync(second)];
const [zstd, zstd1, zstd2] = [
  zstdCompressSync(TEXT),
  zstdCompressSync(first),
  zstdCompressSync(second),
];
const skippable = Buffer.alloc(24);
skippable.writeUInt32LE(0x184d2a53, 0);
skippable.writeUInt32LE(16, 4);
const checksummed = (text: string) =>
  zstdCompressSync(text, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
const rest = Buffer.from('rest of it');

async function readAll(content: Buffer) {
  const file = join(folder, 'in.bin');
  writeFileSync(file, content);
  return await allRows(await openRowFile(file), [2]);
}

const READ: Readonly<Record<string, readonly Buffer[]>> = {
  gzip: [gzip],
  'gzip, two members': [gzip1, gzip2],
  'gzip, an empty member between': [gzip1, gzipSync(''), gzip2],
  'gzip, filled up with zeros': [gzip, Buffer.alloc(5000)],
  zstd: [zstd],
  'zstd, two frames': [zstd1, zstd2],
  'zstd, a frame that is to be skipped first': [skippable, zstd],
  'zstd, frames that are to be skipped between and behind': [zstd1, skippable, zstd2, skippable],
};

for (const [name, content] of Object.entries(READ)) {
  test(`read whole: ${name}`, async () => {
    const rows = await readAll(Buffer.concat(content));
    assert.equal(rows.length, ROWS);
    assert.equal(rows.at(-1)?.fields[0], String(ROWS - 1));
  });
}

const flipped = (content: Buffer, fromEnd: number) =>
  content.with(-fromEnd, content.at(-fromEnd)! ^ 1);

const REFUSED: Readonly<
  Record<string, readonly [content: readonly Uint8Array[], message: RegExp]>
> = {
  'gzip with something behind it': [[gzip, rest], /gzip and is damaged/],
  'gzip with something behind its zeros': [
    [gzip, Buffer.alloc(9), rest],
    /other bytes after its end/,
  ],
  'gzip, the second member torn': [[gzip1, gzip2.subarray(0, 5)], /is cut off/],
  'zstd with something behind it': [[zstd, rest], /other bytes after its end/],
  'zstd, the second frame torn': [[zstd1, zstd2.subarray(0, 40)], /is cut off/],
  'gzip with a wrong checksum': [[flipped(gzip, 6)], /is damaged/],
  'zstd with a wrong checksum': [[flipped(checksummed(TEXT), 2)], /is damaged/],
};

for (const [name, [content, message]] of Object.entries(REFUSED)) {
  test(`refused: ${name}`, () =>
    assert.rejects(readAll(Buffer.concat(content)), {
      code: 'INPUT_UNREADABLE',
      message,
      hint: /again/,
    }));
}

test('a file cut off anywhere is refused, never read short', LONG, async () => {
  for (const content of [gzip, zstd]) {
    for (let length = 5; length < content.length; length += 37) {
      await assert.rejects(readAll(content.subarray(0, length)), {
        code: 'INPUT_UNREADABLE',
        message: /is cut off/,
      });
    }
    await assert.rejects(readAll(content.subarray(0, -1)), {
      code: 'INPUT_UNREADABLE',
      message: /is cut off/,
    });
  }
});

test(
  'a byte damaged anywhere in checksummed data is refused, or changes nothing',
  LONG,
  async () => {
    for (const content of [gzip, checksummed(TEXT)]) {
      for (let at = 4; at < content.length; at += 29) {
        const damaged = Buffer.from(content);
        damaged[at]! ^= 0x10;
        const rows = await readAll(damaged).catch((error: { code?: string }) => error);
        if (Array.isArray(rows)) assert.equal(rows.length, ROWS);
        else assert.equal(rows.code, 'INPUT_UNREADABLE');
      }
    }
  },
);

test(
  'damage far behind the head is found by the first pass, and closes the file',
  LONG,
  async () => {
    const big = gzipSync(
      `lat,lng\n${Array.from({ length: 300_000 }, (_, i) => `${i},${i * 3}\n`).join('')}`,
    );
    const file = join(folder, 'late.gz');
    writeFileSync(file, big.subarray(0, -100));
    const book = await openRowFile(file);
    await assert.rejects(allRows(book, [0]), { code: 'INPUT_UNREADABLE', message: /is cut off/ });
    writeFileSync(file, big);
    const whole = await openRowFile(file);
    for await (const batch of whole.read([0])) {
      assert.ok(batch.length > 0);
      break;
    }
    assert.equal((await allRows(whole, [0])).length, 300_000);
  },
);

test('an enormous text in a small file is read in little memory', LONG, async () => {
  // 4 MB a piece in few rows: what counts is the number of bytes.
  const lines = gzipSync(`1,${' '.repeat(95)}2\n`.repeat(40_000));
  const file = join(folder, 'bomb.gz');
  writeFileSync(
    file,
    Buffer.concat([gzipSync('lat,lng\n'), ...Array.from({ length: 24 }, () => lines)]),
  );
  let rows = 0;
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  for await (const batch of (await openRowFile(file)).read([])) {
    rows += batch.length;
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  assert.equal(rows, 960_000);
  assert.ok(most < 64 * 1024 * 1024, `${most} bytes`);
});

test('a line without an end is refused, however well it packs', LONG, async () => {
  await assert.rejects(readAll(gzipSync(Buffer.alloc(200 * 1024 * 1024, 'x'))), {
    message: /no line end/,
  });
  const torn = gzipSync(
    Buffer.concat([Buffer.from('lat,lng\n'), Buffer.alloc(200 * 1024 * 1024, 'x')]),
  );
  await assert.rejects(readAll(torn), {
    code: 'INPUT_UNREADABLE',
    message: /record without an end on line 2/,
  });
});

test('the output is compressed as its name says, or as an input whose name ends alike', async () => {
  const unpack = { gzip: gunzipSync, zstd: zstdDecompressSync, plain: (bytes: Buffer) => bytes };
  const cases = [
    ['in.csv.gz', gzipSync, 'out.csv.gz', 'gzip'],
    ['in.csv.gz', gzipSync, 'out.CSV.ZST', 'zstd'],
    ['in.csv.gz', gzipSync, 'out.csv', 'plain'],
    ['in.csv', Buffer.from, 'out.csv.zst', 'zstd'],
    ['in.csv', zstdCompressSync, 'out.csv', 'zstd'],
    ['in', gzipSync, 'out', 'gzip'],
    ['in.csv', Buffer.from, 'out.csv', 'plain'],
  ] as const;
  for (const [from, pack, to, form] of cases) {
    const [input, output] = [join(folder, from), join(folder, to)];
    writeFileSync(input, pack(Buffer.from('lat,lng\n1,2\n')));
    const book = await openRowFile(input);
    const { bytes } = await writeRows(book, { output });
    const written = readFileSync(output);
    assert.equal(detectCompression(written) ?? 'plain', form, `${from} to ${to}`);
    assert.equal(
      unpack[form](written).toString(),
      'lat,lng,hazard_status,hazard_note,hail_score\n1,2,ok,,1.5\n',
    );
    assert.equal(bytes, written.length);
  }
  assert.equal(compressionOfOutput('-', { name: 'standard input', compression: 'gzip' }), null);
});

test('a failure of the disk reaches the writer, and discarding ends the engine', async () => {
  const failing = {
    write: async () => Promise.reject(new Error('full')),
    commit: async () => {},
    discard: async () => {},
  };
  const output = compressedOutput(failing, 'gzip');
  const noise = Buffer.from(
    Array.from({ length: 1 << 20 }, (_, i) => (Math.imul(i, 0x9e3779b1) >>> 13) & 0xff),
  );
  const writing = async () => {
    for (let i = 0; i < 20; i++) await output.write(noise);
    await output.commit();
  };
  await assert.rejects(writing, /full/);
  await output.discard();
});
