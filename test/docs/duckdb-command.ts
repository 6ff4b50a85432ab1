/** Stands for the DuckDB shell in the documents' commands: duckdb FILE -c SQL. */
import { DuckDBInstance } from '@duckdb/node-api';

const [file, option, sql] = process.argv.slice(2);
if (option !== '-c' || sql === undefined) throw new Error('usage: duckdb FILE -c SQL');
const instance = await DuckDBInstance.create(file);
const connection = await instance.connect();
const result = await connection.runAndReadAll(sql);
process.stdout.write(`${JSON.stringify(result.getRowsJson())}\n`);
connection.closeSync();
instance.closeSync();
