import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JobCheckJson, JobProblemJson } from '../../src/cli/json/check-json.ts';
import type {
  CountyRatingsJson,
  DataCheckJson,
  DataGetJson,
  DataJson,
  DataRemoveJson,
  DataSourceJson,
  DataTopicJson,
  SourceErrorJson,
} from '../../src/cli/json/data-json.ts';
import type {
  CachePruneJson,
  CacheStatsJson,
  CallsJson,
  CreditsJson,
  QuotaJson,
  ServicePriceJson,
  StatementLineJson,
  StatusRunJson,
  TopicJson,
} from '../../src/cli/json/ledger-json.ts';
import type { LogEvents, LoggedProgress, RunFinished } from '../../src/cli/json/run-finished.ts';
import type { ErrorReport } from '../../src/cli/options/exit-codes.ts';
import type { LoadResult } from '../../src/data/loaders/load-files.ts';
import type { LoadedDataset } from '../../src/data/tables/describe-data.ts';
import { openHarness, places } from '../run/harness.ts';
import { perilbook } from './command-line.ts';
import { machineWithoutRadon } from './radon-mirror.ts';

/* The names of what the commands print with `--json`, and of what programs are told of a run. A member that is renamed here breaks the programs
 * of users: then it is a change of the interface, named in CHANGELOG.md. The types make tsc fail, the tests the values. Those of plan, run
 * and look-up are in test/run/summary-shapes.test.ts, those of `service check` in service-check-long.test.ts. */

/** The members; `?` for one that may be left out. */
type Members<Shape> = {
  readonly [Name in keyof Shape]-?: undefined extends Shape[Name] ? '?' : '!';
};

const CALLS: Members<CallsJson> = { charged: '!', free: '!', unknown: '!', in_flight: '!' };
const CREDITS: Members<CreditsJson> = { charged: '!', unknown: '!', in_flight: '!' };

const STATUS_RUN: Members<StatusRunJson> = {
  run: '!',
  job: '!',
  input: '!',
  output: '!',
  account: '!',
  state: '!',
  started_at: '!',
  finished_at: '!',
  resume_after: '!',
  planned_credits: '!',
  budget: '!',
  credits_made_up: '!',
  charged: '!',
  unknown: '!',
  in_flight: '!',
  calls: '!',
  summary: '?',
};

const QUOTA: Members<QuotaJson> = {
  account: '!',
  subscription: '!',
  subscription_assumed: '!',
  period_start: '!',
  resets_on: '!',
  allowance: '!',
  charged: '!',
  unknown: '!',
  in_flight: '!',
  free_calls: '!',
  counted_later: '?',
  correction: '!',
  reserved: '!',
  left: '!',
  overage: '!',
  exhausted_at: '!',
  exhausted_left: '!',
};

const STATEMENT_LINE: Members<StatementLineJson> = {
  run: '?',
  job: '?',
  key: '?',
  day: '?',
  kind: '?',
  calls: '!',
  credits: '!',
};

const PRICE: Members<ServicePriceJson> = {
  service: '!',
  kind: '!',
  topic: '!',
  credits: '!',
  contract: '!',
  charged_at: '!',
  holds: '!',
};

const CACHE: Members<CacheStatsJson> = {
  sources: '!',
  calls: '!',
  credits: '!',
  sample: '!',
  bytes: '!',
};

const CACHE_SOURCE: Members<CacheStatsJson['sources'][number]> = {
  source: '!',
  cells: '!',
  answers: '!',
  oldest: '!',
};

const PRUNE: Members<CachePruneJson> = {
  damaged_forgotten: '?',
  forgotten: '?',
  runs_forgotten: '?',
  bytes_freed: '?',
  rejections_forgotten: '?',
  prices_forgotten: '?',
};

const TOPIC: Members<TopicJson> = {
  slug: '!',
  title: '!',
  category: '!',
  credits: '!',
  cadence: '!',
  fresh_seconds: '!',
  columns: '!',
};

const DATA: Members<DataJson> = {
  database: '!',
  sample: '!',
  datasets: '!',
  county_ratings: '?',
  topics: '!',
  sources: '!',
};

const DATASET: Members<LoadedDataset> = {
  name: '!',
  level: '!',
  source: '!',
  vintage: '!',
  licence: '!',
  sample: '!',
  states: '?',
  rows: '!',
  loadedAt: '!',
  parts: '!',
};

