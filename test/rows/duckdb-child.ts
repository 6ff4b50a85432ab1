import { fork } from 'node:child_process';
import { once } from 'node:events';

/** What DuckDB reads from a query: names, types, and the values as texts. */
export interface Answer {
  readonly names: readonly string[];
  readonly types: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/** Nothing is kept from one message to the next: the files change. */
async function answers(queries: readonly string[]): Promise<(Answer | string)[]> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const settings = { threads: '2', enable_external_file_cache: 'false' };
  const instance = await DuckDBInstance.create(':memory:', settings);
  const connection = await instance.connect();
  const text = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  const all: (Answer | string)[] = [];
  for (const sql of queries) {
    try {
      const read = await connection.runAndReadAll(sql);
      const rows: Answer['rows'] = JSON.parse(JSON.stringify(read.getRowsJson(), text));
      all.push({ names: read.columnNames(), types: read.columnTypes().map(String), rows });
    } catch (error) {
      all.push((error as Error).message);
    }
  }
  connection.closeSync();
  instance.closeSync();
  return all;
}

if (import.meta.main)
  process.on('message', async (queries: string[]) => process.send!(await answers(queries)));

const LONGEST_MS = 60_000;

let running: ReturnType<typeof startChild> | null = null;
let last: Promise<unknown> = Promise.resolve();

/** Starts DuckDB's process, which costs half a second, and ends with this one. It does not keep this one from ending. */
function startChild() {
  const child = fork(import.meta.filename, { stdio: 'ignore', execArgv: [] });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('its process ended')));
  ended.catch(() => {});
  child.unref();
  return { child, ended };
}

async function answerTo(queries: readonly string[]): Promise<(Answer | string)[]> {
  running ??= startChild();
  const { child, ended } = running;
  child.channel?.ref();
  try {
    child.send(queries);
    const message = once(child, 'message', { signal: AbortSignal.timeout(LONGEST_MS) });
    const [all] = await Promise.race([message, ended]);
    return all;
  } catch (error) {
    child.kill('SIGKILL');
    running = null;
    return queries.map(() => `DuckDB gave up: ${(error as Error).message}`);
  } finally {
    child.channel?.unref();
  }
}

/** Asks DuckDB in another process, with a limit in time: it is given files that are made to break readers. An answer is a
 * text where DuckDB refuses. */
export async function askDuckdb(...queries: readonly string[]): Promise<(Answer | string)[]> {
  const answer = last.then(() => answerTo(queries));
  last = answer;
  return await answer;
}

/** Asks one thing that must be answered. */
export async function askedDuckdb(query: string): Promise<Answer> {
  const [answer] = await askDuckdb(query);
  if (answer === undefined || typeof answer === 'string')
    throw new Error(`DuckDB refuses: ${answer}`);
  return answer;
}

/** A text as SQL writes it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
