import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Answer, Field } from '../../src/contract/answer.ts';
import { NATURAL_SLUGS, type TopicSlug } from '../../src/contract/topics.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openCells } from './open-cells.ts';

const TOPICS = NATURAL_SLUGS.slice(0, 5);
const CELL = { lat7: 1, lng7: 2 };

const time = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });
const field: fc.Arbitrary<Field> = fc.oneof(
  fc.constant(null),
  fc.integer({ min: -300, max: 300 }),
  fc.integer(),
  fc.integer({ min: -3e9, max: 3e9 }).map((millionths) => millionths / 1e6),
  fc.double(),
  time.map((date) => date.toISOString()),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('Very Low', '\0', '\ud800', '', '2026-02-30T00:00:00.000Z', '-271821-04-20T00:00:00.000Z'),
);

const answers: fc.Arbitrary<Answer[]> = fc.uniqueArray(
  fc.record({
    topic: fc.constantFrom(...TOPICS),
    asOf: fc.integer({ min: 0, max: 9 }),
    fields: fc.array(field, { minLength: 1, maxLength: 5 }),
  }),
  { selector: ({ topic }) => topic, minLength: 1, maxLength: TOPICS.length },
);

test('the newest answer of each topic is read, whatever was stored before', (t) => {
  const { handle, read, merge } = openCells(join(temporaryFolder(t), 'store.db'));
  t.after(() => handle.close());
  let number = 0;
  fc.assert(
    fc.property(fc.array(answers, { minLength: 1, maxLength: 4 }), (told) => {
      const cell = { lat7: ++number, lng7: 0 };
      const newest = new Map<TopicSlug, Answer>();
      for (const batch of told) {
        merge(1, cell, batch, []);
        for (const answer of batch) {
          if (answer.asOf >= (newest.get(answer.topic)?.asOf ?? -1)) newest.set(answer.topic, { ...answer });
        }
      }
      assert.deepStrictEqual(read(1, cell)?.answers ?? new Map(), newest);
    }),
    { numRuns: 100 },
  );
});

test('numbers at the limits of a kind, and texts of any length and number, come back to the bit', (t) => {
  const { handle, read, merge } = openCells(join(temporaryFolder(t), 'store.db'));
  t.after(() => handle.close());
  const numbers = [-0, 0, 2 ** 31, -(2 ** 31), 1e-7, -1e-6, 0.1 + 0.2, Number.MAX_VALUE, Number.MIN_VALUE, 255, 256];
  // The first 248 texts take a byte each.
  for (const topic of ['hail', 'drought'] as const) {
    const texts = Array.from({ length: 200 }, (_, number) => `${topic} ${number}`);
    const fields = [...numbers, ...texts, 'x'.repeat(10_000), 'é'.repeat(50_000), `${topic} 1`];
    merge(1, CELL, [{ topic, asOf: 1, fields }], []);
    assert.deepStrictEqual(read(1, CELL)!.answers.get(topic)!.fields, fields);
  }
});

test('of cells that have all that is wanted only that comes; the others come as `read` gives them', (t) => {
  const widths = new Map<TopicSlug, number | null>(TOPICS.map((topic, index) => [topic, index < 3 ? null : index]));
  const cells = openCells(join(temporaryFolder(t), 'store.db'), (topic) => widths.get(topic) ?? null);
  t.after(() => cells.handle.close());
  const wanted = fc.uniqueArray(
    fc.record({
      topic: fc.constantFrom(...TOPICS),
      freshSince: fc.integer({ min: 0, max: 4 }),
      fields: fc.integer({ min: 0, max: 2 }),
    }),
    { selector: ({ topic }) => topic, minLength: 1, maxLength: 3 },
  );
  let number = 0;
  let [whole, lacking] = [0, 0];
  fc.assert(
    fc.property(answers, wanted, (told, wants) => {
      const cell = { lat7: ++number, lng7: 0 };
      cells.merge(1, cell, told, []);
      const record = cells.read(1, cell);
      const found = wants.map(({ topic, freshSince, fields }) => {
        const answer = record?.answers.get(topic);
        return answer && answer.asOf >= freshSince && answer.fields.length >= fields ? answer : null;
      });
      const [complete] = cells.readWanted(1, [cell], wants);
      if (found.some((answer) => answer === null)) {
        lacking++;
        assert.deepStrictEqual(complete, record);
        return;
      }
      whole++;
      assert.ok(complete && 'fields' in complete);
      assert.equal(complete.asOf, Math.min(...found.map((answer) => answer!.asOf)));
      const expected = found.flatMap((answer, index) => answer!.fields.slice(0, wants[index]!.fields));
      assert.deepStrictEqual(complete.fields(), expected);
    }),
    { numRuns: 120 },
  );
  assert.ok(whole > 10 && lacking > 10, `${whole} whole, ${lacking} lacking`);
});

test('a transaction that is rolled back takes its texts along: their numbers go to others', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  const { handle, merge, read } = openCells(file);
  t.after(() => handle.close());
  const told = (rating: string): Answer[] => [{ topic: 'hail', asOf: 1, fields: [rating] }];
  assert.throws(() =>
    handle.transaction(() => {
      merge(1, CELL, told('lost'), []);
      throw new Error('rolled back');
    })(),
  );
  const other = openCells(file);
  other.merge(1, CELL, told('kept'), []);
  other.handle.close();
  merge(1, { lat7: 3, lng7: 4 }, told('lost'), []);
  assert.deepEqual(read(1, CELL)!.answers.get('hail')!.fields, ['kept']);
  assert.deepEqual(read(1, { lat7: 3, lng7: 4 })!.answers.get('hail')!.fields, ['lost']);
});

test('topics of another version are not read', (t) => {
  const { handle, merge, read } = openCells(join(temporaryFolder(t), 'store.db'));
  t.after(() => handle.close());
  const topic = 'landslip' as TopicSlug;
  const known = { topic: 'hail', asOf: 1, fields: [1] } as const;
  merge(1, CELL, [{ topic, asOf: 1, fields: [1] }, known], [{ topic, reason: 'rejected', note: '', at: 1 }]);
  assert.deepEqual(read(1, CELL), { answers: new Map([['hail', known]]), failures: new Map() });
});
