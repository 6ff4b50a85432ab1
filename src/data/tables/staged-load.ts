import { randomUUID } from 'node:crypto';
import type { Statement } from 'better-sqlite3';
import { PerilbookError } from '../../base/errors.ts';
import { writeCountyRatedAreas } from './county-ratings.ts';
import type { DataDatabase } from './data-database.ts';
import { writeDescription } from './layer-descriptions.ts';
import { type DatasetPart, writeParts } from './parts.ts';
import type { DatasetName, Level } from './records.ts';

/** A table that a load fills and then replaces as a whole. */
export interface LoadTable {
  readonly name: string;
  /** The SQL that creates it, with `$NAME` for its name; left out to copy the definition of the existing table. */
  readonly definition?: string;
  /** The SQL that selects the rows between two geoids, with the columns in order. */
  readonly ofGeoids?: string;
}

export interface LevelTables {
  readonly level: Level;
  readonly tables: readonly LoadTable[];
}

/** A row, and the index of its table in the level. */
export type LoadRow = readonly [table: number, values: readonly unknown[]];

/** The records of one transaction, which takes about 50 ms; another load waits for it. */
const BATCH_RECORDS = 2_000;
/** The bytes of one transaction: longer batches move to V8's old space, which grows to hundreds of MB of garbage. */
const BATCH_BYTES = 1 << 19;

type BatchEntry = readonly [record: number, level: number, rows: readonly LoadRow[]];

/** A dataset that is loaded beside the one in use. New tables are filled in many short transactions and then renamed: a service that runs
 * on the file answers from the old data until then and never waits longer than one batch. The next load drops the remains of a killed load. */
export class StagedLoad implements Disposable {
  readonly #database: DataDatabase;
  readonly #dataset: DatasetName;
  readonly #levels: readonly LevelTables[];
  readonly #tables: readonly LoadTable[];
  readonly #token = randomUUID();
  readonly #inserts: readonly (readonly Statement[])[];
  readonly #ownedLevels: Statement<[string, string], number>;
  #batch: BatchEntry[] = [];
  #records = 0;
  #bytes = 0;
  #isPublished = false;

  constructor(database: DataDatabase, dataset: DatasetName, levels: readonly LevelTables[]) {
    this.#database = database;
    this.#dataset = dataset;
    this.#levels = levels;
    this.#tables = levels.flatMap(({ tables }) => tables);
    database
      .transaction(() => {
        for (const { name, definition } of this.#tables) {
          const sql = definition ?? readDefinition(database, name);
          database.exec(
            `DROP TABLE IF EXISTS ${nextOf(name)}; ${sql.replace('$NAME', nextOf(name))}`,
          );
        }
        const claim = database.prepare('INSERT OR REPLACE INTO loads VALUES (?, ?, ?)');
        for (const { level } of levels) claim.run(dataset, level, this.#token);
      })
      .immediate();
    this.#inserts = levels.map(({ tables }) =>
      tables.map(({ name }) => {
        const columns = database.prepare(`SELECT * FROM ${nextOf(name)}`).columns();
        return database.prepare(
          `INSERT INTO ${nextOf(name)} VALUES (${columns.map(() => '?').join(', ')})`,
        );
      }),
    );
    this.#ownedLevels = database
      .prepare<[string, string], number>(
        'SELECT count(*) FROM loads WHERE dataset = ? AND token = ?',
      )
      .pluck();
  }

