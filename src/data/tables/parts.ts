import type { DataDatabase } from './data-database.ts';
import type { DatasetName, Level } from './records.ts';

/** The part that covers the whole US; every other part is named by its state, two letters. */
export const WHOLE_US = 'US';

/** A part of a dataset, as requested from its publisher. */
export interface DatasetPart {
  /** Two letters, or `US`. */
  readonly state: string;
  /** The source of `perilbook data get` that it was asked of; '' for a file that was loaded by hand. */
  readonly askedOf: string;
  /** How far beyond its state it reaches, in metres: 0 if the publisher lists by state, more if it was requested by box. */
  readonly reach: number;
  readonly source: string;
  /** The files that it was loaded from. */
  readonly files: readonly SourceFile[];
  /** The date or the version of the data, in words. */
  readonly vintage: string;
  readonly licence: string;
  /** Records in it. */
  readonly rows: number;
  /** For the whole US: the number of records in each state. */
  readonly stateRows: Readonly<Record<string, number>>;
  readonly units: StoredUnits;
  /** `whole`: what has no record in its state has none at its publisher. `units`: only the units in it are loaded. */
  readonly extent: 'whole' | 'units';
  /** Of the whole US: the territories that it covers. */
  readonly territories: readonly string[];
  /** When it was loaded, in milliseconds since 1970. */
  readonly loadedAt: number;
}

/** What is stored of each unit of a part (published-units.ts). Empty for a part that an earlier version loaded. */
type StoredUnits = Readonly<Record<string, StoredUnit>>;

export interface StoredUnit {
  readonly rows: number;
  /** Left out if it is the part's. */
  readonly vintage?: string;
}

/** The day of the newest row, in a vintage. */
export const DAY_IN_VINTAGE = /\bto (\d{4}-\d\d-\d\d)/;

export interface SourceFile {
  /** The name of the file. */
  readonly name: string;
  /** Its digest, in hexadecimal. */
  readonly sha256: string;
  /** Its size; absent for a file that an earlier version loaded. */
  readonly bytes?: number;
}

export interface AskedPart extends DatasetPart {
  readonly dataset: DatasetName;
  readonly level: Level;
}

/** A part without its units: of all counties they are 60 kB, which a run would read several times. */
export type PartRecord = Omit<AskedPart, 'units'>;

/** Stored as JSON. */
type PartList = 'files' | 'stateRows' | 'territories';

type PartRecordRow = Omit<PartRecord, PartList> & Readonly<Record<PartList, string>>;

interface PartRow extends PartRecordRow {
  readonly units: string;
}

const RECORD = `dataset, level, state, asked_of AS askedOf, reach, source, files, vintage, licence, rows,
  state_rows AS stateRows, loaded_at AS loadedAt, extent, territories`;

/** All parts, by `keyOfParts`. */
export function allParts(database: DataDatabase): ReadonlyMap<string, readonly PartRecord[]> {
  const rows = database
    .prepare<[], PartRecordRow>(`SELECT ${RECORD} FROM parts ORDER BY dataset, level, state`)
    .all();
  return Map.groupBy(rows.map(parseRecord), ({ dataset, level }) => keyOfParts(dataset, level));
}

/** The name of a dataset's parts of a level, for maps. */
export const keyOfParts = (dataset: DatasetName, level: Level): string => `${dataset}/${level}`;

/** The name in messages and commands: `nri (tract)`, or `radon` for datasets without levels. */
export const datasetLabel = (dataset: DatasetName, level: Level): string =>
  level === '' ? dataset : `${dataset} (${level})`;

/** The stored parts of a dataset and level, and how many rows they have together. */
export interface StoredParts {
  readonly parts: readonly AskedPart[];
  readonly rows: number;
}

/** The stored parts of a dataset and level, without sample data, which every load replaces, and their rows: one in two parts counts once. */
export function storedParts(
  database: DataDatabase,
  dataset: DatasetName,
  level: Level,
): StoredParts {
  const rows = database
    .prepare<[DatasetName, Level], number>(
      'SELECT rows FROM datasets WHERE name = ? AND level = ? AND sample = 0',
    )
    .pluck()
    .get(dataset, level);
  if (rows === undefined) return { parts: [], rows: 0 };
  const parts = database
    .prepare<[DatasetName, Level], PartRow>(
      `SELECT ${RECORD}, units FROM parts WHERE dataset = ? AND level = ? ORDER BY state`,
    )
    .all(dataset, level);
  return { parts: parts.map(parsePart), rows };
}

/** The parts that were downloaded from a source, with their dataset and level. */
export function readPartsOfSource(database: DataDatabase, source: string): AskedPart[] {
  return database
    .prepare<[string], PartRow>(
      `SELECT ${RECORD}, units FROM parts WHERE asked_of = ? ORDER BY dataset, level, state`,
    )
    .all(source)
    .map(parsePart);
}

/** Replaces the parts of a dataset and level. */
export function writeParts(
  database: DataDatabase,
  dataset: DatasetName,
  level: Level,
  parts: readonly DatasetPart[],
): void {
  database.prepare('DELETE FROM parts WHERE dataset = ? AND level = ?').run(dataset, level);
  const insert = database.prepare(
    `INSERT INTO parts VALUES (@dataset, @level, @state, @askedOf, @reach, @source, @files, @vintage, @licence, @rows, @stateRows, @loadedAt, @units, @extent, @territories)`,
  );
  for (const part of parts) {
    const lists = {
      files: JSON.stringify(part.files),
      stateRows: JSON.stringify(part.stateRows),
      units: JSON.stringify(part.units),
      territories: JSON.stringify(part.territories),
    };
    insert.run({ ...part, dataset, level, ...lists });
  }
}

/** Records that data of a dataset was removed. Call it in the transaction that removes it. */
export function writeRemoval(database: DataDatabase, dataset: DatasetName, now: number): void {
  database
    .prepare(
      `INSERT OR REPLACE INTO removals VALUES (?, max(?, 1 + max(
         (SELECT ifnull(max(loaded_at), 0) FROM parts), (SELECT ifnull(max(at), 0) FROM removals))))`,
    )
    .run(dataset, now);
}

/** When data of each dataset was last removed. */
export function readRemovals(database: DataDatabase): ReadonlyMap<DatasetName, number> {
  const rows = database
    .prepare<[], [DatasetName, number]>('SELECT dataset, at FROM removals')
    .raw()
    .all();
  return new Map(rows);
}

function parsePart({ units, ...row }: PartRow): AskedPart {
  return { ...parseRecord(row), units: JSON.parse(units) };
}

function parseRecord({ files, stateRows, territories, ...row }: PartRecordRow): PartRecord {
  return {
    ...row,
    files: JSON.parse(files),
    stateRows: JSON.parse(stateRows),
    territories: JSON.parse(territories),
  };
}
