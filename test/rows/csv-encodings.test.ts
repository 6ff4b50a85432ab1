import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { stringify } from 'csv-stringify/sync';
import { decodeText, encodeText, guessEncoding } from '../../src/formats/bytes/decode-text.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import type { OpenOptions } from '../../src/rows/port.ts';
import {
  encodingNamed,
  type FileEncoding,
  guessUtf16,
  unfinishedBytes,
  utf8Of,
  utf16Of,
} from '../../src/rows/text-encoding.ts';
import { fc } from '../properties.ts';
import { LONG, times } from '../tier.ts';
import { ADDED, allRows, fillWith, temporaryFolder, writeRows } from './book-fixture.ts';

const folder = temporaryFolder();
const NAMES = ADDED.map((column) => column.name);

interface Encoding {
  readonly named: FileEncoding | undefined;
  readonly bom: boolean;
  readonly encode: (text: string) => Buffer;
  /** Texts that the encoding can say. */
  readonly unit: fc.Arbitrary<string>;
}

const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
const utf16le = (text: string) => Buffer.from(text, 'utf16le');
/** Units of UTF-16 as they come, torn surrogate pairs included; control characters would make it a binary file. */
const torn = fc
  .oneof(fc.integer({ min: 0xa0, max: 0xffff }), fc.integer({ min: 0xd800, max: 0xdfff }))
  .map((unit) => String.fromCharCode(unit));
const grapheme = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 2 });
const latin = fc.integer({ min: 0xa0, max: 0xff }).map((unit) => String.fromCharCode(unit));

const ENCODINGS: Readonly<Record<string, Encoding>> = {
  'utf-8': { named: undefined, bom: false, encode: (text) => Buffer.from(text), unit: grapheme },
  'utf-8 with a mark': {
    named: undefined,
    bom: true,
    encode: (text) => Buffer.from(text),
    unit: grapheme,
  },
  'utf-16le': { named: 'utf-16le', bom: false, encode: utf16le, unit: torn },
  'utf-16le with a mark': { named: undefined, bom: true, encode: utf16le, unit: torn },
  'utf-16be': { named: 'utf-16be', bom: false, encode: utf16be, unit: torn },
  'utf-16be with a mark': { named: undefined, bom: true, encode: utf16be, unit: torn },
  'windows-1252': {
    named: 'windows-1252',
    bom: false,
    encode: (text) => Buffer.from(text, 'latin1'),
    unit: latin,
  },
};

const asIs = (bytes: Buffer): Buffer => bytes;
const PACKINGS: Readonly<
  Record<string, readonly [pack: typeof asIs, unpack: typeof asIs, extension: string]>
> = {
  plain: [asIs, asIs, 'csv'],
  gzip: [gzipSync, gunzipSync, 'gz'],
  zstd: [zstdCompressSync, zstdDecompressSync, 'zst'],
};

/** Writes the bytes to a file, enriches it, and gives the bytes of the output. */
async function enriched(
  content: Buffer,
  extension: string,
  options: OpenOptions,
  fields: readonly string[],
) {
  const [input, output] = [join(folder, `in.${extension}`), join(folder, `out.${extension}`)];
  writeFileSync(input, content);
  const book = await openRowFile(input, options);
  const { bytes } = await writeRows(book, { output, fill: fillWith([...fields, -0.25]) });
  const written = readFileSync(output);
  assert.equal(bytes, written.length);
  return written;
}

