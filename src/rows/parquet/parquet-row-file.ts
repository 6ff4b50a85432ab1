import { PerilbookError } from '../../base/errors.ts';
import type { ValueType } from '../../formats/typed-value.ts';
import { NO_POINT, type PointText, pointOfWkb } from '../../geo/geometry-points.ts';
import { assertSameFile, type InputFile, isPlainFile } from '../files/input-file.ts';
import { haveLocation } from '../location/location-names.ts';
import { mayBeNoLocation } from '../no-locations.ts';
import type { NumberBatch, PieceReader, Row, RowFile, RowPiece, RowPieces } from '../port.ts';
import {
  assertDegrees,
  type FileColumn,
  fileColumns,
  findOtherShapes,
  leavesUnder,
  type ValueColumn,
} from './file-columns.ts';
import { openParquet, orUnreadable, type ParquetFile } from './footer.ts';
import { jsonForm, type LeafEntries, rowAssembler } from './nested.ts';
import {
  decodedPages,
  flatSource,
  numberSource,
  type RowNumbers,
  type ValueSource,
} from './page-values.ts';
import type { GroupReader } from './pages.ts';
import { noLocationFinder } from './rows-without-location.ts';
import type { SchemaNode } from './schema.ts';
import { Damage } from './thrift.ts';
import { textForm, typeOfValues } from './value-text.ts';
import { writeParquet } from './write.ts';

const ROWS_A_BATCH = 256;
/** A nested column is assembled a row group at a time. */
const MOST_NESTED = 16 * 1024 * 1024;

/** Opens a Parquet file. Its columns are the fields of the schema by name, lists and structs as JSON; after a struct come its values
 * (`address.zip`), after a column of points `<name>.latitude` and `<name>.longitude`. */
export async function parquetRowFile(input: InputFile): Promise<RowFile> {
  const file = await openParquet(input);
  const ofOutlines = await outlineColumns(file);
  const columns = ofOutlines ?? fileColumns(file);
  return {
    format: 'parquet',
    unit: 'row',
    hasTypes: true,
    isColumnar: true,
    textColumns: [...columns.keys()].filter((index) => typeOf(columns[index]!) === 'text'),
    shapes: ofOutlines === null ? findOtherShapes(file) : undefined,
    hasRemarks: ofOutlines !== null,
    note: ofOutlines && 'Outlines of up to about 1 km are looked up at a point inside each.',
    columns: columns.map(({ name }) => name),
    wholeColumns: [...columns.keys()].filter((index) => columns[index]!.kind === 'whole'),
    coordinatesOf: (index) =>
      [...columns.keys()].filter((at) => {
        const column = columns[at]!;
        return (
          column.kind === 'point' &&
          column.field === columns[index]!.field &&
          column.otherSystem === null
        );
      }),
    readable: [...columns.keys()].filter((index) => {
      const column = columns[index]!;
      return column.kind !== 'point' || column.otherSystem === null;
    }),
    read: (wanted, needed) => readRows(file, picked(wanted, columns), needed),
    write: (request) => writeParquet(file, columns, request),
    inPieces: parquetPieces(file, columns),
  };
}

/** The type of a column's fields. */
const typeOf = (column: FileColumn): ValueType =>
  column.kind === 'point' ? 'number' : typeOfValues(column.node);

/** The columns with those of outlines as locations, if the first rows have small ones and no other column has a location; else null. */
async function outlineColumns(file: ParquetFile): Promise<FileColumn[] | null> {
  const columns = fileColumns(file, true);
  const points = columns.filter(({ kind }) => kind === 'point');
  const others = columns.filter(({ kind }) => kind !== 'point').map(({ name }) => name);
  const [group] = file.rowGroups;
  if (points.length === 0 || group === undefined || haveLocation(others)) return null;
  await using pass = await file.input.startPass();
  try {
    for await (const rows of rowsOfGroup({ file, pass, group }, 0, points, 0)) {
      return rows.some(({ remark }) => remark !== undefined) ? columns : null;
    }
  } catch (error) {
    // What is damaged, or in another system, is refused where it is read.
    if (!(error instanceof PerilbookError)) throw error;
  }
  return null;
}

