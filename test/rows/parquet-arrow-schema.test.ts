import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extendArrowSchema } from '../../src/rows/parquet/arrow-schema.ts';
import type { AddedColumn } from '../../src/rows/port.ts';
import { ALL_TYPES } from './parquet-fixture.ts';

/** What Arrow writes for the columns id (int32) and name (utf8). */
const KEY =
  '/////7gAAAAQAAAAAAAKABAADgAHAAgACgAAAAAAAAEQAAAAAAAEAAgACAAAAAQACAAAAAQAAAACAAAASAAAAAQAAADQ////FAAAAAAAAAEYAAAAAAAABRgAAAAEAAAAbmFtZQAAAAAAAAAABAAEAAQAAAAQABgABAALABMAFAAAAAwAEAAAABQAAAAAAAABFAAAAAAAAAIYAAAAAgAAAGlkAAAAAAAACAAMAAgABwAIAAAAAAAAASAAAAAAAAAA';
const NAMES = ['id', 'name'];

const extended = (
  value: string,
  kept: readonly string[],
  added: readonly AddedColumn[],
  extendPandas: (metadata: string) => string | null = assert.fail,
) => extendArrowSchema(value, kept, added, extendPandas);

test('an Arrow schema gets the added columns once, in a run over its own output too', () => {
  const value = extended(KEY, NAMES, ALL_TYPES)!;
  const bytes = Buffer.from(value, 'base64');
  for (const { name } of ALL_TYPES) assert.ok(bytes.includes(name), name);
  assert.equal(bytes.readInt32LE(0), -1);
  assert.equal(bytes.readUInt32LE(4), bytes.length - 8);
  assert.equal(extended(value, NAMES, ALL_TYPES), value);
  // As Arrow wrote it before 0.15.
  const old = Buffer.from(KEY, 'base64').subarray(4).toString('base64');
  assert.equal(extended(old, NAMES, ALL_TYPES), value);
  const all = [...NAMES, ...ALL_TYPES.map(({ name }) => name)];
  const more = extended(value, all, [{ name: 'one_more', type: 'count' }])!;
  assert.ok(extended(more, [...all, 'one_more'], [])!.length > 0);
});

test('an Arrow schema of other columns, or one that cannot be read, is left out', () => {
  assert.equal(extended(KEY, ['name', 'id'], ALL_TYPES), null);
  assert.equal(extended(KEY, [...NAMES, 'more'], ALL_TYPES), null);
  assert.equal(extended('', NAMES, ALL_TYPES), null);
  assert.equal(extended('damaged', NAMES, ALL_TYPES), null);
  const cut = Buffer.from(KEY, 'base64').subarray(0, 60).toString('base64');
  assert.equal(extended(cut, NAMES, ALL_TYPES), null);
});

/** What Arrow writes for the column id (int32), with the texts of three programs: a, pandas and z. */
const WITH_PANDAS =
  '//////gAAAAQAAAAAAAKAA4ABgAFAAgACgAAAAABBAAQAAAAAAAKAAwAAAAEAAgACgAAAHwAAAAEAAAAAwAAAFQAAAAkAAAABAAAAMD///8QAAAABAAAAAEAAAB5AAAAAQAAAHoAAADc////FAAAAAQAAAAGAAAAUEFOREFTAAAGAAAAcGFuZGFzAAAIAAwABAAIAAgAAAAQAAAABAAAAAEAAABiAAAAAQAAAGEAAAABAAAAFAAAABAAFAAIAAYABwAMAAAAEAAQAAAAAAABAhAAAAAcAAAABAAAAAAAAAACAAAAaWQAAAgADAAIAAcACAAAAAAAAAEgAAAAAAAAAA==';

test('what pandas says of the columns stands in an Arrow schema, too, and is extended each time', () => {
  const seen: string[] = [];
  const extend = (metadata: string) => {
    seen.push(metadata);
    return `${metadata}+`;
  };
  const value = extended(WITH_PANDAS, ['id'], ALL_TYPES, extend)!;
  const again = extended(value, ['id'], ALL_TYPES, extend)!;
  const all = ['id', ...ALL_TYPES.map(({ name }) => name)];
  extended(again, all, [{ name: 'one_more', type: 'count' }], extend);
  assert.deepEqual(seen, ['PANDAS', 'PANDAS+', 'PANDAS++']);
  // One that cannot be read is left out.
  const without = extended(WITH_PANDAS, ['id'], ALL_TYPES, () => null)!;
  assert.ok(extended(without, ['id'], ALL_TYPES)!.length > 0);
});
