/* Work on a database is a generator: it yields statements and is given their rows, so one text serves SQLite, which runs it
 * synchronously inside one transaction, and PostgreSQL, which sends the statements of a step together. Nothing but SQL can be
 * awaited inside a transaction.
 *
 *     function* rename(database: SqlDatabase, id: number, name: string): SqlWork<string | undefined> {
 *       const [[before], [sum]] = yield* read(
 *         statement<{ name: string }>(`SELECT name FROM accounts WHERE id = $1 ${database.dialect.forUpdate}`, [id]),
 *         statement<{ credits: number }>('SELECT sum(credits) AS credits FROM charges WHERE account = $1', [id]),
 *       );
 *       yield* write(statement('UPDATE accounts SET name = $2 WHERE id = $1', [id, name]));
 *       return before?.name;
 *     }
 *     await database.transact(() => rename(database, 7, 'new'));
 *
 * Rules for a text that both understand:
 * - Parameters are $1, $2 …; a parameter that is compared with NULL needs its type: CAST($1 AS text) IS NULL.
 * - A batch is written by `dialect.eachRow`, and looked up as one value: `toJson(rows)`, read by `dialect.records` or `dialect.list`. Never
 *   as thousands of parameters.
 * - INSERT … SELECT … ON CONFLICT needs WHERE true before ON CONFLICT, and an alias for the old row: INSERT INTO periods AS old.
 * - RETURNING and SELECT without ORDER BY promise no order: match rows by key.
 * - There is no boolean: 0 and 1.
 * - A table joined with `records` comes after it, by LEFT JOIN: the planner may reverse a JOIN and read all of the table. */

import { memo } from '../base/memo.ts';

export type SqlValue = string | number | Buffer | null;

declare const rowType: unique symbol;

/** A statement, and the type of its rows. */
export interface SqlStatement<Row extends object = object> {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  readonly [rowType]?: Row;
}

/** Yields statements, which are sent together and run in their order, and is given the rows of each. `isRead`: it waits for the rows. */
export type SqlWork<T> = Generator<
  { readonly statements: readonly SqlStatement[]; readonly isRead: boolean },
  T,
  readonly (readonly object[])[]
>;

/** The type of a column of rows that are given to a statement. */
type RecordType = 'integer' | 'bigint' | 'double precision' | 'text' | 'blob';

/** The differences between the SQL of SQLite and of PostgreSQL. */
export interface EngineDialect {
  readonly engine: 'sqlite' | 'postgres';
  /** A table of the rows that a parameter holds as JSON (`toJson`), for FROM and JOIN; without blobs. A member that a row lacks is NULL. */
  records(parameter: string, alias: string, columns: Readonly<Record<string, RecordType>>): string;
  /** Statements that do the same with each row of a batch; `sql` is given a table of the rows for FROM. PostgreSQL: one statement, with the
   * rows as JSON. SQLite: one for each row, which takes 10 µs for 16 columns, where rows out of JSON take 46.
   * @param together so many rows a statement in SQLite: ten rows of six columns are inserted in two thirds of the time */
  eachRow<Row extends object>(
    rows: readonly Readonly<Record<string, SqlValue>>[],
    alias: string,
    columns: Readonly<Record<string, RecordType>>,
    sql: (table: string) => string,
    together?: number,
  ): readonly SqlStatement<Row>[];
  /** The members of a parameter that is a JSON array, for use after IN. */
  list(parameter: string, type: 'bigint' | 'text'): string;
  /** At the end of a SELECT: locks its rows until the end of the transaction. SQLite needs no lock, as it has one writer. */
  readonly forUpdate: string;
  /** Statements that let one transaction at a time insert into a table. */
  lockInserts(table: string): readonly SqlStatement[];
  greatest(...expressions: readonly string[]): string;
  /** The time in milliseconds, as an SQL expression; later statements of a transaction see a later time. PostgreSQL: by the server's clock,
   * which all machines share. SQLite: by the clock that the driver was given. */
  readonly now: string;
  /** New numbers for rows, one per row (`number`), that no other transaction gets. @param highest for SQLite: the number before, as an SQL
   * expression, e.g. `(SELECT max(id) FROM calls)` */
  newNumbers(
    table: string,
    column: string,
    highest: string,
    count: number,
  ): SqlStatement<{ readonly number: number }>;
}

