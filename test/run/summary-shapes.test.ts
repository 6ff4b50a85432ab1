import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LookupJson } from '../../src/cli/json/lookup-json.ts';
import { newProgress } from '../../src/run/frame/progress.ts';
import {
  type ProgressSoFar,
  type RunEvent,
  reportProgress,
} from '../../src/run/frame/run-events.ts';
import type { RunResult } from '../../src/run/run-job.ts';
import type { PlanSummary, RunSummary, WaySummary } from '../../src/run/summary-shapes.ts';
import { perilbook } from '../cli/command-line.ts';
import { openHarness, places } from './harness.ts';

/* The names of what leaves the program. A member that is renamed here breaks the programs of users: then it is a change of the interface,
 * named in CHANGELOG.md. The types make tsc fail, the tests the values. */

type Members<Shape> = Readonly<Record<keyof Shape, true>>;

const WAY: Members<WaySummary> = {
  credits: true,
  calls: true,
  bytes: true,
  overage_dollars: true,
  minutes: true,
  periods: true,
  finish_by: true,
  fits: true,
  lacks: true,
};

const PLAN: Members<PlanSummary> = {
  rows: true,
  located: true,
  invalid: true,
  outside_us: true,
  outside_us_box: true,
  parts: true,
  source: true,
  unit: true,
  max_invalid: true,
  findings: true,
  columns: true,
  read_leniently: true,
  cells: true,
  cells_cached: true,
  cells_rejected: true,
  calls: true,
  credits: true,
  prices: true,
  credits_retries_at_most: true,
  credits_available: true,
  credits_limit: true,
  fits: true,
  minutes: true,
  latency: true,
  periods: true,
  finish_by: true,
  ways: true,
  this_run: true,
  after_run: true,
  overage_dollars: true,
  saved: true,
  areas: true,
  scopes: true,
  refused_way: true,
  sample_data: true,
  credits_made_up: true,
};

const RUN: Members<RunSummary> = {
  ...PLAN,
  saved_by_plan: true,
  run: true,
  credits_spent: true,
  credits_unknown: true,
  credits_by_others: true,
  calls_above_price: true,
  credits_above_price: true,
  status: true,
  partial_kept: true,
  complete: true,
  output: true,
  output_kept: true,
  output_kept_because: true,
  last_failure: true,
  stopped: true,
  resume_after: true,
  losses: true,
};

const RESULT: Members<RunResult> = { summary: true, state: true, stop: true, ratings: true };

const LOOKUP: Members<LookupJson> = {
  lat: true,
  lng: true,
  status: true,
  note: true,
  as_of: true,
  hazards: true,
  credits_spent: true,
  credits_unknown: true,
  credits_limit: true,
};

/** Of the event `progress`, without its type. */
const PROGRESS: Members<ProgressSoFar> = {
  phase: true,
  rows: true,
  places: true,
  placesDone: true,
  creditsSpent: true,
  creditsUnknown: true,
  calls: true,
  callsInFlight: true,
};

const names = (shape: object) => Object.keys(shape).sort();

test('plan, run and look-up tell the members that their shapes declare, and no others', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput([...places(2), [51.5, -0.1]]);
  const plan = await harness.plan({ topics: ['hail'] });
  assert.deepEqual(names(plan), names(PLAN));
  assert.deepEqual(names(plan.ways.planned), names(WAY));
  const result = await harness.run({ topics: ['hail'] });
  assert.deepEqual(names(result), names(RESULT));
  const { losses: _, ...withoutLosses } = RUN;
  assert.deepEqual(names(result.summary), names(withoutLosses));
  const { stdout } = await perilbook(['lookup', '51.5', '-0.1', '--json', '-t', 'hail'], {
    folder: harness.folder,
    env: {
      PERILBOOK_BASE_URL: harness.url,
      PERILBOOK_API_KEY: harness.key().secret,
      XDG_DATA_HOME: harness.folder,
    },
  });
  assert.deepEqual(names(JSON.parse(stdout)), names(LOOKUP));
  const told: RunEvent[] = [];
  {
    using _ = reportProgress(newProgress(), (event) => told.push(event));
  }
  assert.deepEqual(names(told[0]!), names({ ...PROGRESS, type: true }));
});
