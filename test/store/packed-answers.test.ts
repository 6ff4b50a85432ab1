import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import type { Answer, Field } from '../../src/contract/answer.ts';
import { NATURAL_SLUGS, type TopicSlug } from '../../src/contract/topics.ts';
import { withoutRejections } from '../../src/store/answers/cell-answers.ts';
import { cellRecords } from '../../src/store/answers/stored-cells.ts';
import { anyCharacter, fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openCells } from './open-cells.ts';

const TOPICS = NATURAL_SLUGS.slice(0, 5);
const CELL = { lat7: 1, lng7: 2 };

const time = fc.date({
  min: new Date(0),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});
const field: fc.Arbitrary<Field> = fc.oneof(
  fc.constant(null),
  fc.integer({ min: -300, max: 300 }),
  fc.integer(),
  fc.integer({ min: -3e9, max: 3e9 }).map((millionths) => millionths / 1e6),
  fc.double(),
  time.map((date) => date.toISOString()),
  fc.string({ unit: anyCharacter }),
  fc.constantFrom(
    'Very Low',
    '\0',
    '\ud800',
    '',
    '2026-02-30T00:00:00.000Z',
    '-271821-04-20T00:00:00.000Z',
  ),
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
          if (answer.asOf >= (newest.get(answer.topic)?.asOf ?? -1))
            newest.set(answer.topic, { ...answer });
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
  const numbers = [
    -0,
    0,
    2 ** 31,
    -(2 ** 31),
    1e-7,
    -1e-6,
    0.1 + 0.2,
    Number.MAX_VALUE,
    Number.MIN_VALUE,
    255,
    256,
  ];
  // The first 248 texts take a byte each.
  for (const topic of ['hail', 'drought', 'tornado', 'tsunami'] as const) {
    const texts = Array.from({ length: 100 }, (_, number) => `${topic} ${number}`);
    const fields = [...numbers, ...texts, 'x'.repeat(10_000), 'é'.repeat(50_000), `${topic} 1`];
    merge(1, CELL, [{ topic, asOf: 1, fields }], []);
    assert.deepStrictEqual(read(1, CELL)!.answers.get(topic)!.fields, fields);
  }
});