for (const [name, { named, bom, encode, unit }] of Object.entries(ENCODINGS)) {
  for (const [packing, [pack, unpack, extension]] of Object.entries(PACKINGS)) {
    test(`every original byte comes back: ${name}, ${packing}`, async () => {
      const cell = fc.array(fc.oneof(unit, fc.constantFrom('a', '"', ',', ';', '\r', '\n', ' ')), {
        maxLength: 6,
      });
      const shape = fc.record({
        rows: fc
          .integer({ min: 2, max: 4 })
          .chain((width) =>
            fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1 }),
          ),
        delimiter: fc.constantFrom(',', ';', '\t', '|'),
        end: fc.constantFrom('\n', '\r\n', '\r'),
        finalEnd: fc.boolean(),
        quoted: fc.boolean(),
      });
      const property = fc.asyncProperty(
        shape,
        async ({ rows, delimiter, end, finalEnd, quoted }) => {
          const style = {
            delimiter,
            quoted,
            record_delimiter: '\n',
            eof: false,
            quoted_match: /[\r\n]/,
          };
          const records = rows.map((row) =>
            stringify([['x', ...row.map((parts) => parts.join(''))]], style),
          );
          const header = ['a', ...rows[0]!.map((_, i) => `a${i}`)].join(delimiter);
          const [mark, last] = [bom ? '\ufeff' : '', finalEnd ? end : ''];
          const source = mark + [header, ...records].join(end) + last;
          const suffix = `${delimiter}ok${delimiter}"µ""${delimiter} "${delimiter}-0.25`;
          const expected = `${mark}${[header, ...NAMES].join(delimiter)}${end}${records.map((text) => text + suffix).join(end)}${last}`;
          const options = { delimiter, ...(named ? { encoding: named } : {}) };
          const output = await enriched(pack(encode(source)), extension, options, [
            'ok',
            `µ"${delimiter} `,
          ]);
          assert.deepEqual(unpack(output), encode(expected));
        },
      );
      await fc.assert(property, { numRuns: times({ short: 3, long: 10, soak: 30 }) });
    });
  }
}

test('UTF-16 without a mark and windows-1252 are found, and their names and values are read', async () => {
  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  for (const [encode, name] of [
    [utf16le, 'Łódź 🏭'],
    [utf16be, 'Łódź 🏭'],
    [latin1, 'Caf\xe9'],
  ] as const) {
    const file = join(folder, 'unmarked.csv');
    writeFileSync(file, encode(`Größe,lat,lng\r\n"${name}",1.5,-2\r\n`));
    const book = await openRowFile(file);
    assert.deepEqual(book.columns, ['Größe', 'lat', 'lng']);
    assert.deepEqual(await allRows(book, [0, 1]), [{ number: 1, line: 2, fields: [name, '1.5'] }]);
  }
});

test(
  'characters and surrogate pairs that fall on the edge of a chunk come back',
  LONG,
  async () => {
    const file = join(folder, 'edge.csv');
    const output = join(folder, 'edge-out.csv');
    for (let shift = 0; shift < 4; shift++) {
      const source = `lat,lng\n${'x'.repeat(shift)},${'🏭é\ud800'.repeat(150_000)},1\n${'2,€\n'.repeat(1000)}`;
      writeFileSync(file, utf16le(`\ufeff${source}`));
      const book = await openRowFile(file);
      await writeRows(book, { output, added: ADDED.slice(0, 1), fill: fillWith(['#']) });
      const bare = readFileSync(output, 'utf16le')
        .replace(',hazard_status', '')
        .replaceAll(',#', '');
      assert.ok(bare === `\ufeff${source}`, `shift ${shift}`);
    }
  },
);

test('an encoding is named by any of its usual names', () => {
  const cases = {
    utf8: 'utf-8',
    latin1: 'windows-1252',
    CP1252: 'windows-1252',
    'UTF-16': 'utf-16le',
    'utf-16be': 'utf-16be',
    'Shift-JIS': 'shift_jis',
    cp932: 'shift_jis',
    GB18030: 'gb18030',
    MacRoman: 'macintosh',
    'koi8-r': 'koi8-r',
  };
  for (const [name, encoding] of Object.entries(cases)) assert.equal(encodingNamed(name), encoding);
  for (const name of ['', 'ebcdic', 'iso-2022-jp'])
    assert.throws(() => encodingNamed(name), { code: 'USAGE' });
});

