import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import type { Field } from '../../src/contract/answer.ts';
import { FieldEncoder, textFormatter } from '../../src/rows/csv/field-bytes.ts';
import type { AddedColumn } from '../../src/rows/port.ts';
import { anyCharacter, fc } from '../properties.ts';

const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.maxSafeInteger(),
  // Scores and frequencies: few decimals, also where they end in zeros.
  fc
    .tuple(fc.integer(), fc.constantFrom(1, 10, 1_000, 10_000, 1e6, 1e7))
    .map(([digits, by]) => digits / by),
  // Loss rates: up to 15 decimals, mostly zeros first.
  fc.tuple(fc.integer(), fc.constantFrom(1, 100, 1e5)).map(([digits, by]) => (digits * by) / 1e15),
  fc.maxSafeInteger().map((digits) => Math.round(digits / 10) / 1e15),
  fc.constantFrom(
    ...[0, -0, 1, 10, 100, -1_000_000, 1e-6, 1e-7, 999_999_999.999_999, 1e9],
    0.1 + 0.2,
  ),
  fc.constantFrom(123_456_789.5, 1e15, 1e21),
);
const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.constantFrom('Very High', '=1+1', '-5', 'µg/m³', 'a,b', 'say "no"', '\n', 'x'.repeat(9_000)),
);
const field: fc.Arbitrary<Field> = fc.oneof(fc.constant(null), number, text);

test('encoded fields are the texts of numbers and formatted texts, whatever they hold', () => {
  const formats = fc.record({
    delimiter: fc.constantFrom(',', ';', '\t'),
    encoding: fc.constantFrom('utf-8', 'windows-1252'),
    decimal: fc.constantFrom('point', 'comma'),
  });
  fc.assert(
    fc.property(
      formats,
      fc.boolean(),
      fc.array(
        fc.oneof(
          fc.array(field, { maxLength: 6 }),
          fc.constant(new Array<number>(1_000).fill(10.25)),
        ),
        {
          maxLength: 4,
        },
      ),
      (format, leads, rows) => {
        const textOf = textFormatter(format);
        const numberText = (value: number) => {
          const digits = String(value).replace('.', format.decimal === 'comma' ? ',' : '.');
          return format.delimiter === ',' && digits.includes(',') ? `"${digits}"` : digits;
        };
        const formatted = (fields: readonly Field[]) =>
          fields
            .map((one) =>
              one === null ? '' : typeof one === 'number' ? numberText(one) : textOf(one, true),
            )
            .join(format.delimiter);
        const encoded: string[] = [];
        const sink = new FieldEncoder(format, [], leads, (bytes, length) => {
          encoded.push(bytes.toString('latin1', 0, length));
        });
        for (const [row, fields] of rows.entries()) {
          for (const one of fields) sink.put(one);
          sink.endPlace();
          const lead = leads && fields.length > 0 ? format.delimiter : '';
          assert.equal(encoded[row], lead + formatted(fields));
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('another reader gets each text back: what holds a delimiter, a quote or a line end of any kind is in quotes', () => {
  const letters = fc.string({
    unit: fc.constantFrom('a', 'µ', ' ', '"', ',', ';', '\t', '\r', '\n'),
    maxLength: 6,
  });
  const rows = fc.array(fc.tuple(letters, letters), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.constantFrom(',', ';', '\t'), rows, (delimiter, written) => {
      const own = ['a', 'b'].map((name, keeps): AddedColumn => ({ name, type: 'text', keeps }));
      const records: Buffer[] = [];
      const sink = new FieldEncoder(
        { delimiter, encoding: 'utf-8' },
        own,
        false,
        (bytes, length) => {
          records.push(Buffer.from(bytes.subarray(0, length)), Buffer.from('\n'));
        },
      );
      for (const fields of written) {
        for (const text of fields) sink.put(text);
        sink.endPlace();
      }
      const csv = Buffer.concat(records);
      const read = parse(csv, {
        delimiter,
        record_delimiter: ['\r\n', '\n', '\r'],
        relax_column_count: true,
      });
      assert.deepEqual(read, written);
    }),
    { numRuns: 300 },
  );
});
