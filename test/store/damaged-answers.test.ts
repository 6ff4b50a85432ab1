import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { withoutRejections } from '../../src/store/answers/cell-answers.ts';
import { cellRecords } from '../../src/store/answers/stored-cells.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openCells } from './open-cells.ts';

/** One of each shape that a field can take as bytes. */
const FIELDS = [null, 0.1, 1_000_000, 0.638835, 7, '2026-03-10T12:00:00.000Z', 'Very High', 'x'.repeat(300), 'a note'];
const CELL = { lat7: 1, lng7: 2 };

const damage = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), byte: fc.integer({ min: 1, max: 255 }) }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(), byte: fc.constant(0) }),
  fc.record({ kind: fc.constant('add' as const), at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }) }),
);

/* SQLite looks at the shape of its pages only, and gives back a row's bytes whatever they have become. */

test('bytes of a cell that are not as they were written end in an error of the store, or in fields of the right kinds', (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  const cells = openCells(file, () => FIELDS.length);
  const { handle: database } = cells;
  t.after(() => database.close());
  cells.merge(
    1,
    CELL,
    (['drought', 'hail'] as const).map((topic) => ({ topic, asOf: 1_700_000_000_000, fields: FIELDS })),
    [{ topic: 'wildfire', reason: 'unavailable', note: 'down', at: 5 }],
  );
  const row = database.prepare('SELECT answers, failures FROM cells').get() as { answers: Buffer; failures: string };
  const setAnswers = database.prepare('UPDATE cells SET answers = ?, failures = ?');
  const wanted = (['drought', 'hail'] as const).map((topic) => ({ topic, freshSince: 0, fields: FIELDS.length }));
  let refused = 0;
  let read = 0;
  const readAll = () => {
    const record = cells.read(1, CELL)!;
    for (const { fields, asOf } of record.answers.values()) {
      assert.ok(Number.isSafeInteger(asOf));
      assert.equal(fields.length, FIELDS.length);
    }
    const [picked] = cells.readWanted(1, [CELL], wanted);
    const packed = picked && 'fields' in picked ? picked.fields() : [];
    for (const field of [...packed, ...[...record.answers.values()].flatMap(({ fields }) => fields)]) {
      assert.ok(field === null || ['string', 'number'].includes(typeof field), `${field} is no field`);
    }
    read += 1;
  };
  readAll();
  fc.assert(
    fc.property(fc.array(damage, { minLength: 1, maxLength: 3 }), fc.boolean(), (damages, failuresToo) => {
      let bytes = Buffer.from(row.answers);
      for (const { kind, at, byte } of damages) {
        const place = at % (bytes.length + 1);
        if (kind === 'flip' && place < bytes.length) bytes[place]! ^= byte;
        if (kind === 'cut') bytes = bytes.subarray(0, place);
        if (kind === 'add') bytes = Buffer.concat([bytes.subarray(0, place), Buffer.of(byte), bytes.subarray(place)]);
      }
      setAnswers.run(bytes, failuresToo ? row.failures.slice(0, -1) : row.failures);
      try {
        readAll();
      } catch (error) {
        assert.ok(error instanceof PerilbookError && error.code === 'STORE_UNUSABLE', String(error));
        refused += 1;
      }
    }),
    { numRuns: 800 },
  );
  t.diagnostic(`${refused} refused, ${read - 1} read`);
});

test('a cell that is cut anywhere but between two answers is refused, not taken for one that lacks answers', (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  const cells = openCells(file, () => FIELDS.length);
  const { handle: database } = cells;
  t.after(() => database.close());
  for (const topic of ['drought', 'hail'] as const) cells.merge(1, CELL, [{ topic, asOf: 1, fields: FIELDS }], []);
  const whole = database.prepare<[], Buffer>('SELECT answers FROM cells').pluck().get()!;
  const setAnswers = database.prepare('UPDATE cells SET answers = ?');
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

test('an answer that is longer than its fields is refused, whether all of its fields are read or picked', (t) => {
  const cells = openCells(join(temporaryFolder(t), 'store.db'));
  t.after(() => cells.handle.close());
  cells.merge(1, CELL, [{ topic: 'hail', asOf: 1, fields: FIELDS }], []);
  const whole = cells.handle.prepare<[], Buffer>('SELECT answers FROM cells').pluck().get()!;
  // The last four bytes of the header are the size.
  whole.writeUInt32LE(whole.readUInt32LE(9) + 1, 9);
  cells.handle.prepare('UPDATE cells SET answers = ?').run(Buffer.concat([whole, Buffer.of(0)]));
  assert.throws(() => cells.read(1, CELL), { code: 'STORE_UNUSABLE' });
  const wanted = [{ topic: 'hail' as const, freshSince: 0, fields: FIELDS.length }];
  assert.throws(() => cells.readWanted(1, [CELL], wanted), { code: 'STORE_UNUSABLE' });
});

test('cells in another order than they were asked for are an error: no paid answer goes to another cell', (t) => {
  const { handle, tables } = openCells(join(temporaryFolder(t), 'store.db'));
  t.after(() => handle.close());
  for (const other of [{ lat7: 3 }, { lng7: 3 }]) {
    const row = { ...CELL, ...other, answers: Buffer.alloc(0), failures: null };
    assert.throws(() => cellRecords(tables, 1, [CELL]).take([[row], []]), /in another order/);
  }
});

test('rejections leave the failures of a cell, and damaged failures stay as they are', () => {
  const rejected = '"hail":["rejected","",1]';
  const other = '"drought":["unavailable","down",2]';
  for (const [failures, rest] of [
    [`{${rejected}}`, null],
    [`{${rejected},${other}}`, `{${other}}`],
    [`{ ${other} }`, `{ ${other} }`],
    [`{${rejected}`, `{${rejected}`],
  ] as const) {
    assert.equal(withoutRejections(failures), rest);
  }
});
