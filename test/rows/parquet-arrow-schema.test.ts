import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extendArrowSchema } from '../../src/rows/parquet/arrow-schema.ts';
import { ALL_TYPES } from './parquet-fixture.ts';

/** What Arrow writes for the columns id (int32) and name (utf8). */
const KEY =
  '/////7gAAAAQAAAAAAAKABAADgAHAAgACgAAAAAAAAEQAAAAAAAEAAgACAAAAAQACAAAAAQAAAACAAAASAAAAAQAAADQ////FAAAAAAAAAEYAAAAAAAABRgAAAAEAAAAbmFtZQAAAAAAAAAABAAEAAQAAAAQABgABAALABMAFAAAAAwAEAAAABQAAAAAAAABFAAAAAAAAAIYAAAAAgAAAGlkAAAAAAAACAAMAAgABwAIAAAAAAAAASAAAAAAAAAA';
const NAMES = ['id', 'name'];

test('an Arrow schema gets the added columns once, in a run over its own output too', () => {
  const value = extendArrowSchema(KEY, NAMES, ALL_TYPES)!;
  const bytes = Buffer.from(value, 'base64');
  for (const { name } of ALL_TYPES) assert.ok(bytes.includes(name), name);
  assert.equal(bytes.readInt32LE(0), -1);
  assert.equal(bytes.readUInt32LE(4), bytes.length - 8);
  assert.equal(extendArrowSchema(value, NAMES, ALL_TYPES), value);
  // As Arrow wrote it before 0.15.
  const old = Buffer.from(KEY, 'base64').subarray(4).toString('base64');
  assert.equal(extendArrowSchema(old, NAMES, ALL_TYPES), value);
  const all = [...NAMES, ...ALL_TYPES.map(({ name }) => name)];
  const more = extendArrowSchema(value, all, [{ name: 'one_more', type: 'count' }])!;
  assert.ok(extendArrowSchema(more, [...all, 'one_more'], [])!.length > 0);
});

test('an Arrow schema of other columns, or one that cannot be read, is left out', () => {
  assert.equal(extendArrowSchema(KEY, ['name', 'id'], ALL_TYPES), null);
  assert.equal(extendArrowSchema(KEY, [...NAMES, 'more'], ALL_TYPES), null);
  assert.equal(extendArrowSchema('', NAMES, ALL_TYPES), null);
  assert.equal(extendArrowSchema('damaged', NAMES, ALL_TYPES), null);
  const cut = Buffer.from(KEY, 'base64').subarray(0, 60).toString('base64');
  assert.equal(extendArrowSchema(cut, NAMES, ALL_TYPES), null);
});
