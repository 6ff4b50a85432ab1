import { moduleBeside } from '../../threads/thread-pool.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import { OWN_SHARE, piecesAtOnce, writePieces } from '../files/piece-writer.ts';
import { nextPlaces } from '../placed-fields.ts';
import type { WriteRequest } from '../port.ts';
import type { ChunkFacts } from './chunk.ts';
import {
  type ColumnRange,
  columnSpans,
  type OwnTexts,
  type PlaceSetup,
  type PlacesToFill,
  type PlaceValues,
  placeFiller,
  type RangeToFill,
  roomForValues,
} from './place-columns.ts';
import { type ColumnsToWrite, type ColumnWriteSetup, columnMaker } from './row-columns.ts';
import { type RowSection, sectionMaker, sectionsOf } from './sections.ts';

/** Columns of a row group that were written. */
interface WrittenColumns {
  readonly group: number;
  readonly size: number;
  readonly chunks: readonly ChunkFacts[];
}

/** A section whose places were found. */
interface PlacedSection extends RowSection {
  /** The value of each row of each row group, where its fields depend on it. */
  readonly amounts: readonly (Float64Array | undefined)[];
  /** By table, as in `PlacesToFill`. */
  readonly offsets: readonly Uint32Array<SharedArrayBuffer>[];
}

/** The values of the places of a section in some ranges of columns. */
interface FilledSpan {
  readonly section: PlacedSection;
  readonly ranges: readonly RangeToFill[];
  readonly own: readonly OwnTexts[];
}

/** A span of columns of the row groups of a section. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly ranges: readonly ColumnRange[];
  readonly filled: Promise<FilledSpan>;
}

interface Item {
  readonly group: number;
  /** The row group in its section. */
  readonly index: number;
  readonly range: number;
  readonly filled: Promise<FilledSpan>;
  /** Whether nothing else of the span follows. */
  readonly isLast: boolean;
}

/** Writes the added columns of all row groups in threads and here, some columns at a time: those of all row groups of a section, then the
 * next ones, whose values are read meanwhile. Yields those of a row group in order. */
export async function* writePlacedColumns(
  gathered: ByteBuffer,
  request: WriteRequest,
): AsyncGenerator<WrittenColumns> {
  const { added, placed: fields, signal } = request;
  const { pool, pieces, places } = fields.inThreads!;
  const { direct } = gathered;
  const output = direct === undefined ? null : { name: direct.name, fd: direct.fd };
  const setup: ColumnWriteSetup = { places, added, output };
  const fillHere = placeFiller(setup);
  await using filling = pool.begin<PlaceSetup, PlacesToFill, readonly OwnTexts[]>(
    FILLER,
    { places, added },
    async (task) => fillHere(task),
    OWN_SHARE,
  );
  const free: PlaceValues[] = [];
  const makeSection = sectionMaker(places.kindOf.length);

  async function findPlaces(from: number, to: number): Promise<PlacedSection> {
    const groups = pieces.slice(from, to).map(({ rows }) => nextPlaces(request, rows));
    const placed = await Promise.all(groups);
    const section = makeSection(placed.map(({ numbers }) => numbers));
    const count = section.places.length;
    const offsets = places.tables.map(() => new Uint32Array(new SharedArrayBuffer(4 * count)));
    const amounts = placed.map(({ values }) => values && shared(values));
    return { ...section, amounts, offsets };
  }

  async function fill(
    found: Promise<PlacedSection>,
    columns: readonly ColumnRange[],
    before: Promise<unknown>,
  ): Promise<FilledSpan> {
    const section = await found;
    await before;
    const { places: numbers, offsets } = section;
    const ranges = columns.map((range) => roomForValues(range, places, numbers.length, free.pop()));
    const size = Math.ceil(numbers.length / (TASKS_A_THREAD * (pool.threads + 1)));
    const parts: Promise<readonly OwnTexts[]>[] = [];
    for (let from = 0; from < numbers.length; from += size) {
      const to = Math.min(numbers.length, from + size);
      parts.push(filling.run({ places: numbers, from, to, ranges, offsets }));
    }
    return { section, ranges, own: (await Promise.all(parts)).flat() };
  }

  function* spans(): Generator<Span> {
    const rows = pieces.map((piece) => piece.rows);
    for (const { from, to } of sectionsOf(rows, places)) {
      const section = findPlaces(from, to);
      const most = rows.slice(from, to).reduce((sum, count) => sum + count, 0);
      const count = Math.min(most, places.kindOf.length);
      let before: Promise<unknown> = section;
      for (const ranges of columnSpans(added.length, places, count)) {
        const filled = fill(section, ranges, before);
        // Each task that waits for it reports a failure.
        filled.catch(() => {});
        before = filled;
        yield { from, to, ranges, filled };
      }
    }
  }

  function* items(): Generator<Item> {
    const all = spans();
    let next: IteratorResult<Span> | null = all.next();
    while (next !== null && !next.done) {
      const { from, to, ranges, filled }: Span = next.value;
      next = null;
      let made = 0;
      for (let group = from; group < to; group++) {
        for (const range of ranges.keys()) {
          // The span before is written then, and its memory free.
          if (made++ === piecesAtOnce(pool)) next = all.next();
          const isLast = group === to - 1 && range === ranges.length - 1;
          yield { group, index: group - from, range, filled, isLast };
        }
      }
      next ??= all.next();
    }
  }

  const work = {
    pool,
    module: ROW_COLUMNS,
    setup,
    items: items(),
    taskOf: async ({ index, range, filled }: Item): Promise<ColumnsToWrite> => {
      const { section, ranges, own } = await filled;
      const { places: numbers, rows, amounts } = section;
      const columns = ranges[range]!;
      return {
        ...columns,
        places: numbers,
        rows: rows[index]!,
        amounts: amounts[index],
        own: own.filter(({ column }) => column >= columns.from && column < columns.to),
      };
    },
    memoryOf: () => [],
    signal,
  };
  for await (const { item, size, facts } of writePieces(gathered, work, columnMaker(setup))) {
    if (item.isLast) free.push(...(await item.filled).ranges);
    yield { group: item.group, size, chunks: facts };
  }
}

/** A copy that threads share: each task of a row group gets it. */
function shared(values: Float64Array): Float64Array {
  const copy = new Float64Array(new SharedArrayBuffer(8 * values.length));
  copy.set(values);
  return copy;
}

const FILLER = moduleBeside('place-columns', import.meta.url);
const ROW_COLUMNS = moduleBeside('row-columns', import.meta.url);
/** With one task a thread, all wait for the slower one. */
const TASKS_A_THREAD = 2;