const COUNTY_RATINGS: Members<CountyRatingsJson> = {
  tracts: '!',
  tracts_without_rating: '!',
  tracts_without_any_rating: '!',
  tracts_without_hazard: '!',
  counties_without_all_tracts: '!',
};

const DATA_TOPIC: Members<DataTopicJson> = {
  topic: '!',
  answered: '!',
  datasets: '!',
  missing: '!',
  outdated: '?',
  get: '?',
};

const DATA_SOURCE: Members<DataSourceJson> = {
  source: '!',
  title: '!',
  topics: '!',
  bytes: '!',
  cadence: '!',
  note: '?',
  due: '!',
  downloaded: '!',
};

const DATA_GET: Members<DataGetJson['sources'][number]> = {
  source: '!',
  states: '!',
  new_files: '!',
  records: '?',
  vintage: '?',
  rejected: '?',
  error: '?',
};

const DATA_CHECK: Members<DataCheckJson['sources'][number]> = {
  source: '!',
  ok: '!',
  warning: '?',
  answers: '!',
  away: '?',
  first_bytes_only: '!',
  error: '?',
};

const DATA_CHECK_ANSWER: Members<DataCheckJson['sources'][number]['answers'][number]> = {
  url: '!',
  rows: '?',
  newest: '?',
  box: '?',
  changed: '?',
};

const DATA_REMOVE: Members<DataRemoveJson['removed'][number]> = { source: '!', datasets: '!' };

const DATA_LOAD: Members<LoadResult> = {
  dataset: '!',
  level: '!',
  vintage: '!',
  states: '?',
  records: '!',
  rows: '!',
  loaded: '!',
  rejected: '!',
  notes: '!',
};

const SOURCE_ERROR: Members<SourceErrorJson> = { code: '!', message: '!', hint: '!' };

const JOB_CHECK: Members<JobCheckJson> = { file: '!', ok: '!', problems: '!', warnings: '!' };
const JOB_PROBLEM: Members<JobProblemJson> = { line: '!', column: '!', message: '!', hint: '?' };

const FINISHED: Members<RunFinished> = {
  event: '!',
  version: '!',
  job: '!',
  run: '!',
  exit_code: '!',
  state: '!',
  started_at: '!',
  ended_at: '!',
  error: '!',
  summary: '!',
};

const ERROR: Members<ErrorReport> = {
  code: '!',
  message: '!',
  hint: '!',
  file: '?',
  line: '?',
  row: '?',
  column: '?',
};

const PROGRESS: Members<LoggedProgress> = {
  phase: '!',
  rows: '!',
  places: '!',
  credits_planned: '!',
  places_done: '!',
  credits_spent: '!',
  credits_unknown: '!',
  calls: '!',
  calls_in_flight: '!',
  retries: '!',
  slowed_down: '!',
  failures: '!',
};

const EVENTS: { readonly [Event in keyof LogEvents]: object } = {
  message: { message: '!' },
  planned: { plan: '!' },
  progress: PROGRESS,
  finished: { exit_code: '!', state: '!', message: '!', summary: '!' },
  error: { ...ERROR, exit_code: '!' },
  stopping: { message: '!' },
  'output lost': { message: '!', hint: '!' },
} satisfies { readonly [Event in keyof LogEvents]: Members<LogEvents[Event]> };

/** Fails where a value has other members than its shape. */
function checkMembers(value: object, members: object, what: string): void {
  const names = Object.keys(members);
  const needed = names.filter((name) => (members as Record<string, string>)[name] === '!');
  const present = Object.keys(value);
  assert.deepEqual(
    present.filter((name) => !names.includes(name)),
    [],
    `${what} has a member that is not declared`,
  );
  assert.deepEqual(
    needed.filter((name) => !present.includes(name)),
    [],
    `${what} lacks a member`,
  );
}

