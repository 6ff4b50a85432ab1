import { createReadStream, createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import { LATITUDE, LONGITUDE } from './oed-portfolio.ts';

/** What the peers of a warm run are given: the book and the answers in files of one format. */
export interface PeerFiles {
  readonly input: string;
  readonly answers: string;
  readonly output: string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

async function inDuckdb(sql: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
}

/** The join of the book with the table of answers by `COPY`; the answers are read from their file, as Perilbook reads its
 * store. `preserve_insertion_order` stays on, as rows must come back in order. Halves are rounded
 * up, as a cell's are, from whole millionths: a double's `.5` would fall on either side. */
export async function duckdb(
  { input, answers, output }: PeerFiles,
  format: 'csv' | 'parquet',
): Promise<void> {
  const read = format === 'csv' ? 'read_csv' : 'read_parquet';
  await inDuckdb(
    `COPY (SELECT b.*, a.* EXCLUDE (lat7, lng7)
       FROM ${read}(${quoted(input)}) b LEFT JOIN ${read}(${quoted(answers)}) a
       ON a.lat7 = CAST(floor((CAST(round(b.Latitude * 1e6) AS BIGINT) + 50) / 100) * 1000 AS INTEGER)
       AND a.lng7 = CAST(floor((CAST(round(b.Longitude * 1e6) AS BIGINT) + 50) / 100) * 1000 AS INTEGER))
     TO ${quoted(output)} (FORMAT ${format})`,
  );
}

/** Turns a CSV file into Parquet. */
export async function toParquet(input: string, output: string): Promise<void> {
  await inDuckdb(`COPY (FROM read_csv(${quoted(input)})) TO ${quoted(output)} (FORMAT parquet)`);
}

/** How many rows the input has, how many rows of our output are not in their place, and how many differ from the peer's row in any
 * value that both have. */
export async function compareOutputs(
  input: string,
  ours: string,
  theirs: string,
): Promise<{ rows: number; misplaced: number; different: number }> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  const rowsOf = async (sql: string) => (await connection.runAndReadAll(sql)).getRows();
  const [row] = await rowsOf(
    `SELECT count(i.LocNumber)::INTEGER, (count(*) FILTER (i.LocNumber IS DISTINCT FROM o.LocNumber))::INTEGER
       FROM ${quoted(input)} i POSITIONAL JOIN ${quoted(ours)} o`,
  );
  const columns = (await rowsOf(`DESCRIBE FROM ${quoted(theirs)}`)).map(([name]) => `"${name}"`);
  // The peer has no word for places outside the US.
  const differs = columns
    .map((name) =>
      name === '"hazard_status"'
        ? `(o.${name} = 'ok') IS DISTINCT FROM (t.${name} IS NOT NULL)`
        : `o.${name} IS DISTINCT FROM t.${name}`,
    )
    .join(' OR ');
  const [found] = await rowsOf(
    `SELECT (count(*) FILTER (${differs}))::INTEGER
       FROM ${quoted(ours)} o FULL JOIN ${quoted(theirs)} t ON o.LocNumber = t.LocNumber`,
  );
  connection.closeSync();
  instance.closeSync();
  return { rows: Number(row![0]), misplaced: Number(row![1]), different: Number(found![0]) };
}

/** What one would write with the usual libraries: all answers in a Map, then row after row. */
export async function plain({ input, answers, output }: PeerFiles): Promise<void> {
  const known = new Map<string, string[]>();
  let names: string[] = [];
  for await (const [lat7, lng7, ...fields] of createReadStream(answers).pipe(
    parse(),
  ) as AsyncIterable<string[]>) {
    if (names.length === 0) names = fields;
    else known.set(`${lat7},${lng7}`, fields);
  }
  const none = names.map(() => '');
  const units = (degrees: string) =>
    Math.floor((Math.round(Number(degrees) * 1e6) + 50) / 100) * 1000;
  let isHeader = true;
  const join = new Transform({
    objectMode: true,
    transform(record: string[], _encoding, done) {
      const key = isHeader ? '' : `${units(record[LATITUDE]!)},${units(record[LONGITUDE]!)}`;
      done(null, [...record, ...(isHeader ? names : (known.get(key) ?? none))]);
      isHeader = false;
    },
  });
  await pipeline(createReadStream(input), parse(), join, stringify(), createWriteStream(output));
}