  /** Adds the rows of one record; they are written in batches. */
  add(level: number, rows: readonly LoadRow[]): void {
    this.#records += 1;
    this.#batch.push([this.#records, level, rows]);
    for (const [, values] of rows) this.#bytes += estimateSize(values);
    if (this.#batch.length === BATCH_RECORDS || this.#bytes >= BATCH_BYTES) this.#flush();
  }

  /** Copies the stored rows of a level whose geoids are between two. */
  keepGeoids(level: number, first: string, last: string): void {
    this.#flush();
    this.#database
      .transaction(() => {
        this.#assertOwned();
        for (const { name, ofGeoids } of this.#levels[level]!.tables)
          this.#database.prepare(`INSERT INTO ${nextOf(name)} ${ofGeoids}`).run(first, last);
      })
      .immediate();
  }

  /** Replaces the old tables with the new ones in one short transaction.
   * @param partsOf the parts of a level
   * @returns the number of records in the levels now */
  publish(partsOf: (level: Level) => readonly DatasetPart[], sample: boolean, now: number): number {
    this.#flush();
    const database = this.#database;
    let records = 0;
    database
      .transaction(() => {
        this.#assertOwned();
        for (const { name } of this.#tables) {
          database.exec(
            `DROP TABLE IF EXISTS ${name}; ALTER TABLE ${nextOf(name)} RENAME TO ${name}`,
          );
        }
        const describe = database.prepare('INSERT INTO datasets VALUES (?, ?, ?, ?, ?)');
        const forget = database.prepare('DELETE FROM datasets WHERE name = ? AND level = ?');
        const release = database.prepare('DELETE FROM loads WHERE dataset = ? AND level = ?');
        for (const { level, tables } of this.#levels) {
          forget.run(this.#dataset, level);
          release.run(this.#dataset, level);
          const parts = partsOf(level);
          if (parts.length === 0) continue;
          const rows = database
            .prepare<[], number>(`SELECT count(*) FROM ${tables[0]!.name}`)
            .pluck()
            .get()!;
          describe.run(this.#dataset, level, sample ? 1 : 0, rows, now);
          writeParts(database, this.#dataset, level, parts);
          records += rows;
        }
        writeDescription(database, this.#dataset, now);
        if (this.#dataset === 'areas' || this.#dataset === 'nri') writeCountyRatedAreas(database);
      })
      .immediate();
    this.#isPublished = true;
    return records;
  }

  [Symbol.dispose](): void {
    if (this.#isPublished) return;
    try {
      this.#database
        .transaction(() => {
          if (!this.#isOwned()) return;
          for (const { name } of this.#tables)
            this.#database.exec(`DROP TABLE IF EXISTS ${nextOf(name)}`);
          this.#database
            .prepare('DELETE FROM loads WHERE dataset = ? AND token = ?')
            .run(this.#dataset, this.#token);
        })
        .immediate();
    } catch {
      // The reason why the load failed matters more; the next load drops the tables.
    }
  }

  #isOwned(): boolean {
    return this.#ownedLevels.get(this.#dataset, this.#token) === this.#levels.length;
  }

  #assertOwned(): void {
    if (this.#isOwned()) return;
    const message = `Cannot continue to load dataset "${this.#dataset}": another load of it has started`;
    const hint = 'Wait until the other load has ended, then check: perilbook data.';
    throw new PerilbookError('SERVICE_DATA', message, hint, { dataset: this.#dataset });
  }

  #flush(): void {
    if (this.#batch.length > 0) this.#database.transaction(() => this.#write()).immediate();
    this.#batch = [];
    this.#bytes = 0;
  }

  #write(): void {
    this.#assertOwned();
    for (const [record, level, rows] of this.#batch) {
      try {
        for (const [table, values] of rows) this.#inserts[level]![table]!.run(values);
      } catch (error) {
        throw this.#explained(error, record);
      }
    }
  }

  /** The error with its record, if the record is the cause and not, say, a full disk. */
  #explained(error: unknown, row: number): unknown {
    const { code, message } = error as { code?: unknown; message: string };
    if (typeof code !== 'string' || !code.startsWith('SQLITE_CONSTRAINT')) return error;
    const problem = `Cannot load dataset "${this.#dataset}": record ${row}: ${message}`;
    const hint = 'Correct or remove this record and load again; the stored data is unchanged.';
    return new PerilbookError(
      'SERVICE_DATA',
      problem,
      hint,
      { dataset: this.#dataset, row },
      error,
    );
  }
}

function estimateSize(values: readonly unknown[]): number {
  const sizeOf = (value: unknown) =>
    typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 8;
  return values.reduce<number>((sum, value) => sum + sizeOf(value), 0);
}

function nextOf(table: string): string {
  return `${table}_next`;
}

/** The definition of the existing table, so that migrations alone define it. */
function readDefinition(database: DataDatabase, table: string): string {
  const sql = database
    .prepare<[string], string>("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .pluck()
    .get(table)!;
  return sql.replace(/^(CREATE (?:VIRTUAL )?TABLE )"?\w+"?/, '$1$NAME');
}
