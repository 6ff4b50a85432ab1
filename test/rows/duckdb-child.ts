import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** What DuckDB reads from a query: names, types, and the values as texts. */
export interface Answer {
  readonly names: readonly string[];
  readonly types: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/** Answers a line of queries with a line of answers. Nothing is kept from one line to the next: the files change. */
const PROGRAM = `
  import { createInterface } from 'node:readline';
  import { DuckDBInstance } from '@duckdb/node-api';
  const settings = { threads: '2', enable_external_file_cache: 'false' };
  const text = (value) => (typeof value === 'bigint' ? String(value) : value);
  for await (const line of createInterface(process.stdin)) {
    const instance = await DuckDBInstance.create(':memory:', settings);
    const connection = await instance.connect();
    const answers = [];
    for (const sql of JSON.parse(line)) {
      try {
        const read = await connection.runAndReadAll(sql);
        const rows = JSON.parse(JSON.stringify(read.getRowsJson(), (_, value) => text(value)));
        answers.push({ names: read.columnNames(), types: read.columnTypes().map(String), rows });
      } catch (error) {
        answers.push({ error: error.message });
      }
    }
    connection.closeSync();
    instance.closeSync();
    process.stdout.write(JSON.stringify(answers) + '\\n');
  }
`;
const LONGEST_MS = 60_000;

type Child = ChildProcessByStdio<Writable, Readable, null>;
let running: Child | null = null;
let last: Promise<unknown> = Promise.resolve();

/** Starts DuckDB's process, which costs half a second, and ends with this one. It does not keep this one from ending. */
function startChild(): Child {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.unref();
  for (const pipe of [child.stdin, child.stdout]) (pipe as Socket).unref();
  child.stdin.on('error', () => {});
  return child;
}

async function answerTo(queries: readonly string[]): Promise<(Answer | string)[]> {
  running ??= startChild();
  const child = running;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const lines = createInterface(child.stdout).once('line', resolve);
  const onExit = () => reject(new Error('its process ended'));
  child.once('exit', onExit);
  const timer = setTimeout(() => reject(new Error(`no answer in ${LONGEST_MS} ms`)), LONGEST_MS);
  try {
    child.stdin.write(`${JSON.stringify(queries)}\n`);
    const answers = JSON.parse(await promise) as (Answer & { error?: string })[];
    return answers.map((answer) => answer.error ?? answer);
  } catch (error) {
    child.kill('SIGKILL');
    running = null;
    return queries.map(() => `DuckDB gave up: ${(error as Error).message}`);
  } finally {
    clearTimeout(timer);
    child.off('exit', onExit);
    lines.close();
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
  if (answer === undefined || typeof answer === 'string') throw new Error(`DuckDB refuses: ${answer}`);
  return answer;
}

/** A text as SQL writes it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
