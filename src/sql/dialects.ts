import { type EngineDialect, type SqlValue, storable, toJson } from './sql-work.ts';

export const SQLITE: EngineDialect = {
  engine: 'sqlite',
  records(parameter, alias, columns) {
    const members = Object.keys(columns).map((name) => `value ->> '${name}' AS "${name}"`);
    return `(SELECT ${members.join(', ')} FROM json_each(${parameter})) AS ${alias}`;
  },
  eachRow(rows, alias, columns, sql) {
    const names = Object.keys(columns);
    const text = sql(`(SELECT ${names.map((name, at) => `$${at + 1} AS "${name}"`).join(', ')}) AS ${alias}`);
    return rows.map((row) => {
      const value = (name: string) => (typeof row[name] === 'string' ? storable(row[name]) : (row[name] ?? null));
      return { sql: text, values: names.map(value) };
    });
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
  const typed = Object.entries(columns).map(([name, type]) => `"${name}" ${type === 'blob' ? 'bytea' : type}`);
  return `json_to_recordset(${parameter}) AS ${alias} (${typed.join(', ')})`;
};

/** A row whose blobs are texts that PostgreSQL reads as blobs. */
function withHex(row: Readonly<Record<string, SqlValue>>): object {
  if (!Object.values(row).some(Buffer.isBuffer)) return row;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value]),
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
    list: (parameter, type) => `(SELECT CAST(value AS ${type}) FROM json_array_elements_text(${parameter}))`,
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
