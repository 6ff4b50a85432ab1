import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParquetFile } from '../../src/rows/parquet/footer.ts';
import { CHUNK, CHUNK_META, OFFSET_INDEX, PAGE_LOCATION } from '../../src/rows/parquet/format.ts';
import { droppedRanges, movedChunk, movedOffsetIndex, positionsWithout } from '../../src/rows/parquet/moved-body.ts';
import {
  type FieldDefinition,
  makeStruct,
  readThrift,
  setField,
  THRIFT,
  type ThriftField,
  writeThrift,
} from '../../src/rows/parquet/thrift.ts';

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
  const chunkAt = (at: number, ...indexes: ThriftField[]) => {
    const meta = makeStruct(...[dataStart, indexStart, dictionaryStart, bloomFilter].map((field) => field.make(at)));
    return makeStruct(CHUNK.start.make(at), CHUNK.meta.make(meta), ...indexes);
  };
  const indexes = (offsetIndex: number, size: number, columnIndex: number) => [
    ...[CHUNK.offsetIndex.make(offsetIndex), CHUNK.offsetIndexSize.make(size)],
    ...[CHUNK.columnIndex.make(columnIndex), CHUNK.columnIndexSize.make(8)],
  ];
  const chunk = chunkAt(200, ...indexes(400, 9, 500));
  assert.deepEqual(movedChunk(chunk, moved), chunkAt(150, ...indexes(340, 9, 440)));
  assert.deepEqual(movedChunk(chunk, moved, { start: 700, end: 712 }), chunkAt(150, ...indexes(700, 12, 440)));
  assert.deepEqual(movedChunk(chunk, moved, null), chunkAt(150));
  // The input's description is unchanged: a second run reads the same file by it.
  assert.deepEqual(chunk, chunkAt(200, ...indexes(400, 9, 500)));
});

/** A chunk of some bytes, and where its indexes and its bloom filter begin (each 5 bytes). */
interface DrawnChunk {
  readonly at: number;
  readonly size: number;
  readonly offsetIndex?: number;
  readonly columnIndex?: number;
  readonly bloom?: number;
}

/** A file of two columns, the first of which is kept; each group has a chunk of both. */
function drawnFile(
  groups: readonly (readonly [kept: DrawnChunk, replaced: DrawnChunk])[],
  bodyEnd = 1000,
): ParquetFile {
  const part = (start: number | undefined, field: FieldDefinition<number>, size: FieldDefinition<number>) =>
    start === undefined ? [] : [field.make(start), size.make(5)];
  const chunkOf = ({ at, size, offsetIndex, columnIndex, bloom }: DrawnChunk) => {
    const meta = makeStruct(
      ...[CHUNK_META.values.make(1), CHUNK_META.size.make(size), CHUNK_META.dataStart.make(at)],
      ...part(bloom, CHUNK_META.bloomFilter, CHUNK_META.bloomFilterSize),
    );
    return makeStruct(
      ...[CHUNK.start.make(0), CHUNK.meta.make(meta)],
      ...part(offsetIndex, CHUNK.offsetIndex, CHUNK.offsetIndexSize),
      ...part(columnIndex, CHUNK.columnIndex, CHUNK.columnIndexSize),
    );
  };
  const leaves = [0, 1].map((index) => ({ name: `column ${index}`, leaf: { index } }));
  return { leaves, bodyEnd, rowGroups: groups.map((chunks) => ({ rows: 1, chunks: chunks.map(chunkOf) })) } as never;
}

test('dropped are the pages, indexes and bloom filters of replaced columns alone, and nothing where parts overlap', () => {
  const kept = { at: 4, size: 96, offsetIndex: 500, columnIndex: 510, bloom: 600 };
  const dropped = (...groups: (readonly [DrawnChunk, DrawnChunk])[]) =>
    droppedRanges(drawnFile(groups), 1)
      .map(({ start, end }) => `${start} to ${end}`)
      .join(', ');
  assert.equal(dropped([kept, { at: 100, size: 50 }]), '100 to 150');
  const indexed = { at: 100, size: 50, offsetIndex: 505, columnIndex: 515, bloom: 605 };
  assert.equal(dropped([kept, indexed]), '100 to 150, 505 to 510, 515 to 520, 605 to 610');
  // Neighbours are one range, in whatever order the file has its parts.
  const before = { at: 150, size: 50, bloom: 145 };
  const behind = { at: 300, size: 100 };
  assert.equal(dropped([kept, before], [{ at: 200, size: 9 }, behind]), '145 to 200, 300 to 400');
  assert.equal(dropped([kept, { at: 99, size: 50 }]), '', 'it begins in a kept chunk');
  assert.equal(dropped([kept, { at: 100, size: 50, bloom: 3 }]), '', 'it begins in the mark of the file');
  assert.equal(dropped([kept, { at: 100, size: 50, bloom: 998 }]), '', 'it ends behind the body');
  assert.equal(dropped([kept, { at: 100, size: 0 }]), '', 'it has no bytes');
});

test('a size of a bloom filter that is no number refuses no file: nothing moves', () => {
  const file = drawnFile([
    [
      { at: 4, size: 96, bloom: 600 },
      { at: 100, size: 50 },
    ],
  ]);
  const meta = CHUNK.meta.read(file.rowGroups[0]!.chunks[0]!)!;
  setField(meta, { id: CHUNK_META.bloomFilterSize.id, type: THRIFT.BYTE, value: 1 });
  assert.deepEqual(droppedRanges(file, 1), []);
  assert.deepEqual(droppedRanges(file, 2), []);
});