test('what the commands on a store print, and what programs are told of a run, has the members that are declared', async (t) => {
  const harness = await openHarness(t);
  const { folder } = harness;
  harness.writeInput(places(2));
  writeFileSync(join(folder, 'key'), harness.key().secret, { mode: 0o600 });
  writeFileSync(
    join(folder, 'job.yaml'),
    [
      'input: input.csv',
      'output: out.csv',
      'topics: [hail]',
      `service: {base_url: ${harness.url}, api_keys: [{file: key}]}`,
      'on_finish: [sh, -c, "cat > told"]',
    ].join('\n'),
  );
  const options = { folder, env: { XDG_DATA_HOME: folder } };
  const printed = async (...args: string[]) =>
    JSON.parse((await perilbook([...args, '--json'], options)).stdout);
  const { code, stderr } = await perilbook(['run', 'job.yaml', '--yes', '--log', 'json'], options);
  assert.equal(code, 0, stderr);
  checkMembers(JSON.parse(readFileSync(join(folder, 'told'), 'utf8')), FINISHED, 'on_finish');
  const events = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const { event, ...members } of events) {
    const shape = EVENTS[event as keyof LogEvents];
    checkMembers(members, { time: '!', level: '!', ...shape }, `the event ${event}`);
  }
  const kinds = new Set(events.map(({ event }) => event));
  for (const kind of ['planned', 'progress', 'finished']) assert.ok(kinds.has(kind), kind);

  const [run] = await printed('status');
  checkMembers(run, STATUS_RUN, 'status');
  checkMembers(run.calls, CALLS, 'calls');
  const quota = await printed('quota', '--by', 'run');
  checkMembers(quota, { ...QUOTA, prices: '!', by: '!', statement: '!' }, 'quota');
  checkMembers(quota.statement[0], STATEMENT_LINE, 'a statement');
  checkMembers(quota.statement[0].calls, CALLS, 'calls');
  checkMembers(quota.statement[0].credits, CREDITS, 'credits');
  checkMembers(quota.prices[0], PRICE, 'a price');
  const stats = await printed('cache', 'stats');
  checkMembers(stats, CACHE, 'cache stats');
  checkMembers(stats.sources[0], CACHE_SOURCE, 'a source');
  for (const charges of [stats, stats.sample]) {
    checkMembers(charges.calls, CALLS, 'calls');
    checkMembers(charges.credits, CREDITS, 'credits');
  }
  const all = ['--older-than', '1d', '--rejected', '--prices', '--damaged', '--yes'];
  const pruned = await printed('cache', 'prune', ...all);
  assert.deepEqual(Object.keys(pruned).sort(), Object.keys(PRUNE).sort());
  for (const topic of await printed('topics')) checkMembers(topic, TOPIC, 'a topic');

  writeFileSync(join(folder, 'wrong.yaml'), 'input: input.csv\ntopics: [hale]\n');
  const wrong = await printed('job', 'check', 'wrong.yaml');
  checkMembers(wrong, JOB_CHECK, 'job check');
  checkMembers(wrong.problems[0], JOB_PROBLEM, 'a problem');
  const failed = await printed('run', 'nowhere.csv');
  checkMembers(failed, { error: '!' }, 'an error');
  checkMembers(failed.error, ERROR, 'an error');
});

test('what the commands of data print has the members that are declared', async (t) => {
  const { folder } = await machineWithoutRadon(t, Date.now());
  const options = { folder, env: { XDG_DATA_HOME: folder } };
  const printed = async (...args: string[]) =>
    JSON.parse((await perilbook(['data', ...args, '--json'], options)).stdout);
  const { sources: checked } = await printed('check', 'radon', 'air-quality');
  for (const source of checked) checkMembers(source, DATA_CHECK, 'a checked source');
  const answers = checked.flatMap((source: { answers: object[] }) => source.answers);
  checkMembers(answers[0], DATA_CHECK_ANSWER, 'the answer of a source');
  const errors = checked.flatMap((source: { error?: object }) => source.error ?? []);
  checkMembers(errors[0], SOURCE_ERROR, 'the error of a source');
  const { sources: got } = await printed('get', 'radon', '--yes');
  for (const source of got) checkMembers(source, DATA_GET, 'a source that was got');
  const data = await printed();
  checkMembers(data, DATA, 'data');
  for (const dataset of data.datasets) checkMembers(dataset, DATASET, 'a dataset');
  for (const topic of data.topics) checkMembers(topic, DATA_TOPIC, 'a topic');
  for (const source of data.sources) checkMembers(source, DATA_SOURCE, 'a source');
  if (data.county_ratings) checkMembers(data.county_ratings, COUNTY_RATINGS, 'county_ratings');
  writeFileSync(join(folder, 'radon.csv'), 'CountyFIPS,StateName,RadonZone\n06037,California,2\n');
  const loaded = await printed('load', 'radon', 'radon.csv', '--replace');
  checkMembers(loaded, DATA_LOAD, 'data load');
  const { removed } = await printed('remove', 'radon', '--yes');
  checkMembers(removed[0], DATA_REMOVE, 'data remove');
});