export interface SqlDatabase {
  readonly dialect: EngineDialect;
  /** Does work that writes nothing. On SQLite all of it sees one state of the database, on PostgreSQL each statement the latest. It
   * may be repeated from its beginning after the server was unreachable. */
  read<T>(work: () => SqlWork<T>): Promise<T>;
  /** Does all of the work exactly once, in one transaction, or throws. It may be repeated if the server did not commit it; the
   * earlier result is then dropped. SQLite: BEGIN IMMEDIATE, so no other process writes meanwhile. PostgreSQL: READ COMMITTED, so
   * lock rows that are read to be changed (`dialect.forUpdate`), always in the same order. */
  transact<T>(work: () => SqlWork<T>): Promise<T>;
}

/** A statement with its values, and the type of its rows. */
export function statement<Row extends object>(
  sql: string,
  values: readonly SqlValue[] = [],
): SqlStatement<Row> {
  return { sql, values };
}

type RowsOf<Statements extends readonly SqlStatement[]> = {
  [At in keyof Statements]: Statements[At] extends SqlStatement<infer Row> ? Row[] : never;
};

/** Sends statements together and waits for the rows of each: one round trip. */
export function* read<Statements extends readonly SqlStatement[]>(
  ...statements: Statements
): SqlWork<RowsOf<Statements>> {
  return (yield { statements, isRead: true }) as unknown as RowsOf<Statements>;
}

/** Statements, and the function that converts their rows. */
export interface SqlReading<T> {
  readonly statements: readonly SqlStatement[];
  take(rows: readonly (readonly object[])[]): T;
}

/** A reading of one statement that takes its rows as they are. */
export function readRows<Row extends object>(query: SqlStatement<Row>): SqlReading<Row[]> {
  return { statements: [query], take: ([rows]) => rows as Row[] };
}

type ResultsOf<Readings extends readonly SqlReading<unknown>[]> = {
  [At in keyof Readings]: Readings[At] extends SqlReading<infer T> ? T : never;
};

/** Combines several readings, in their order. */
export function together<Readings extends readonly SqlReading<unknown>[]>(
  ...readings: Readings
): SqlReading<ResultsOf<Readings>> {
  return {
    statements: readings.flatMap(({ statements }) => statements),
    take(rows) {
      let first = 0;
      return readings.map(({ statements, take }) => {
        const taken = take(rows.slice(first, first + statements.length));
        first += statements.length;
        return taken;
      }) as unknown as ResultsOf<Readings>;
    },
  };
}

/** Does several readings in one round trip. */
export function* readTogether<Readings extends readonly SqlReading<unknown>[]>(
  ...readings: Readings
): SqlWork<ResultsOf<Readings>> {
  const { statements, take } = together(...readings);
  return take(yield { statements, isRead: true });
}

/** Sends statements without a result: PostgreSQL gets them together with the next ones, at the end of the work with COMMIT. All of the
 * transaction is undone if one fails. */
export function* write(...statements: readonly SqlStatement[]): SqlWork<void> {
  if (statements.length > 0) yield { statements, isRead: false };
}

/** Rows as the JSON that `dialect.records` reads. A NUL and half of a surrogate pair, which a service's message may hold and PostgreSQL
 * cannot, become U+FFFD. */
export function toJson(rows: readonly object[]): string {
  const json = JSON.stringify(rows);
  if (!/\\u(0000|d[89a-f])/.test(json)) return json;
  return JSON.stringify(rows, (_, value) => (typeof value === 'string' ? storable(value) : value));
}