test(
  'the first character beyond ASCII decides how added text is written, even when it comes late',
  LONG,
  async () => {
    // 1.5 MB in few rows: what counts is the number of bytes.
    const plain = `${'plain'.repeat(20)},1,2`;
    const ascii = `name,lat,lng\n${`${plain}\n`.repeat(14_500)}`;
    const late = {
      none: [Buffer.from(ascii), 'utf8'],
      'utf-8': [Buffer.from(`${ascii}Caf\u00e9,1,2\n`), 'utf8'],
      'utf-8, at the end of the file': [Buffer.from(`${ascii}Caf\u00e9`), 'utf8'],
      'windows-1252': [Buffer.from(`${ascii}Caf\u00e9,1,2\n`, 'latin1'), 'latin1'],
      'windows-1252, at the end of the file': [
        Buffer.from(`${ascii}Caf\u00e9`, 'latin1'),
        'latin1',
      ],
    } as const;
    for (const [name, [content, encoding]] of Object.entries(late)) {
      const output = await enriched(content, 'csv', {}, ['ok', 'µ']);
      const line = output.toString(encoding).split('\n')[1];
      assert.equal(line, `${plain},ok,µ,-0.25`, name);
      assert.equal(
        (await enriched(content, 'csv', { encoding: 'utf-8' }, ['ok', 'µ'])).includes('ok,µ,'),
        true,
        name,
      );
    }
  },
);

/** Any 16-bit units: halves of surrogate pairs that stand alone are frequent. */
const units = fc.array(
  fc.oneof(fc.nat(0xffff), fc.integer({ min: 0xd7f0, max: 0xe010 }), fc.nat(0x7f)),
  {
    maxLength: 40,
  },
);

test('UTF-8 cut anywhere is finished by the bytes that follow', () => {
  fc.assert(
    fc.property(units, fc.nat(120), (numbers, at) => {
      const whole = utf8Of(Buffer.from(Uint16Array.from(numbers).buffer));
      const cut = Math.min(at, whole.length);
      const end = cut - unfinishedBytes(whole.subarray(0, cut));
      assert.deepEqual(
        Buffer.concat([utf16Of(whole.subarray(0, end)), utf16Of(whole.subarray(end))]),
        utf16Of(whole),
      );
    }),
    { numRuns: 1_000 },
  );
});

test('bytes are UTF-16 by their mark; neither UTF-32 nor zeros are', () => {
  const guess = (bytes: string) => guessUtf16(Buffer.from(bytes, 'latin1'));
  assert.deepEqual(
    [guess('\xff\xfe\x30\x31'), guess('\xfe\xff\x30\x31')],
    ['utf-16le', 'utf-16be'],
  );
  for (const other of ['\xff\xfe\0\0', 'lat,lng\n1,2\n', '\0'.repeat(400), ''])
    assert.equal(guess(other), null);
});

test('a sample is UTF-8 unless it has bytes that cannot be', () => {
  assert.equal(guessEncoding(Buffer.from('plain')), 'utf-8');
  assert.equal(guessEncoding(Buffer.from('é€')), 'utf-8');
  assert.equal(guessEncoding(Buffer.from('é€🌀').subarray(0, -1)), 'utf-8');
  assert.equal(guessEncoding(Buffer.from('Caf\xe9 au lait', 'latin1')), 'windows-1252');
  const pasted = Buffer.from('Caf\xe9\n', 'latin1');
  assert.equal(guessEncoding(Buffer.concat([pasted, Buffer.from('Peña,Cañon\n')])), 'utf-8');
  assert.equal(
    guessEncoding(Buffer.concat([Buffer.from('Peña\n'), pasted, pasted])),
    'windows-1252',
  );
});

test('bytes that are not UTF-8 are read as windows-1252, the replacement character itself stays', () => {
  const decode = (bytes: Buffer) => decodeText(bytes, 0, bytes.length, 'utf-8');
  assert.equal(decode(Buffer.from('37\ufffd36')), '37\ufffd36');
  assert.equal(decode(Buffer.from('\x80 \xb5g', 'latin1')), '€ µg');
  assert.equal(decodeText(Buffer.from('\x93a\x94', 'latin1'), 0, 3, 'windows-1252'), '“a”');
});

test('added text is written in the encoding of the file', () => {
  assert.equal(encodeText('µg/m³', 'utf-8'), Buffer.from('µg/m³').toString('latin1'));
  assert.equal(encodeText('µg/m³ €≥', 'windows-1252'), '\xb5g/m\xb3 \x80?');
  assert.equal(encodeText('plain', 'windows-1252'), 'plain');
});
