import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHUNK, CHUNK_META, OFFSET_INDEX, PAGE_LOCATION } from '../../src/rows/parquet/format.ts';
import { movedChunk, movedOffsetIndex, positionsWithout } from '../../src/rows/parquet/moved-body.ts';
import { makeStruct, readThrift, writeThrift } from '../../src/rows/parquet/thrift.ts';

const moved = positionsWithout([
  { start: 100, end: 150 },
  { start: 300, end: 310 },
]);

test('positions after dropped bytes move by all that is dropped before them', () => {
  assert.deepEqual([0, 4, 100, 150, 300, 305, 310, 999].map(moved), [0, 4, 100, 100, 250, 250, 250, 939]);
});

test('each position of a chunk moves, its offset index is where it is written anew, and a damaged one is left out', () => {
  const pages = [4, 200, 400].map((start) => makeStruct(PAGE_LOCATION.start.make(start)));
  const index = movedOffsetIndex(writeThrift(makeStruct(OFFSET_INDEX.pages.make(pages))), moved)!;
  const starts = OFFSET_INDEX.pages.read(readThrift(index).struct)!.map((page) => PAGE_LOCATION.start.read(page));
  assert.deepEqual(starts, [4, 150, 340]);
  assert.equal(movedOffsetIndex(Buffer.from([0xff, 0xff]), moved), null);

  const { dataStart, indexStart, dictionaryStart, bloomFilter } = CHUNK_META;
  const meta = makeStruct(...[dataStart, indexStart, dictionaryStart, bloomFilter].map((field) => field.make(200)));
  const chunk = makeStruct(
    ...[CHUNK.start.make(200), CHUNK.meta.make(meta), CHUNK.offsetIndex.make(400), CHUNK.offsetIndexSize.make(9)],
    ...[CHUNK.columnIndex.make(500), CHUNK.columnIndexSize.make(8)],
  );
  const positions = (of: typeof chunk) => [
    CHUNK.start.read(of),
    ...[dataStart, indexStart, dictionaryStart, bloomFilter].map((field) => field.read(CHUNK.meta.read(of)!)),
    ...[CHUNK.offsetIndex.read(of), CHUNK.offsetIndexSize.read(of)],
    ...[CHUNK.columnIndex.read(of), CHUNK.columnIndexSize.read(of)],
  ];
  const pagesMoved = [150, 150, 150, 150, 150];
  assert.deepEqual(positions(movedChunk(chunk, moved)), [...pagesMoved, 340, 9, 440, 8]);
  assert.deepEqual(positions(movedChunk(chunk, moved, { start: 700, end: 712 })), [...pagesMoved, 700, 12, 440, 8]);
  const none = [undefined, undefined, undefined, undefined];
  assert.deepEqual(positions(movedChunk(chunk, moved, null)), [...pagesMoved, ...none]);
  // The input's description is unchanged: a second run reads the same file by it.
  assert.deepEqual(positions(chunk), [200, 200, 200, 200, 200, 400, 9, 500, 8]);
});
