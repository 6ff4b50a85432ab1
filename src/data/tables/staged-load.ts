import { randomUUID } from 'node:crypto';
import { PerilbookError } from '../../errors.ts';
import type { ServiceDatabase } from './data-database.ts';
import type { DatasetInfo, DatasetName, Level } from './records.ts';

/** A table that a load fills: the one that queries read is replaced by a new one whole. */
export interface LoadTable {
  readonly name: string;
  /** How the table is made, with its name left out as `$NAME`; null makes it as the one that is there. */
  readonly definition: string | null;
  /** How many values a row has. */
  readonly columns: number;
  /** What follows the values of an insertion: `ON CONFLICT …`. */
  readonly onConflict?: string;
}

/** The part of a data set that is replaced: all of it, or one of its levels. */
export interface LoadPart {
  readonly level: Level;
  readonly tables: readonly LoadTable[];
}

/** A row and its table, by its place in the part. */
export type LoadRow = readonly [table: number, values: readonly unknown[]];

/** A data set that is being loaded beside the one that is in use. */
export interface StagedLoad {
  /** Adds the rows of one record; they are written when there are enough of them. */
  add(part: number, rows: readonly LoadRow[]): void;
  /** Puts the new tables in the place of the old ones, in one short transaction. Returns the number of records. */
  publish(info: DatasetInfo, now: number): number;
  /** Drops what was loaded; the data set stays as it was. */
  abandon(): void;
}

/** A row that the database refused; `record` counts from 1. */
export class RefusedRow extends Error {
  readonly record: number;

  constructor(record: number, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.record = record;
  }
}

/** So many records are written in one transaction, which takes about 50 ms; another load waits for it. */
const BATCH_RECORDS = 2_000;
/** Or so many bytes: what waits longer is moved to V8's old memory, which grows to hundreds of MB of what is over. */
const BATCH_BYTES = 1 << 19;

/**
 * Begins to load a data set. New tables are filled beside the old ones in many short transactions, and put in their place
 * by renaming: a service that runs on the file answers from the old data until then, and waits for nothing. What a killed
 * load left behind is dropped by the next.
 */
export function stageLoad(database: ServiceDatabase, dataset: DatasetName, parts: readonly LoadPart[]): StagedLoad {
  const token = randomUUID();
  const tables = parts.flatMap((part) => part.tables);
  const counts = parts.map(() => 0);
  let batch: (readonly [record: number, part: number, rows: readonly LoadRow[]])[] = [];
  let records = 0;
  let bytes = 0;

  database
    .transaction(() => {
      for (const table of tables) makeNext(database, table);
      const claim = database.prepare('INSERT OR REPLACE INTO loads VALUES (?, ?, ?)');
      for (const { level } of parts) claim.run(dataset, level, token);
    })
    .immediate();

  const inserts = parts.map((part) =>
    part.tables.map(({ name, columns, onConflict = '' }) =>
      database.prepare(`INSERT INTO ${nextOf(name)} VALUES (${Array(columns).fill('?').join(', ')}) ${onConflict}`),
    ),
  );
  const held = database
    .prepare<[string, string], number>('SELECT count(*) FROM loads WHERE dataset = ? AND token = ?')
    .pluck();

  function assertHeld(): void {
    if (held.get(dataset, token) === parts.length) return;
    throw new PerilbookError(
      'SERVICE_DATA',
      `Cannot go on loading data set "${dataset}": another load of it has begun`,
      'Wait until the other load has ended, and look at: perilbook service data.',
      { dataset },
    );
  }

  const write = database.transaction(() => {
    assertHeld();
    for (const [record, part, rows] of batch) {
      try {
        for (const [table, values] of rows) inserts[part]![table]!.run(values);
      } catch (error) {
        throw new RefusedRow(record, error);
      }
    }
  });

  function flush(): void {
    if (batch.length > 0) write.immediate();
    batch = [];
    bytes = 0;
  }

  return {
    add(part, rows) {
      records += 1;
      counts[part]! += 1;
      batch.push([records, part, rows]);
      for (const [, values] of rows) bytes += sizeOf(values);
      if (batch.length === BATCH_RECORDS || bytes >= BATCH_BYTES) flush();
    },
    publish(info, now) {
      flush();
      const replace = database.transaction(() => {
        assertHeld();
        for (const { name } of tables) {
          database.exec(`DROP TABLE IF EXISTS ${name}; ALTER TABLE ${nextOf(name)} RENAME TO ${name}`);
        }
        const describe = database.prepare('INSERT OR REPLACE INTO datasets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
        const forget = database.prepare('DELETE FROM datasets WHERE name = ? AND level = ?');
        const release = database.prepare('DELETE FROM loads WHERE dataset = ? AND level = ?');
        const { source, vintage, licence, sample, states = [] } = info;
        for (const [index, { level }] of parts.entries()) {
          forget.run(dataset, level);
          release.run(dataset, level);
          // A level that a delivery of several has no record of is not loaded; an empty delivery is, with no rows.
          if (counts[index] === 0 && (records > 0 || index > 0)) continue;
          describe.run(dataset, level, source, vintage, licence, sample ? 1 : 0, counts[index], now, states.join());
        }
      });
      replace.immediate();
      return records;
    },
    abandon() {
      database
        .transaction(() => {
          if (held.get(dataset, token) !== parts.length) return;
          for (const { name } of tables) database.exec(`DROP TABLE IF EXISTS ${nextOf(name)}`);
          database.prepare('DELETE FROM loads WHERE dataset = ? AND token = ?').run(dataset, token);
        })
        .immediate();
    },
  };
}

function sizeOf(values: readonly unknown[]): number {
  return values.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 8),
    0,
  );
}

function nextOf(table: string): string {
  return `${table}_next`;
}

function makeNext(database: ServiceDatabase, { name, definition }: LoadTable): void {
  database.exec(`DROP TABLE IF EXISTS ${nextOf(name)}`);
  database.exec((definition ?? definitionOf(database, name)).replace('$NAME', nextOf(name)));
}

/** How the table that is there was made, so that its definition stands in the migrations alone. */
function definitionOf(database: ServiceDatabase, table: string): string {
  const sql = database
    .prepare<[string], string>("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .pluck()
    .get(table)!;
  return sql.replace(/^(CREATE (?:VIRTUAL )?TABLE )"?\w+"?/, '$1$NAME');
}
