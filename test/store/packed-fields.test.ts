import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Field } from '../../src/contract/answer.ts';
import { FieldPacker, skipFields, type Texts } from '../../src/store/answers/packed-fields.ts';
import { fc } from '../properties.ts';

function back(packer: FieldPacker, fields: readonly Field[]): Field[] {
  const packed = Buffer.concat([Buffer.alloc(3), packer.pack(fields)]);
  assert.equal(skipFields(packed, 3, fields.length), packed.length);
  return packer.unpack(packed, 3, fields.length);
}

const time = fc
  .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString());

const field: fc.Arbitrary<Field> = fc.oneof(
  fc.constant(null),
  fc.integer({ min: -300, max: 300 }),
  fc.integer(),
  fc.integer({ min: -3e9, max: 3e9 }).map((millionths) => millionths / 1e6),
  fc.double(),
  time,
  fc.string({ unit: 'binary' }),
  fc.constantFrom('Very Low', 'ok', '', '\ud800', '2026-02-30T00:00:00.000Z', '-271821-04-20T00:00:00.000Z'),
);

test('every field comes back as it was, to the bit', () => {
  const packer = new FieldPacker(textsInMemory());
  fc.assert(
    fc.property(fc.array(field, { maxLength: 80 }), (fields) => {
      assert.deepStrictEqual(back(packer, fields), fields);
    }),
    { numRuns: 500 },
  );
  const edges = [-0, 0, 2 ** 31, -(2 ** 31), 1e-7, -1e-6, 0.1 + 0.2, Number.MAX_VALUE, Number.MIN_VALUE, 255, 256];
  assert.deepStrictEqual(back(packer, edges), edges);
});

test('texts that get no number, and texts of any length, come back too', () => {
  const packer = new FieldPacker(textsInMemory(1));
  const texts = ['ok', 'x'.repeat(10_000), 'y', 'ok', 'é'.repeat(50_000)];
  assert.deepEqual(back(packer, texts), texts);
});

/** Numbers the first texts and no others. */
function textsInMemory(most = 300): Texts {
  const texts: string[] = [];
  return {
    numberOf(text) {
      if (!texts.includes(text) && texts.length < most) texts.push(text);
      return texts.indexOf(text);
    },
    textOf: (number) => texts[number]!,
  };
}
