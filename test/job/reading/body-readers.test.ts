import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, platform } from 'node:os';
import { type TestContext, test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { MAX_BODY_BYTES } from '../../../src/contract/body-limits.ts';
import { unread } from '../../../src/fetch/envelope.ts';
import { type BodyReaderOptions, createBodyReader } from '../../../src/job/reading/body-readers.ts';
import { parseAnswer, type ReadRequest } from '../../../src/job/reading/parsed-answer.ts';
import { ENTERPRISE, envelopeOf, PLACE } from '../../fetch/answers.ts';

const TASK: ReadRequest = { call: ENTERPRISE, location: PLACE, keepDetails: false, keys: [] };

function readerOf(t: TestContext, options: BodyReaderOptions = {}) {
  const reader = createBodyReader({ fromBytes: 0, workers: 2, ...options });
  t.after(() => reader.close());
  return reader;
}

/** A worker made of this text. */
const moduleOf = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`);
const READY = "import { parentPort } from 'node:worker_threads'; parentPort.postMessage('ready');";

/** An enterprise bundle with so many records of `details`. */
function bodyOf(records: number): Buffer {
  const envelope = envelopeOf(ENTERPRISE);
  const events = Array.from({ length: records }, (_, index) => ({ year: 2000 + (index % 20), name: `Größe ${index}` }));
  (envelope.data as { topics: Record<string, { details: unknown }> }).topics.wildfire!.details = {
    current: [],
    historical: events,
    perimeters: null,
  };
  return Buffer.from(JSON.stringify(envelope));
}

test('a worker reads what the loop would read', async (t) => {
  const reader = readerOf(t);
  for (const [call, body] of [
    [ENTERPRISE, bodyOf(5_000)],
    [ENTERPRISE, Buffer.from('<html>')],
    [ENTERPRISE, Buffer.from(JSON.stringify(envelopeOf(ENTERPRISE, { lat: 1, lng: 1 })))],
    [{ kind: 'single', topic: 'wildfire' } as const, bodyOf(1)],
  ] as const) {
    for (const keepDetails of [false, true]) {
      const task = { ...TASK, call, keepDetails };
      assert.deepEqual(await reader.read(task, Buffer.from(body)), parseAnswer(task, body));
    }
  }
});

const onlyOnLinux = { skip: platform() !== 'linux' && 'only Linux has a priority for each thread' };

test('a worker has a lower priority than the loop', onlyOnLinux, async (t) => {
  const before = getPriority();
  await readerOf(t).read(TASK, bodyOf(10));
  // proc(5): the 19th field, and the second is a name in parentheses, which may contain spaces.
  const threads = readdirSync('/proc/self/task').map((id) => readFileSync(`/proc/self/task/${id}/stat`, 'utf8'));
  const nices = threads.map((stat) => Number(stat.slice(stat.lastIndexOf(')')).split(' ')[17]));
  assert.equal(getPriority(), before);
  assert.ok(nices.includes(Math.min(19, before + 5)), `${before}, and of the threads ${nices}`);
});

test('a large body is handed over, a small one is read at once', async (t) => {
  const reader = readerOf(t, { fromBytes: 100_000 });
  const [large, small] = [bodyOf(5_000), bodyOf(10)];
  const readings = [reader.read(TASK, large), reader.read(TASK, small)];
  for (const reading of await Promise.all(readings)) assert.equal(reading.ok, true);
  assert.deepEqual([large.length, small.length > 0], [0, true]);
});

test('details come compressed and whole; where there are none, null', async (t) => {
  const reading = await readerOf(t).read({ ...TASK, keepDetails: true }, bodyOf(3_000));
  assert.ok(reading.ok);
  const [wildfire, radon] = [reading.results.get('wildfire')!, reading.results.get('radon')!];
  assert.ok(wildfire.ok && wildfire.result.details && radon.ok);
  const json = zstdDecompressSync(wildfire.result.details.zstd);
  assert.equal(json.length, wildfire.result.details.bytes);
  assert.equal(JSON.parse(json.toString()).historical.length, 3_000);
  assert.ok(json.length > 10 * wildfire.result.details.zstd.length);
  assert.equal(radon.result.details, null);
});

test('more bodies than workers are all read, each for itself', async (t) => {
  const reader = readerOf(t);
  const counts = Array.from({ length: 20 }, (_, index) => 50 * index);
  const readings = await Promise.all(counts.map((count) => reader.read(TASK, bodyOf(count))));
  const read = readings.map((reading) => {
    const found = reading.ok ? reading.results.get('wildfire') : undefined;
    return found?.ok ? found.result.fields : null;
  });
  for (const [index, fields] of read.entries()) assert.ok(fields?.includes(counts[index]!), String(fields));
});

test('a worker that runs out of memory ends as unread', async (t) => {
  const module = moduleOf(`${READY} parentPort.on('message', () => { for (const all = []; ; ) all.push([all]); });`);
  const reading = await readerOf(t, { heapMb: 24, module }).read(TASK, bodyOf(1));
  assert.deepEqual(reading, unread('it needs more than 24 MB of memory'));
});

for (const unit of ['{},', '[],', '{"a":1},']) {
  test(`the largest body there may be, made of nothing but ${unit} is refused before it is parsed`, async (t) => {
    const body = Buffer.from(`{"data":[${unit.repeat(MAX_BODY_BYTES / unit.length - 10)}0]}`);
    const reading = await readerOf(t).read(TASK, body);
    assert.deepEqual(reading, unread('it has more than 2 million objects, lists and members'));
  });
}

test('a bundle of 7 MB with many features is read, and so is one of nothing but coordinates', () => {
  const texts = {
    features: '{"type":"Feature","geometry":{"type":"Point","coordinates":[-99.1,40.1]},"properties":{"id":1,"n":2}},',
    coordinates: '{"type":"Feature","geometry":{"type":"LineString","coordinates":[COORDINATES]},"properties":null},',
  };
  for (const [kind, text] of Object.entries(texts)) {
    const line = text.replace('COORDINATES', '[-99.1,40.1],'.repeat(1_000).slice(0, -1));
    const features = line.repeat(7e6 / line.length).slice(0, -1);
    const [head, tail] = JSON.stringify(envelopeOf(ENTERPRISE)).split('"features":[]');
    const rest = JSON.stringify(envelopeOf(ENTERPRISE)).slice(`${head}"features":[]`.length);
    assert.ok(tail !== undefined);
    const reading = parseAnswer(TASK, Buffer.from(`${head}"features":[${features}]${rest}`));
    assert.ok(reading.ok, `${kind}: ${JSON.stringify(reading).slice(0, 200)}`);
  }
});

test('bodies that are together larger than may be read at one time are read one after the other', async (t) => {
  // Says when it began and ended, in place of a reading.
  const module = moduleOf(`${READY}
    parentPort.on('message', () => {
      const from = Date.now();
      setTimeout(() => parentPort.postMessage({ ok: false, from, to: Date.now() }), 30);
    });`);
  const reader = readerOf(t, { workers: 2, mostBytes: 1_500, module });
  const readings = await Promise.all([1, 2, 3].map(() => reader.read(TASK, Buffer.alloc(1_000))));
  const spans = (readings as unknown as { from: number; to: number }[]).toSorted((a, b) => a.from - b.from);
  for (const [index, { to }] of spans.slice(0, -1).entries()) assert.ok(spans[index + 1]!.from >= to);
});

for (const [name, text, says] of [
  ['throws', `${READY} parentPort.on('message', () => { throw new Error('broken'); });`, /could not be read: broken$/],
  ['exits', `${READY} parentPort.on('message', () => process.exit(1));`, /its reader ended$/],
  // It blocks its thread, as a loop without an end does, and takes no processor time.
  [
    'never answers',
    `${READY} const cell = new Int32Array(new SharedArrayBuffer(4)); parentPort.on('message', () => Atomics.wait(cell, 0, 0));`,
    /it took more than 1 s$/,
  ],
] as const) {
  test(`a worker that ${name} ends as unread, every time`, async (t) => {
    // The limit is for the one that never answers: on a busy machine the others may take longer.
    const limitMs = name === 'never answers' ? 1_000 : 60_000;
    const reader = readerOf(t, { workers: 1, limitMs, module: moduleOf(text) });
    for (const reading of await Promise.all([1, 2, 3].map((count) => reader.read(TASK, bodyOf(count))))) {
      assert.ok(!reading.ok && reading.reason === 'unread');
      assert.match(reading.message, says);
    }
  });
}

for (const [name, module] of [
  ['is not there', new URL('./no-such-worker.js', import.meta.url)],
  ['fails as it starts', moduleOf("throw new Error('no')")],
  ['ends as it starts', moduleOf('process.exit(0)')],
] as const) {
  test(`where the worker ${name}, the body is read here`, async (t) => {
    const reading = await readerOf(t, { module }).read(TASK, bodyOf(10));
    assert.equal(reading.ok, true);
  });
}

test('closing settles what is still being read', async () => {
  const stuck = moduleOf(`${READY} parentPort.on('message', () => { for (;;); });`);
  const reader = createBodyReader({ fromBytes: 0, workers: 1, module: stuck });
  const readings = [reader.read(TASK, bodyOf(1)), reader.read(TASK, bodyOf(1))];
  await new Promise((resolve) => setTimeout(resolve, 300));
  await reader.close();
  for (const reading of await Promise.all(readings)) assert.ok(!reading.ok && reading.reason === 'unread');
  assert.equal((await reader.read(TASK, bodyOf(1))).ok, false);
});

test('a body that is nested too deep is refused before it is parsed', () => {
  const envelope = JSON.stringify(envelopeOf(ENTERPRISE)).replace(
    /("wildfire":.*?"details":)null/,
    (_, start) => `${start}{"current":${'['.repeat(600)}${']'.repeat(600)}}`,
  );
  assert.deepEqual(
    parseAnswer({ ...TASK, keepDetails: true }, Buffer.from(envelope)),
    unread('it is nested more than 512 deep'),
  );
});

test('where the worker neither starts nor fails, the body is read here', async (t) => {
  const reader = readerOf(t, { limitMs: 300, module: moduleOf('setInterval(() => {}, 1_000);') });
  assert.deepEqual(await reader.read(TASK, bodyOf(1)), parseAnswer(TASK, bodyOf(1)));
});

test('memory is used again by the next bodies, and none of them sees the bytes of another', async (t) => {
  const reader = readerOf(t, { fromBytes: 256 * 1024, workers: 2 });
  const received = (body: Buffer) => {
    const memory = reader.allocate(body.length);
    const before = Buffer.from(memory);
    body.copy(memory);
    return { memory, before };
  };
  const sizes = [14_000, 9_000, 12_000, 10_000, 14_000, 11_000];
  const bodies = sizes.map(bodyOf);
  let reused = 0;
  for (let round = 0; round < 2; round++) {
    const given = bodies.map(received);
    if (given.some(({ before }) => bodies.some((body) => body.subarray(0, 200).equals(before.subarray(0, 200)))))
      reused++;
    const readings = await Promise.all(given.map(({ memory }) => reader.read(TASK, memory)));
    for (const [index, reading] of readings.entries()) assert.deepEqual(reading, parseAnswer(TASK, bodies[index]!));
    assert.ok(given.every(({ memory }) => memory.length === 0));
  }
  assert.equal(reused, 1);
});
