import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What DuckDB says of the rows of a query: names, types, and the values as texts. */
export interface Answer {
  readonly names: readonly string[];
  readonly types: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

const PROGRAM = `
  import { DuckDBInstance } from '@duckdb/node-api';
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect();
  const answers = [];
  for (const sql of JSON.parse(process.argv[1])) {
    try {
      const read = await connection.runAndReadAll(sql);
      const text = (value) => (typeof value === 'bigint' ? String(value) : value);
      const rows = JSON.parse(JSON.stringify(read.getRowsJson(), (_, value) => text(value)));
      answers.push({ names: read.columnNames(), types: read.columnTypes().map(String), rows });
    } catch (error) {
      answers.push({ error: error.message });
    }
  }
  process.stdout.write(JSON.stringify(answers));
`;

/** Asks DuckDB in a process of its own, with a limit in time: it is given files that are made to break readers. An answer is
 * a text where DuckDB refuses. */
export async function askDuckdb(...queries: readonly string[]): Promise<(Answer | string)[]> {
  const flags = ['--input-type=module', '-e', PROGRAM, JSON.stringify(queries)];
  try {
    const options = { cwd: import.meta.dirname, timeout: 10_000, maxBuffer: 1 << 30 };
    const { stdout } = await run(process.execPath, flags, options);
    return JSON.parse(stdout).map((answer: Answer & { error?: string }) => answer.error ?? answer);
  } catch (error) {
    return queries.map(() => `DuckDB gave up: ${(error as Error).message.slice(0, 100)}`);
  }
}

/** Asks one thing that must be answered. */
export async function askedDuckdb(query: string): Promise<Answer> {
  const [answer] = await askDuckdb(query);
  if (answer === undefined || typeof answer === 'string') throw new Error(`DuckDB refuses: ${answer}`);
  return answer;
}

/** A text as SQL writes it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