/** Fewer rows are decoded before the threads have started. */
const LARGE_ROWS = 250_000;
/** Of 18 natural topics. */
const USUAL_COLUMNS = 57;

function parquetPieces(file: ParquetFile, columns: readonly FileColumn[]): RowPieces | undefined {
  if (!isPlainFile(file.input)) return undefined;
  async function* read(
    piece: RowPiece,
    wanted: readonly number[],
    needed?: number,
  ): AsyncGenerator<readonly Row[], RowPiece> {
    await using pass = await file.input.startPass(true);
    yield* rowsOfGroup(
      { file, pass, group: file.rowGroups[piece.from]! },
      0,
      picked(wanted, columns),
      needed,
    );
    return piece;
  }
  const readNumbers: PieceReader['readNumbers'] = (piece, wanted, needed = wanted.length) => {
    const leaves = wanted
      .map((index) => numbersIn(columns[index]!))
      .filter((leaf) => leaf !== null);
    return leaves.length === wanted.length ? numbersOfGroup(file, piece, leaves, needed) : null;
  };
  return {
    // A row group is a piece; nothing is guessed.
    pieces: file.rowGroups.map(({ rows }, from) => {
      return { file: 0, from, to: from + 1, isGuess: false, line: 0, rows, lines: rows };
    }),
    size: (added) => (file.rows * Math.max(1, added / USUAL_COLUMNS)) / LARGE_ROWS,
    files: [file.input.name],
    reader: { read, readNumbers },
    assertSame: () => assertSameFile(file.input),
  };
}

function picked(wanted: readonly number[], columns: readonly FileColumn[]): FileColumn[] {
  return wanted.map((index) => columns[index]!);
}

/** The leaf of a column with at most one double or plain integer a row; null for other columns. */
function numbersIn(column: FileColumn): SchemaNode | null {
  if (column.kind === 'point') return null;
  const { node } = column;
  if (node.leaf === undefined || node.leaf === null || node.maxRepetition > 0) return null;
  const isInteger = /^INT(32|64)$/.test(node.leaf.type) && node.meaning.kind === 'stored';
  return node.leaf.type === 'DOUBLE' || isInteger ? node : null;
}

const NUMBERS_A_BATCH = 4096;

/** Converting doubles to texts and back took a third of the time of a scan. */
async function* numbersOfGroup(
  file: ParquetFile,
  piece: RowPiece,
  leaves: readonly SchemaNode[],
  needed: number,
): AsyncGenerator<NumberBatch, RowPiece> {
  await using pass = await file.input.startPass(true);
  const group = file.rowGroups[piece.from]!;
  const sources = leaves.map((leaf) => numberSource({ file, pass, group }, leaf, NUMBERS_A_BATCH));
  const texts = leaves.map(textForm);
  const findNoLocations = noLocationFinder({ file, pass, group });
  for (let done = 0; done < group.rows; done += NUMBERS_A_BATCH) {
    const count = Math.min(NUMBERS_A_BATCH, group.rows - done);
    const columns: RowNumbers[] = [];
    await orUnreadable(file.input.name, async () => {
      for (const next of sources) columns.push(await next(count));
    });
    const places = columns.slice(0, needed);
    const blank: number[] = [];
    const [first, ...others] = places;
    for (let index = 0; first !== undefined && index < count; index++)
      if (first.isMissing[index] === 1 && others.every(({ isMissing }) => isMissing[index] === 1))
        blank.push(done + index);
    const noLocations = await findNoLocations(blank);
    const rowAt = (index: number): Row => {
      const noLocation = noLocations.get(done + index);
      const number = done + index + 1;
      const fields = columns.map(({ values, isMissing, beyond }, at) =>
        isMissing[index] === 1 ? '' : texts[at]!(beyond.get(index) ?? values[index]!),
      );
      const row = { number, line: number, fields };
      return noLocation === undefined ? row : { ...row, noLocation };
    };
    yield { count, numbers: columns.map(({ values }) => values), rowAt };
  }
  return piece;
}

