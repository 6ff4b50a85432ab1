import { DuckDBInstance } from '@duckdb/node-api';

/** A DuckDB in this process. */
export interface Duckdb {
  execute(sql: string): Promise<void>;
  /** The rows as texts. */
  query(sql: string): Promise<readonly (readonly (string | null)[])[]>;
  close(): void;
}

/** Opens a DuckDB with an empty database. */
export async function openDuckdb(): Promise<Duckdb> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  return {
    async execute(sql) {
      await connection.run(sql);
    },
    async query(sql) {
      const result = await connection.runAndReadAll(sql);
      return result
        .getRowsJson()
        .map((row) => row.map((value) => (value === null ? null : String(value))));
    },
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** A CSV file as a table of texts. */
export function textsOf(file: string): string {
  return `read_csv('${file}', all_varchar = true, header = true, delim = ',', quote = '"', escape = '"', strict_mode = true)`;
}
