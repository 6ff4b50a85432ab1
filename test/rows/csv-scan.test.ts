import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import {
  fieldText,
  isBlank,
  LONGEST_QUOTED_FIELD,
  newRecordSpan,
  type Quoting,
  RFC_QUOTING,
  scanRecord,
} from '../../src/formats/csv/scan-records.ts';
import { fc } from '../properties.ts';

const COMMA = ','.charCodeAt(0);

function recordsOf(text: string, delimiter = ',') {
  const bytes = Buffer.from(text);
  const span = newRecordSpan();
  const records: string[][] = [];
  for (let at = 0; at < bytes.length; at = span.next) {
    assert.ok(scanRecord(bytes, at, bytes.length, true, delimiter.charCodeAt(0), span));
    if (!isBlank(bytes, span))
      records.push(
        Array.from({ length: span.fields }, (_, i) => fieldText(bytes, span, i, 'utf-8')),
      );
  }
  return records;
}

const field = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.stringMatching(/^[a",;\r\n ]{0,8}$/),
  fc.double().map(String),
);
const table = fc.array(fc.array(field, { minLength: 2, maxLength: 6 }), {
  minLength: 1,
  maxLength: 8,
});

test('what csv-stringify writes is read as csv-parse reads it, whatever the delimiter and line ends', () => {
  fc.assert(
    fc.property(
      table,
      fc.constantFrom(',', ';', '\t', '|'),
      fc.boolean(),
      fc.constantFrom('\n', '\r\n', '\r'),
      (rows, delimiter, quoted, end) => {
        const text = stringify(rows, {
          delimiter,
          quoted,
          record_delimiter: end,
          quoted_match: /[\r\n]/,
        });
        const expected = parse(text, {
          delimiter,
          relax_column_count: true,
          record_delimiter: ['\r\n', '\n', '\r'],
        });
        assert.deepEqual(recordsOf(text, delimiter), expected);
        assert.deepEqual(expected, rows);
      },
    ),
  );
});

const soup = fc.stringMatching(/^[ab"'\\,\r\n ]{0,40}$/);
const quotings = fc.constantFrom<Quoting>(
  RFC_QUOTING,
  { quote: "'", escape: "'" },
  { quote: '"', escape: '\\' },
);

test('a record found before the end of the file is in memory is the one found after', () => {
  fc.assert(
    fc.property(soup, fc.nat(40), quotings, (text, cut, quoting) => {
      const bytes = Buffer.from(text);
      fc.pre(bytes.length > 0);
      const early = newRecordSpan(quoting);
      const late = newRecordSpan(quoting);
      scanRecord(bytes, 0, bytes.length, true, COMMA, late);
      if (!scanRecord(bytes, 0, Math.min(cut, bytes.length), false, COMMA, early)) return;
      assert.deepEqual(
        { ...early, starts: [...early.starts] },
        { ...late, starts: [...late.starts] },
      );
    }),
    { numRuns: 400 },
  );
});

/** Records with a bar between their fields. */
const CASES: readonly (readonly [name: string, text: string, ...records: readonly string[]])[] = [
  ['mixed line ends', 'a,b\r\n1,2\n3,4\r5,6', 'a|b', '1|2', '3|4', '5|6'],
  ['a quote inside a field', '5" pipe,34\nb,1', '5" pipe|34', 'b|1'],
  ['text behind a closing quote', '"a"b,1\nc,2', '"a"b|1', 'c|2'],
  ['two quoted words', '"a" and "b",1', '"a" and "b"|1'],
  ['a quote that is never closed', 'x,"oops\ny,1\nz,2', 'x|"oops', 'y|1', 'z|2'],
  [
    'a quote that only the next quoted field closes',
    'x,"oops\ny,"a, b"\nz,2',
    'x|"oops',
    'y|a, b',
    'z|2',
  ],
  ['a double CR', 'a,b\r\r\n1,2', 'a|b', '1|2'],
  ['blank lines', '\n\na,b\n\n\r\n1,2\n\n', 'a|b', '1|2'],
  ['a quote alone at the end', 'a,"', 'a|"'],
];

test('records with odd quotes and line ends', () => {
  for (const [name, text, ...records] of CASES) {
    const found = recordsOf(text).map((fields) => fields.join('|'));
    assert.deepEqual(found, records, name);
  }
});

test('more fields than were expected are all found', () => {
  assert.equal(recordsOf(`${'x,'.repeat(5000)}y`)[0]?.length, 5001);
});

test('a quoted field beyond the limit is taken for a stray quote, however much of it is in memory', () => {
  const text = Buffer.from(`"a\nb,1\n${'x'.repeat(LONGEST_QUOTED_FIELD)}",2\n`);
  for (const isLast of [true, false]) {
    const span = newRecordSpan();
    assert.ok(scanRecord(text, 0, text.length, isLast, COMMA, span));
    assert.equal(text.toString('latin1', span.start, span.end), '"a');
  }
});