/** A text that both databases can store. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

export const SQLITE: EngineDialect = {
  engine: 'sqlite',
  records(parameter, alias, columns) {
    const members = Object.keys(columns).map((name) => `value ->> '${name}' AS "${name}"`);
    return `(SELECT ${members.join(', ')} FROM json_each(${parameter})) AS ${alias}`;
  },
  eachRow(rows, alias, columns, sql, together = 1) {
    const names = Object.keys(columns);
    const textOf = memo((count: number) => {
      const selects = Array.from({ length: count }, (_, row) => {
        const first = 1 + row * names.length;
        return `SELECT ${names.map((name, at) => `$${first + at} AS "${name}"`).join(', ')}`;
      });
      return sql(`(${selects.join(' UNION ALL ')}) AS ${alias}`);
    });
    const statements: Pick<SqlStatement, 'sql' | 'values'>[] = [];
    for (let from = 0; from < rows.length; ) {
      // Two texts for any number of rows: each is prepared once.
      const count = from + together <= rows.length ? together : 1;
      const values: SqlValue[] = [];
      for (const row of rows.slice(from, from + count)) {
        for (const name of names) {
          const value = row[name] ?? null;
          values.push(typeof value === 'string' ? storable(value) : value);
        }
      }
      statements.push({ sql: textOf(count), values });
      from += count;
    }
    return statements;
  },
  list: (parameter) => `(SELECT value FROM json_each(${parameter}))`,
  forUpdate: '',
  lockInserts: () => [],
  greatest: (...expressions) => `max(${expressions.join(', ')})`,
  // A function that the driver adds (`sqlite-driver.ts`).
  now: 'now_ms()',
  newNumbers: (_table, _column, highest, count) => ({
    sql: `WITH RECURSIVE places (place) AS (SELECT 1 UNION ALL SELECT place + 1 FROM places WHERE place < $1)
      SELECT place + coalesce(${highest}, 0) AS number FROM places`,
    values: [count],
  }),
};

const SERVER_NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

const records: EngineDialect['records'] = (parameter, alias, columns) => {
  const typed = Object.entries(columns).map(
    ([name, type]) => `"${name}" ${type === 'blob' ? 'bytea' : type}`,
  );
  return `json_to_recordset(${parameter}) AS ${alias} (${typed.join(', ')})`;
};

/** A row whose blobs are texts that PostgreSQL reads as blobs. */
function withHex(row: Readonly<Record<string, SqlValue>>): object {
  if (!Object.values(row).some(Buffer.isBuffer)) return row;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value,
    ]),
  );
}

/** @param now the server's time as SQL; tests give one that they move */
export function postgresDialect(now: () => string = () => SERVER_NOW): EngineDialect {
  return {
    engine: 'postgres',
    records,
    eachRow(rows, alias, columns, sql) {
      if (rows.length === 0) return [];
      return [{ sql: sql(records('$1', alias, columns)), values: [toJson(rows.map(withHex))] }];
    },
    list: (parameter, type) =>
      `(SELECT CAST(value AS ${type}) FROM json_array_elements_text(${parameter}))`,
    // Keys never change, so rows that refer to these may still be inserted.
    forUpdate: 'FOR NO KEY UPDATE',
    // A lock of the table itself needs more rights than inserting.
    lockInserts: (table) => [
      { sql: `SELECT pg_advisory_xact_lock('${table}'::regclass::oid::integer, 1)`, values: [] },
    ],
    greatest: (...expressions) => `greatest(${expressions.join(', ')})`,
    get now() {
      return now();
    },
    newNumbers: (table, column, _highest, count) => ({
      sql: `SELECT nextval(pg_get_serial_sequence('${table}', '${column}')) AS number FROM generate_series(1, $1)`,
      values: [count],
    }),
  };
}
