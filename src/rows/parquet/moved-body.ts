import { chunkRange, type ParquetFile } from './footer.ts';
import { CHUNK, CHUNK_META, OFFSET_INDEX, PAGE_LOCATION, ROW_GROUP } from './format.ts';
import { Damage, type FieldDefinition, makeStruct, readThrift, type ThriftStruct, writeThrift } from './thrift.ts';

/** A part of the file, from `start` up to `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The parts of the body that only columns after the kept ones use, in order: pages, page indexes and bloom filters. None where such a part
 * overlaps another one, or where its position cannot be read: then nothing moves, and readers find what they found before. */
export function droppedRanges(file: ParquetFile, leavesKept: number): readonly ByteRange[] {
  if (leavesKept === file.leaves.length) return [];
  try {
    return unsharedRanges(file, leavesKept);
  } catch (error) {
    if (error instanceof Damage) return [];
    throw error;
  }
}

function unsharedRanges(file: ParquetFile, leavesKept: number): readonly ByteRange[] {
  const used = file.rowGroups.flatMap((group) =>
    file.leaves.flatMap((leaf, index) => {
      const chunk = group.chunks[leaf.leaf!.index]!;
      const meta = CHUNK.meta.read(chunk)!;
      const isKept = index < leavesKept;
      return [
        chunkRange(file, group, leaf),
        rangeAt(CHUNK.offsetIndex.read(chunk), CHUNK.offsetIndexSize.read(chunk)),
        rangeAt(CHUNK.columnIndex.read(chunk), CHUNK.columnIndexSize.read(chunk)),
        rangeAt(CHUNK_META.bloomFilter.read(meta), CHUNK_META.bloomFilterSize.read(meta)),
      ].map(({ start, end }) => ({ start, end, isKept }));
    }),
  );
  const ranges = used.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start);
  const dropped: { start: number; end: number }[] = [];
  // After the mark at the beginning.
  let last = 4;
  for (const { start, end, isKept } of ranges) {
    if (start < last || end > file.bodyEnd) return [];
    const before = dropped.at(-1);
    if (!isKept && before?.end === start) before.end = end;
    else if (!isKept) dropped.push({ start, end });
    last = end;
  }
  return dropped;
}

const rangeAt = (start = 0, size = 0): ByteRange => ({ start, end: start + size });

export type NewPosition = (position: number) => number;

export function positionsWithout(dropped: readonly ByteRange[]): NewPosition {
  return (position) => {
    let left = position;
    for (const { start, end } of dropped) {
      if (start >= position) break;
      left -= Math.min(end, position) - start;
    }
    return left;
  };
}

/** The description of a chunk in the output. @param offsetIndex where its offset index is written anew; null: it has none any more */
export function movedChunk(chunk: ThriftStruct, moved: NewPosition, offsetIndex?: ByteRange | null): ThriftStruct {
  const meta = CHUNK.meta.read(chunk)!;
  const edited = withFields(
    withPositions(chunk, [CHUNK.start, CHUNK.offsetIndex, CHUNK.columnIndex], moved),
    CHUNK.meta.make(withPositions(meta, POSITIONS, moved)),
  );
  if (offsetIndex === undefined) return edited;
  if (offsetIndex === null) return makeStruct(...edited.fields.filter(({ id }) => !PAGE_INDEXES.has(id)));
  const { start, end } = offsetIndex;
  return withFields(edited, CHUNK.offsetIndex.make(start), CHUNK.offsetIndexSize.make(end - start));
}

const PAGE_INDEXES = new Set(
  [CHUNK.offsetIndex, CHUNK.offsetIndexSize, CHUNK.columnIndex, CHUNK.columnIndexSize].map(({ id }) => id),
);
const POSITIONS = [
  CHUNK_META.dataStart,
  CHUNK_META.indexStart,
  CHUNK_META.dictionaryStart,
  CHUNK_META.bloomFilter,
] as const;

/** The description of a row group in the output. */
export function movedGroup(group: ThriftStruct, moved: NewPosition): ThriftStruct {
  return withPositions(group, [ROW_GROUP.start], moved);
}

/** The offset index of a chunk, which has the position of each page; null if it is damaged: readers do without it. */
export function movedOffsetIndex(bytes: Buffer, moved: NewPosition): Buffer | null {
  try {
    const index = readThrift(bytes).struct;
    const pages = OFFSET_INDEX.pages.read(index) ?? [];
    const movedPages = pages.map((page) => withPositions(page, [PAGE_LOCATION.start], moved));
    return writeThrift(withFields(index, OFFSET_INDEX.pages.make(movedPages)));
  } catch (error) {
    if (error instanceof Damage) return null;
    throw error;
  }
}

function withPositions(
  struct: ThriftStruct,
  positions: readonly FieldDefinition<number>[],
  moved: NewPosition,
): ThriftStruct {
  return withFields(
    struct,
    ...positions.flatMap((field) => {
      const position = field.read(struct);
      return position === undefined ? [] : [field.make(moved(position))];
    }),
  );
}

/** A copy with other values of fields that it has. */
function withFields({ fields }: ThriftStruct, ...edited: readonly ThriftStruct['fields'][number][]): ThriftStruct {
  return makeStruct(...fields.map((field) => edited.find(({ id }) => id === field.id) ?? field));
}
