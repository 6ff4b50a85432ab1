import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { TestContext } from 'node:test';
import { parse } from 'csv-parse/sync';
import { systemClock } from '../../src/clock.ts';
import { columnsOf } from '../../src/columns/topic-columns.ts';
import type { Answer } from '../../src/contract/answer.ts';
import type { TopicSlug } from '../../src/contract/topics.ts';
import { cellOf, locationOf } from '../../src/geo/coordinates.ts';
import { isCovered } from '../../src/geo/us-coverage.ts';
import { prepare } from '../../src/run/prepare.ts';
import { openContext } from '../../src/run/run-context.ts';
import { run } from '../../src/run/run-job.ts';
import type { JobFile } from '../../src/run/settings/job-file.ts';
import { makeJob } from '../../src/run/settings/settings.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { SqlDialectName } from '../../src/warehouse/sql-dialects.ts';
import { joinStatement, placesStatement, type StatementOptions } from '../../src/warehouse/statements.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export const TOPICS: readonly TopicSlug[] = ['wildfire', 'park', 'ozone'];
type Texts = readonly (string | null)[];

/** A database with tables, in which the statements are run. */
export interface Engine {
  readonly dialect: SqlDialectName;
  /** Makes the table `answers` of texts from a CSV file. */
  loadAnswers(file: string): Promise<void>;
  /** The values of a result as texts. */
  query(sql: string): Promise<readonly Texts[]>;
}

export interface TrialOptions {
  /** The rows of the table `portfolio`, as a file that a run reads: id, lat, lng. */
  readonly input: string;
  readonly engine: Engine;
  readonly precision: number;
  readonly isNumeric?: boolean;
}

/** A folder with a store, and runs in it that buy nothing: what is to be answered is put into the store. */
function offlineRuns(t: TestContext) {
  const folder = temporaryFolder(t);
  const owner = { name: 'test', isAlive: () => true };
  const store = openSqliteStore(join(folder, 'store.db'), systemClock, owner, (topic) => columnsOf(topic).length);
  t.after(() => store.close());
  const connection = {
    kind: 'service' as const,
    baseUrl: 'http://127.0.0.1:9',
    source: 'https://hazards.example.com',
    sample: false,
    keys: [{ secret: 'unused', fingerprint: 'unused', scopes: null }],
  };
  const startedAt = Date.now();
  const runOnce = async (settings: JobFile, answered: boolean) => {
    const job = makeJob([{ topics: [...TOPICS], store: 'store.db', budget: 1e9, ...settings }], {
      dataFolder: folder,
      workingFolder: folder,
    });
    const effects = {
      ...{ clock: systemClock, random: Math.random, notice: () => {} },
      streams: { stdin: new PassThrough(), stdout: new PassThrough() },
    };
    const options = { connection, store, effects, asOf: startedAt, interrupt: AbortSignal.abort() };
    if (!answered) {
      using first = await prepare(await openContext(job, options));
      await answerCells(first.plan.scan.cells, await store.source(connection.source));
    }
    using prepared = await prepare(await openContext(job, options));
    return await run(prepared);
  };
  /** Of five cells, three get all answers, one gets some, and one none. */
  async function answerCells(
    cells: { size: number; cell(number: number): { lat7: number; lng7: number } },
    source: number,
  ) {
    for (let from = 0; from < cells.size; from += 5_000) {
      const batch = [];
      for (let number = from; number < Math.min(cells.size, from + 5_000); number++) {
        const topics = number % 5 < 3 ? TOPICS : number % 5 === 3 ? TOPICS.slice(0, 1) : [];
        const answers = topics.map((topic) => madeAnswer(topic, number, startedAt - 60_000 - (number % 97)));
        batch.push({ cell: cells.cell(number), answers, failures: [] });
      }
      await store.putAnswers(source, batch);
    }
  }
  return { folder, run: runOnce };
}

function madeAnswer(topic: TopicSlug, number: number, asOf: number): Answer {
  const fields = columnsOf(topic).map(({ type }, index) => {
    if (index > 0 && number % 7 === 0) return null;
    if (type === 'text') return `text "${number % 13}", 'x'`;
    return type === 'time' ? new Date(asOf).toISOString() : type === 'count' ? number % 1_000 : number / 7;
  });
  return { topic, asOf, fields };
}

/**
 * Runs both statements around a run of their places, and compares the result with a run of the rows themselves. Returns how many
 * rows have each status, and how many differ because a place and its rounded place are on two sides of the coverage limit.
 */
export async function compareWithRun(t: TestContext, { input, engine, precision, isNumeric = false }: TrialOptions) {
  const runs = offlineRuns(t);
  const expected = join(runs.folder, 'expected.csv');
  await runs.run({ input, output: expected, precision }, false);
  const options: StatementOptions = {
    ...{ dialect: engine.dialect, table: 'portfolio', lat: 'lat', lng: 'lng', isNumeric, precision },
    ...{ weight: null, answers: 'answers', topics: TOPICS, prefix: 'x_', counts: true },
  };
  const places = await engine.query(placesStatement(options));
  const lines = places.map((texts) => texts.join(','));
  assert.equal(
    new Set(lines.map((line) => line.split(',').slice(0, 2).join())).size,
    lines.length,
    'places are distinct',
  );
  writeFileSync(join(runs.folder, 'places.csv'), `lat,lng,weight\n${lines.join('\n')}\n`);
  const answers = join(runs.folder, 'answers.csv');
  await runs.run({ input: 'places.csv', output: answers, precision, max_invalid: 1 }, true);
  await engine.loadAnswers(answers);
  const joined = await engine.query(joinStatement(options));
  const rows: string[][] = parse(readFileSync(expected, 'utf8'));
  const [names, ...wanted] = rows;
  assert.deepEqual(names!.slice(0, 6), ['id', 'lat', 'lng', 'hazard_status', 'hazard_note', 'hazard_as_of']);
  const byId = new Map(joined.map((texts) => [texts[0]!, texts]));
  assert.equal(joined.length, wanted.length, 'each row comes once');
  const statuses: Record<string, number> = {};
  let atLimit = 0;
  for (const [id, lat, lng, status, note, ...fields] of wanted) {
    statuses[status!] = (statuses[status!] ?? 0) + 1;
    const [, , , ...found] = byId.get(id!)!;
    const own = [status, note!.replace(' --coordinates lenient would read it.', ''), ...fields];
    const got = found.map((text) => text ?? '');
    if (own.every((text, index) => text === got[index])) continue;
    const place = { lat: Number(lat!.trim()), lng: Number(lng!.trim()) };
    const isAtLimit = sidesOf(place).join() !== sidesOf(locationOf(cellOf(place, precision))).join();
    if (!isAtLimit) assert.deepEqual(got, own, `row ${id}: ${lat!.slice(0, 40)} ${lng!.slice(0, 40)}`);
    atLimit++;
  }
  return { statuses, atLimit, places: places.length };
}

/** What the checks say of a place and of the two that it may be meant for. */
function sidesOf({ lat, lng }: { lat: number; lng: number }): boolean[] {
  const isInRange = Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
  return [isInRange, isCovered({ lat, lng }), isCovered({ lat: lng, lng: lat }), isCovered({ lat, lng: -lng })];
}

/** A CSV field that any reader takes as it is. */
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

export function writeRowsCsv(file: string, texts: readonly (readonly [string, string])[]): void {
  const lines = texts.map(([lat, lng], index) => `${index},${quoted(lat)},${quoted(lng)}`);
  writeFileSync(file, `id,lat,lng\n${lines.join('\n')}\n`);
}
