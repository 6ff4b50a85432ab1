import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gateBefore, type Passage, startBin } from '../cli/bin-process.ts';
import { column, openHarness, places } from '../run/harness.ts';
import { visitor, WILDFIRE, yes } from './ui-scene.ts';

const timeout = 300_000;
const CELLS = 40;

/** The bin over a service on the wall clock. */
async function setScene(
  t: TestContext,
  more: readonly string[] = [],
  passage: (n: number) => Passage = () => 'answer',
) {
  const now = Date.now();
  const harness = await openHarness(t, { clock: { start: now, factor: 1, origin: now } });
  harness.writeInput(places(CELLS));
  const gate = await gateBefore(t, harness.url, passage);
  const { secret } = harness.key();
  const env = { PERILBOOK_BASE_URL: gate.url, PERILBOOK_API_KEY: secret };
  const start = async () => {
    const bin = startBin(t, ['ui', '--subscription', 'starter', ...more], harness.folder, env);
    await bin.said('token=');
    return bin;
  };
  return { harness, gate, start, bin: await start(), secret };
}

async function visit(stderr: string) {
  const address = new URL(/http:\S+/.exec(stderr)![0]);
  const port = Number(address.port);
  const { headers } = await visitor(port, null).ask('GET', `/${address.search}`);
  return visitor(port, String(headers['set-cookie']).split(';')[0]!);
}

test('SIGINT while a run buys lands what is in flight, writes the output, and ends with 130', {
  timeout,
}, async (t) => {
  const { harness, gate, bin, secret } = await setScene(t, ['input.csv', '--budget', '1000']);
  const page = await visit(bin.text());
  const { first: id, most_budget } = (await page.ask('GET', '/api/about')).body;
  assert.equal(most_budget, 1000);
  // The starter subscription has 300 credits a minute: of 40 cells in all topics, some eight.
  const body = {
    ...WILDFIRE,
    topics: ['wildfire', 'superfund', 'radon', 'ozone', 'hail', 'park', 'drought', 'tsunami'],
  };
  assert.equal((await page.ask('GET', `/api/files/${id}`)).body.name, 'input.csv');
  await page.ask('POST', `/api/files/${id}/start`, { body: { ...body, ...yes(320) } });
  await gate.reached(5);
  bin.kill('SIGINT');
  const { code, stderr } = await bin.ended;
  assert.equal(code, 130, stderr);
  const output = readFileSync(join(harness.folder, 'perilbook/ui', id, 'output/input.hazards.csv'), 'utf8');
  assert.equal(column(output, 'hazard_status').length, CELLS);
  assert.ok(harness.charged() >= 5 && harness.charged() < 320, `${harness.charged()}`);
  const tables = readdirSync(harness.folder).filter((name) => name.endsWith('.csv'));
  assert.deepEqual(tables, ['input.csv']);
  assert.ok(!stderr.includes(secret));
});

test('SIGINT while nothing runs ends with 0; the key of the environment stays in it', { timeout }, async (t) => {
  const { bin, secret } = await setScene(t);
  const page = await visit(bin.text());
  const { text } = await page.ask('GET', '/api/about');
  assert.ok(!text.includes(secret));
  bin.kill('SIGINT');
  const { code, stdout, stderr } = await bin.ended;
  assert.deepEqual([code, stdout], [0, ''], stderr);
});

test('killed in the middle of a run, the next one lists it as cut off and buys the rest', { timeout }, async (t) => {
  let isHeld = true;
  const passage = (number: number): Passage => (number > 5 && isHeld ? 'hold' : 'answer');
  const { harness, gate, start, bin } = await setScene(t, ['input.csv'], passage);
  const page = await visit(bin.text());
  const { first: id } = (await page.ask('GET', '/api/about')).body;
  await page.ask('POST', `/api/files/${id}/start`, { body: { ...WILDFIRE, ...yes(CELLS) } });
  await gate.reached(8);
  // All eight may be sent before the first is charged.
  while (harness.charged() < 5) await delay(20, undefined, { signal: t.signal });
  bin.kill('SIGKILL');
  await bin.ended;
  assert.equal(harness.charged(), 5, 'the held calls never came to the service');

  isHeld = false;
  const later = await visit((await start()).text());
  const run = (await later.ask('GET', `/api/files/${id}`)).body.run.end;
  assert.equal(run.state, 'cut off');
  assert.ok(run.unknown >= 3, 'the held calls');
  assert.equal(run.budget_left, CELLS - run.charged - run.unknown, 'unknown credits count as spent');
  // An answer may have been on its way when the process was killed: the ledger has that call as one of unknown outcome.
  const lost = harness.charged() - run.charged;
  assert.ok(lost >= 0 && lost <= run.unknown, `${lost} lost, ${run.unknown} unknown`);
  await later.ask('POST', `/api/files/${id}/start`, { body: { ...WILDFIRE, ...yes(CELLS) } });
  const { end } = await later.ended(id);
  assert.deepEqual([end?.state, harness.charged()], ['complete', CELLS + lost], 'the rest only');
});
