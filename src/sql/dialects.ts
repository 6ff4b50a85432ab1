import type { EngineDialect } from './sql-work.ts';

export const SQLITE: EngineDialect = {
  engine: 'sqlite',
  records(parameter, alias, columns) {
    const members = Object.entries(columns).map(([name, type]) => {
      const member = `value ->> '${name}'`;
      return `${type === 'blob' ? `unhex(${member})` : member} AS "${name}"`;
    });
    return `(SELECT ${members.join(', ')} FROM json_each(${parameter})) AS ${alias}`;
  },
  hex: (bytes) => bytes.toString('hex'),
  forUpdate: '',
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

/** @param now the server's time as SQL; tests give one that they move */
export function postgresDialect(now: () => string = () => SERVER_NOW): EngineDialect {
  return {
    engine: 'postgres',
    records(parameter, alias, columns) {
      const typed = Object.entries(columns).map(([name, type]) => `"${name}" ${type === 'blob' ? 'bytea' : type}`);
      return `json_to_recordset(${parameter}) AS ${alias} (${typed.join(', ')})`;
    },
    hex: (bytes) => `\\x${bytes.toString('hex')}`,
    forUpdate: 'FOR UPDATE',
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