async function* readRows(
  file: ParquetFile,
  wanted: readonly FileColumn[],
  needed?: number,
): AsyncGenerator<readonly Row[]> {
  await using pass = await file.input.startPass();
  let firstRow = 0;
  for (const group of file.rowGroups) {
    yield* rowsOfGroup({ file, pass, group }, firstRow, wanted, needed);
    firstRow += group.rows;
  }
  await pass.assertSame();
}

/** Streams the rows of a row group in batches, decoding some columns. Memory: dictionary and page of a flat column, all of a nested one. */
async function* rowsOfGroup(
  at: GroupReader,
  firstRow: number,
  columns: readonly FileColumn[],
  needed = columns.length,
) {
  const { file, group } = at;
  const pointSources = new Map<SchemaNode, ValueSource<PointText>>();
  for (const column of columns) {
    if (column.kind !== 'point' || pointSources.has(column.field)) continue;
    assertDegrees(file.input.name, column);
    pointSources.set(column.field, flatSource(at, column.field, pointOfWkb, NO_POINT));
  }
  const types = columns.map(typeOf);
  const texts = columns.map((column) => (column.kind === 'point' ? null : textSource(at, column)));
  const findNoLocations = noLocationFinder(at);
  for (let done = 0; done < group.rows; ) {
    const count = Math.min(ROWS_A_BATCH, group.rows - done);
    const points = new Map<SchemaNode, readonly PointText[]>();
    const parts: (readonly string[])[] = [];
    await orUnreadable(file.input.name, async () => {
      for (const [field, source] of pointSources) points.set(field, await source(count));
      for (const [i, column] of columns.entries()) {
        const isPoint = column.kind === 'point';
        parts.push(
          isPoint
            ? points.get(column.field)!.map((point) => point[column.axis])
            : await texts[i]!(count),
        );
      }
    });
    const places = [...points.values()];
    const blank: number[] = [];
    const located = parts.slice(0, needed);
    for (let i = 0; located.length > 0 && i < count; i++)
      if (located.every((part) => mayBeNoLocation(part[i]!))) blank.push(done + i);
    const noLocations = await findNoLocations(blank);
    const rows: Row[] = [];
    for (let i = 0; i < count; i++) {
      const number = firstRow + done + i + 1;
      const fields: string[] = [];
      for (const part of parts) fields.push(part[i]!);
      const row = { number, line: number, fields, types };
      const problem = places.map((list) => list[i]!.problem).find((found) => found !== undefined);
      const remark = places.map((list) => list[i]!.remark).find((found) => found !== undefined);
      const told = remark === undefined ? row : { ...row, remark };
      const noLocation = noLocations.get(done + i);
      if (problem !== undefined) rows.push({ ...told, problem });
      else rows.push(noLocation === undefined ? told : { ...told, noLocation });
    }
    done += count;
    yield rows;
  }
}

function textSource(at: GroupReader, { node }: ValueColumn): ValueSource<string> {
  return node.leaf && node.maxRepetition === 0
    ? flatSource(at, node, textForm(node), '')
    : nestedSource(at, node);
}

function nestedSource(at: GroupReader, field: SchemaNode): ValueSource<string> {
  let nextRow: (() => string) | null = null;
  return async (count) => {
    if (nextRow === null) {
      const leaves = new Map<SchemaNode, LeafEntries>();
      for (const leaf of leavesUnder(field)) leaves.set(leaf, await allEntries(at, leaf));
      nextRow = rowAssembler(field, leaves);
    }
    return Array.from({ length: count }, nextRow);
  };
}

async function allEntries(at: GroupReader, leaf: SchemaNode): Promise<LeafEntries> {
  const repetitions: number[] = [];
  const definitions: number[] = [];
  const values: unknown[] = [];
  for await (const page of decodedPages(at, leaf, jsonForm(leaf))) {
    if (values.length + page.values > MOST_NESTED)
      throw new Damage(`column ${leaf.name} is too large to be written as text`);
    let next = 0;
    for (let i = 0; i < page.values; i++) {
      const definition = page.definitions?.[i] ?? leaf.maxDefinition;
      repetitions.push(page.repetitions?.[i] ?? 0);
      definitions.push(definition);
      values.push(definition === leaf.maxDefinition ? page.valueAt(next++) : null);
    }
  }
  return { repetitions, definitions, values, next: 0 };
}