test('of each cell come the wanted fields that it has, and of those that lack something the record', async (t) => {
  const widths = new Map<TopicSlug, number | null>(
    TOPICS.map((topic, index) => [topic, index < 3 ? null : index]),
  );
  const cells = openCells(
    join(temporaryFolder(t), 'store.db'),
    (topic) => widths.get(topic) ?? null,
  );
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
  await fc.assert(
    fc.asyncProperty(answers, wanted, async (told, wants) => {
      const cell = { lat7: ++number, lng7: 0 };
      cells.merge(1, cell, told, []);
      const record = cells.read(1, cell);
      const held = wants.map(({ topic, fields }) => {
        const answer = record?.answers.get(topic);
        return answer && answer.fields.length >= fields ? answer : null;
      });
      const isComplete = held.every(
        (answer, index) => answer !== null && answer.asOf >= wants[index]!.freshSince,
      );
      const [place] = await cells.readWanted(1, [cell], wants);
      if (isComplete) whole++;
      else lacking++;
      assert.equal(place!.isComplete, isComplete);
      const times = held.flatMap((answer) => (answer === null ? [] : [answer.asOf]));
      assert.equal(place!.asOf, times.length === 0 ? Number.NaN : Math.min(...times));
      const expected = held.flatMap(
        (answer, index) =>
          answer?.fields.slice(0, wants[index]!.fields) ??
          new Array<null>(wants[index]!.fields).fill(null),
      );
      assert.deepStrictEqual(place!.fields, expected);
      const firsts = held.flatMap((answer, index) =>
        (answer?.fields ?? []).slice(0, Math.min(1, wants[index]!.fields)),
      );
      // Only of a complete place whose answers all begin with a value is there nothing to say.
      if (!isComplete || firsts.some((field) => field === null)) {
        if (place!.record !== null) assert.deepStrictEqual(place!.record, record);
        else assert.ok(isComplete);
      } else assert.equal(place!.record, null);
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

test('a store numbers 4,096 texts, and each topic beyond them; more texts are stored in their cells', (t) => {
  const { handle, merge, read } = openCells(join(temporaryFolder(t), 'store.db'));
  t.after(() => handle.close());
  const textsOf = (cell: number) => Array.from({ length: 125 }, (_, number) => `${cell} ${number}`);
  const put = (cell: number, topic: TopicSlug, fields: Field[]) =>
    merge(1, { lat7: cell, lng7: 0 }, [{ topic, asOf: 1, fields }], []);
  for (let cell = 0; cell < 36; cell++) put(cell, 'hail', textsOf(cell));
  const stored = handle.prepare<[], string>('SELECT text FROM texts ORDER BY number').pluck();
  const [first, ...others] = stored.all();
  assert.deepEqual(
    [first, others],
    [
      'hail',
      Array.from({ length: 36 }, (_, cell) => textsOf(cell))
        .flat()
        .slice(0, 4095),
    ],
  );
  put(36, 'drought', ['text of a later topic', 'x'.repeat(201), '35 124']);
  assert.deepEqual(stored.all().slice(4096), ['drought']);
  for (let cell = 0; cell < 36; cell++) {
    assert.deepEqual(read(1, { lat7: cell, lng7: 0 })!.answers.get('hail')!.fields, textsOf(cell));
  }
  assert.equal(read(1, { lat7: 36, lng7: 0 })!.answers.get('drought')!.fields[2], '35 124');
});

test('a text that is missing is told as damage of the store, with the name of the store', (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  const { handle, merge } = openCells(file);
  merge(1, CELL, [{ topic: 'hail', asOf: 1, fields: ['Very Low'] }], []);
  handle.exec("DELETE FROM texts WHERE text = 'Very Low'").close();
  const { handle: again, read } = openCells(file);
  t.after(() => again.close());
  assert.throws(() => read(1, CELL), {
    code: 'STORE_UNUSABLE',
    message: `The store ${file} is damaged: a text of answers (number 1) changed since it was written`,
  });
});

test('a bit that changes anywhere in a place, its failures or a text is found; a row without a checksum is read', (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  const opened = openCells(file, () => FIELDS.length);
  opened.merge(
    1,
    CELL,
    [{ topic: 'hail', asOf: 1, fields: FIELDS }],
    [{ topic: 'park', reason: 'failed', note: 'x', at: 1 }],
  );
  const { handle } = opened;
  t.after(() => handle.close());
  const whole = handle
    .prepare<[], { answers: Buffer; failures: string }>('SELECT answers, failures FROM cells')
    .get()!;
  const set = handle.prepare('UPDATE cells SET answers = ?, failures = ?');
  /** As the next process reads it: texts are kept in memory. */
  const readAnew = () => {
    const other = openCells(file, () => FIELDS.length);
    try {
      other.read(1, CELL);
    } finally {
      other.handle.close();
    }
  };
  const isRefused = (read: () => unknown = readAnew) => {
    try {
      read();
      return false;
    } catch (error) {
      assert.ok(error instanceof PerilbookError && error.code === 'STORE_UNUSABLE', String(error));
      assert.match(error.hint, /cache prune --damaged/);
      return true;
    }
  };
  for (let bit = 0; bit < whole.answers.length * 8; bit++) {
    const changed = Buffer.from(whole.answers);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    set.run(changed, whole.failures);
    assert.ok(
      isRefused(() => opened.read(1, CELL)),
      `bit ${bit}`,
    );
  }
  set.run(whole.answers, whole.failures.replace('failed', 'gailed'));
  assert.ok(isRefused());
  set.run(whole.answers, whole.failures);
  assert.equal(isRefused(), false);
  handle.exec("UPDATE texts SET text = 'Vary High' WHERE text = 'Very High'");
  assert.ok(isRefused());
  handle.exec(
    "UPDATE texts SET text = 'Very High' WHERE text = 'Vary High'; UPDATE cells SET checksum = NULL",
  );
  assert.equal(isRefused(), false);
});

test('topics of another version are not read', (t) => {
  const { handle, merge, read } = openCells(join(temporaryFolder(t), 'store.db'));
  t.after(() => handle.close());
  const topic = 'landslip' as TopicSlug;
  const known = { topic: 'hail', asOf: 1, fields: [1] } as const;
  merge(
    1,
    CELL,
    [{ topic, asOf: 1, fields: [1] }, known],
    [{ topic, reason: 'rejected', note: '', at: 1 }],
  );
  assert.deepEqual(read(1, CELL), { answers: new Map([['hail', known]]), failures: new Map() });
});

/** One of each shape that a field can take as bytes. */
const FIELDS = [
  null,
  0.1,
  1_000_000,
  0.638835,
  7,
  '2026-03-10T12:00:00.000Z',
  'Very High',
  'x'.repeat(300),
  'a note',
];

const damage = fc.oneof(
  fc.record({
    kind: fc.constant('flip' as const),
    at: fc.nat(),
    byte: fc.integer({ min: 1, max: 255 }),
  }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(), byte: fc.constant(0) }),
  fc.record({
    kind: fc.constant('add' as const),
    at: fc.nat(),
    byte: fc.integer({ min: 0, max: 255 }),
  }),
);

/* SQLite looks at the shape of its pages only, and gives back a row's bytes whatever they have become. */

test('bytes of a cell that are not as they were written end in an error of the store, or in fields of the right kinds', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  const cells = openCells(file, () => FIELDS.length);
  const { handle: database } = cells;
  t.after(() => database.close());
  cells.merge(
    1,
    CELL,
    (['drought', 'hail'] as const).map((topic) => ({
      topic,
      asOf: 1_700_000_000_000,
      fields: FIELDS,
    })),
    [{ topic: 'wildfire', reason: 'unavailable', note: 'down', at: 5 }],
  );
  const row = database.prepare('SELECT answers, failures FROM cells').get() as {
    answers: Buffer;
    failures: string;
  };
  const setAnswers = database.prepare(
    'UPDATE cells SET answers = ?, failures = ?, checksum = NULL',
  );
  const wanted = (['drought', 'hail'] as const).map((topic) => ({
    topic,
    freshSince: 0,
    fields: FIELDS.length,
  }));
  let refused = 0;
  let read = 0;
  const readAll = async () => {
    const record = cells.read(1, CELL)!;
    for (const { fields, asOf } of record.answers.values()) {
      assert.ok(Number.isSafeInteger(asOf));
      assert.equal(fields.length, FIELDS.length);
    }
    const [picked] = await cells.readWanted(1, [CELL], wanted);
    const packed = picked?.fields ?? [];
    for (const field of [
      ...packed,
      ...[...record.answers.values()].flatMap(({ fields }) => fields),
    ]) {
      assert.ok(
        field === null || ['string', 'number'].includes(typeof field),
        `${field} is no field`,
      );
    }
    read += 1;
  };
  await readAll();
  await fc.assert(
    fc.asyncProperty(
      fc.array(damage, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      async (damages, failuresToo) => {
        let bytes = Buffer.from(row.answers);
        for (const { kind, at, byte } of damages) {
          const place = at % (bytes.length + 1);
          if (kind === 'flip' && place < bytes.length) bytes[place]! ^= byte;
          if (kind === 'cut') bytes = bytes.subarray(0, place);
          if (kind === 'add')
            bytes = Buffer.concat([
              bytes.subarray(0, place),
              Buffer.of(byte),
              bytes.subarray(place),
            ]);
        }
        setAnswers.run(bytes, failuresToo ? row.failures.slice(0, -1) : row.failures);
        try {
          await readAll();
        } catch (error) {
          assert.ok(
            error instanceof PerilbookError && error.code === 'STORE_UNUSABLE',
            String(error),
          );
          refused += 1;
        }
      },
    ),
    { numRuns: 800 },
  );
  t.diagnostic(`${refused} refused, ${read - 1} read`);
});

test('a cell that is cut anywhere but between two answers is refused, not taken for one that lacks answers', (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  const cells = openCells(file, () => FIELDS.length);
  const { handle: database } = cells;
  t.after(() => database.close());
  for (const topic of ['drought', 'hail'] as const)
    cells.merge(1, CELL, [{ topic, asOf: 1, fields: FIELDS }], []);
  const whole = database.prepare<[], Buffer>('SELECT answers FROM cells').pluck().get()!;
  const setAnswers = database.prepare('UPDATE cells SET answers = ?, checksum = NULL');
  const kept: number[] = [];
  for (let length = 0; length <= whole.length; length++) {
    setAnswers.run(whole.subarray(0, length));
    try {
      kept.push(cells.read(1, CELL)!.answers.size);
    } catch (error) {
      assert.ok(error instanceof PerilbookError && error.code === 'STORE_UNUSABLE', String(error));
    }
  }
  assert.deepEqual(kept, [0, 1, 2]);
});

test('an answer that is longer than its fields is refused, whether all of its fields are read or picked', async (t) => {
  const cells = openCells(join(temporaryFolder(t), 'store.db'));
  t.after(() => cells.handle.close());
  cells.merge(1, CELL, [{ topic: 'hail', asOf: 1, fields: FIELDS }], []);
  const whole = cells.handle.prepare<[], Buffer>('SELECT answers FROM cells').pluck().get()!;
  // The last four bytes of the header are the size.
  whole.writeUInt32LE(whole.readUInt32LE(9) + 1, 9);
  cells.handle
    .prepare('UPDATE cells SET answers = ?, checksum = NULL')
    .run(Buffer.concat([whole, Buffer.of(0)]));
  assert.throws(() => cells.read(1, CELL), { code: 'STORE_UNUSABLE' });
  const wanted = [{ topic: 'hail' as const, freshSince: 0, fields: FIELDS.length }];
  await assert.rejects(cells.readWanted(1, [CELL], wanted), { code: 'STORE_UNUSABLE' });
});

test('cells in another order than they were asked for are an error: no paid answer goes to another cell', (t) => {
  const { handle, tables } = openCells(join(temporaryFolder(t), 'store.db'));
  t.after(() => handle.close());
  for (const other of [{ lat7: 3 }, { lng7: 3 }]) {
    const row = { ...CELL, ...other, answers: Buffer.alloc(0), failures: null };
    assert.throws(() => cellRecords(tables, 1, [CELL]).take([[row], []]), /in another order/);
  }
});

test('rejections leave the failures of a cell, and damaged failures are told', () => {
  const rejected = '"hail":["rejected","",1]';
  const other = '"drought":["unavailable","down",2]';
  for (const [failures, rest] of [
    [`{${rejected}}`, null],
    [`{${rejected},${other}}`, `{${other}}`],
    [`{${other}}`, `{${other}}`],
  ] as const) {
    assert.equal(withoutRejections(failures), rest);
  }
  assert.throws(() => withoutRejections(`{${rejected}`), { code: 'STORE_UNUSABLE' });
});

test('what a service states of its data comes back with each answer, and never as a field', async (t) => {
  const widths = new Map<TopicSlug, number>(TOPICS.map((topic, index) => [topic, index + 1]));
  const cells = openCells(join(temporaryFolder(t), 'store.db'), (topic) => widths.get(topic)!);
  t.after(() => cells.handle.close());
  const one = fc.constantFrom(...TOPICS).chain((topic) =>
    fc.record({
      topic: fc.constant(topic),
      asOf: fc.constant(1),
      fields: fc.array(field, { minLength: widths.get(topic)!, maxLength: widths.get(topic)! }),
      stated: fc.option(
        fc.constantFrom('[["nri 2025"],[]]', '[["areas 2024"],["x"]]', 'z'.repeat(300)),
        {
          nil: undefined,
        },
      ),
    }),
  );
  const told = fc.uniqueArray(one, { selector: ({ topic }) => topic, minLength: 1 });
  let number = 0;
  await fc.assert(
    fc.asyncProperty(told, fc.nat({ max: 2 }), async (answers, fewer) => {
      const cell = { lat7: ++number, lng7: 0 };
      const given = answers.map(({ stated, ...answer }) =>
        stated === undefined ? answer : { ...answer, stated },
      );
      cells.merge(1, cell, given, []);
      assert.deepStrictEqual([...cells.read(1, cell)!.answers.values()], given);
      const wanted = given.map(({ topic, fields }) => ({
        topic,
        freshSince: 0,
        fields: Math.max(0, fields.length - fewer),
      }));
      const [place] = await cells.readWanted(1, [cell], wanted);
      assert.deepStrictEqual(
        place!.fields,
        given.flatMap(({ fields }, index) => fields.slice(0, wanted[index]!.fields)),
      );
      assert.ok(place!.isComplete);
      // It is told with the form.
      if (answers.some(({ stated }) => stated !== undefined))
        assert.deepStrictEqual(place!.record, cells.read(1, cell));
      // A newer answer without it takes its place.
      const { stated: _, ...bare } = { ...answers[0]!, asOf: 2 };
      cells.merge(1, cell, [bare], []);
      assert.deepStrictEqual(cells.read(1, cell)!.answers.get(bare.topic), bare);
    }),
    { numRuns: 100 },
  );
});
