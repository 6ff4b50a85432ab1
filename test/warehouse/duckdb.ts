import { DuckDBInstance } from '@duckdb/node-api';
import type { Engine } from './warehouse-trial.ts';

/** A DuckDB in this process, with an empty database. */
export async function openDuckdb(): Promise<Engine & { execute(sql: string): Promise<void>; close(): void }> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  const execute = async (sql: string) => void (await connection.run(sql));
  return {
    dialect: 'duckdb',
    execute,
    async loadAnswers(file) {
      await execute(`CREATE OR REPLACE TABLE answers AS SELECT * FROM ${textsOf(file)}`);
    },
    async query(sql) {
      const result = await connection.runAndReadAll(sql);
      return result.getRowsJson().map((row) => row.map((value) => (value === null ? null : String(value))));
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
