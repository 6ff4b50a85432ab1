import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Call } from '../../src/contract/credits.ts';
import { type TopicSlug, topicOf } from '../../src/contract/topics.ts';
import { wordsIn } from '../cli/command-line.ts';
import { envelopeOf } from '../client/answers.ts';
import { fc } from '../properties.ts';
import { times } from '../tier.ts';
import type { Answer } from './fault-proxy.ts';
import { openHostileSetup, type Trial } from './hostile-setup.ts';
import { anyKey, asWhole, escapedJson, inCharacters, keyFinder } from './key-traces.ts';

/** fast-check prints the seed of what fails. */
const RUNS = times({ long: 5, soak: 1_000 });

/** What a service does with the key, which it writes into every place as `written`; `mask`: which characters of the JSON are escaped. */
const echo = anyKey.chain((key) =>
  fc.record({
    key: fc.constant(key),
    written: fc.oneof(inCharacters(key), asWhole(key)),
    status: fc.constantFrom(200, 200, 200, 201, 302, 401, 403, 404, 422, 429, 502),
    how: fc.constantFrom('json', 'json', 'page', 'cut', 'details at length'),
    mask: fc.nat(),
    gzip: fc.boolean(),
  }),
);

type Echo = typeof echo extends fc.Arbitrary<infer Said> ? Said : never;

/** An answer of the kind that is asked for, with the key wherever a text may stand. */
function answerWith(url: URL, { written, how }: Echo): unknown {
  const location = {
    lat: Number(url.searchParams.get('lat')),
    lng: Number(url.searchParams.get('lng')),
  };
  const [, , first = '', last = ''] = url.pathname.split('/');
  const call = (first === 'bundle' ? { kind: last } : { kind: 'single', topic: first }) as Call;
  // biome-ignore lint/suspicious/noExplicitAny: answers are bent freely
  const { data, meta } = envelopeOf(call, location) as any;
  meta.request_id = `id ${written}`;
  // biome-ignore lint/suspicious/noExplicitAny: answers are bent freely
  const bend = (slug: TopicSlug, entry: any) => {
    if (topicOf(slug).category === 'natural') entry.value.title = written;
    if (slug === 'hail') entry.details = [{ [written]: { note: written } }];
    if (slug === 'radon') for (const name of Object.keys(entry.value)) entry.value[name] = written;
    if (slug === 'ozone') entry.value.rating = written;
    if (slug === 'park')
      entry.details.features = [{ type: 'Feature', geometry: null, properties: { written } }];
    if (slug === 'park') entry.value = 1;
    if (slug === 'tsunami') entry.error = `no ${written}`;
    if (slug === 'drought') entry.value.score = written;
    if (how === 'details at length' && slug === 'hail')
      entry.details.push('z'.repeat(300_000) + written);
  };
  if (call.kind === 'single') bend(call.topic, data.result);
  else {
    for (const [slug, entry] of Object.entries(data.topics)) bend(slug as TopicSlug, entry);
    data.topics[written] = { value: written };
  }
  return { data, meta, note: written };
}

function reply(url: URL, said: Echo): Answer {
  const { written, status, how, mask, gzip } = said;
  const refusal = {
    error: { code: written, message: `No such key: ${written}` },
    meta: { request_id: written },
  };
  const json = escapedJson(JSON.stringify(status === 200 ? answerWith(url, said) : refusal), mask);
  // What is cut cannot be decoded: the key stands in it in one writing, without JSON's escapes around it.
  const cut = `{"message": "No such key: ${written}`;
  const text = how === 'page' ? `<html><p>${written}</p>` : how === 'cut' ? cut : json;
  const inHeader = written.replace(/[^\x20-\x7e]/g, '').trim();
  const headers = {
    'content-type': 'application/json',
    'x-credit-cost': url.pathname.includes('standard') ? '15' : '1',
    'x-request-id': inHeader,
    'set-cookie': inHeader,
    server: inHeader,
    'x-ratelimit-remaining': inHeader,
    location: `/there/${inHeader.replaceAll(' ', '')}`,
    ...(gzip ? { 'content-encoding': 'gzip' } : {}),
  };
  return { status, headers, body: gzip ? gzipSync(text) : Buffer.from(text) };
}

const setup = await openHostileSetup();

/** Runs a job against such a service, and every command that reports on it: no file and no output contains the key. */
async function echoTrial(said: Echo): Promise<void> {
  await using trial = await setup.trial(1, { cells: 2, foreignKey: said.key });
  trial.proxy.disturb(() => ({
    name: 'echo',
    act: ({ path, key, answer }) => {
      assert.equal(key, said.key);
      answer(reply(new URL(path, 'http://h.example'), said));
    },
  }));
  const topics = ['--topics', 'natural,radon,ozone,park'];
  const reported = ['--yes', '--json', '--debug', '--report', 'report.html', '--concurrency', '1'];
  for (const run of [
    () => trial.command('run', 'book.csv', '-o', 'out.csv', ...topics, ...reported),
    () => trial.alone('status', '--store', 'store.db', '--json'),
    () => trial.command('quota', 'book.csv', ...topics, '--by', 'key', '--json'),
    () => trial.command('plan', 'book.csv', ...topics, '--json'),
    () => trial.alone('cache', 'stats', '--store', 'store.db'),
  ]) {
    const { stdout, stderr } = await run();
    for (const text of [stdout, stderr])
      assert.equal(keyFinder(said.key)(Buffer.from(text)), null, `${run}`);
    assertFilesHoldNot(trial);
  }
  assert.ok(trial.proxy.entries.length > 0);
  // An answer that is read keeps what is not the key.
  const output = readFileSync(join(trial.folder, 'out.csv'), 'utf8');
  if (said.status === 200 && said.how === 'json') assert.match(output, /,Relatively Low,.*\[key\]/);
}

test(
  'any key that comes back in any place and in any writing leaves no trace',
  { timeout: 3_600_000 },
  () => fc.assert(fc.asyncProperty(echo, echoTrial), { numRuns: RUNS }),
);

/** Every file of the trial but the key's own: the store with its log, the output, what is still being written. */
function assertFilesHoldNot(trial: Trial): string[] {
  const find = keyFinder(trial.key);
  const names = readdirSync(trial.folder).filter((name) => name !== 'key');
  for (const name of names)
    assert.equal(find(readFileSync(join(trial.folder, name))), null, `${name} holds the key`);
  return names;
}

test('a run that goes well: every byte that it leaves and says, the debug lines included', async () => {
  await using trial = await setup.trial(1, { cells: 3 });
  const seen = new Set<string>();
  // Looked at in the middle as well: the store's log is gone at the end.
  trial.proxy.disturb((entry) => {
    if (entry % 5 === 1) for (const name of assertFilesHoldNot(trial)) seen.add(name);
    return null;
  });
  const { code, stdout, stderr } = await trial.run('--debug');
  assert.equal(code, 0, stderr);
  const planned = await trial.command('plan', 'book.csv', '--topics', 'natural', '--json');
  for (const name of assertFilesHoldNot(trial)) seen.add(name);
  for (const text of [stdout, stderr, planned.stdout, planned.stderr])
    assert.equal(keyFinder(trial.key)(Buffer.from(text)), null, text.slice(0, 2_000));
  for (const name of ['store.db', 'store.db-wal', 'out.csv'])
    assert.ok(seen.has(name), `${name} was seen`);
  assert.match(
    stderr,
    /^debug 1 > GET \/v1\/bundle\/standard\?lat=40\.05&lng=-99\.95 {2}x-api-key: \[hidden\]; /m,
  );
  assert.match(
    stderr,
    /^debug 1 < 200 after \d+ ms, credits: 15, \d+ bytes {2}.*x-credit-cost: 15/m,
  );
});

test('a key file that others can read: a warning with the command that closes it, in run, plan and check', async () => {
  await using trial = await setup.trial(1, { cells: 1 });
  const file = join(trial.folder, 'key');
  const warning =
    /Others on this machine can read the key file \(mode 644\)\. To protect it: chmod 600 \S+\/key\n/;
  assert.doesNotMatch((await trial.run()).stderr, /chmod/);
  chmodSync(file, 0o644);
  assert.match((await trial.run()).stderr, warning);
  assert.match((await trial.command('plan', 'book.csv')).stderr, warning);
  const check = `service check --base-url ${trial.proxy.url} --api-key-file key --yes`;
  assert.match((await trial.alone(...wordsIn(check))).stderr, warning);
  chmodSync(file, 0o640);
  assert.match((await trial.run()).stderr, /mode 640/);
});

test('an address or an account with the key in it: refused before anything is kept, and not repeated', async () => {
  await using trial = await setup.trial(1, { cells: 1 });
  const [address, key] = ['http://127.0.0.1:1', encodeURIComponent(trial.key)];
  const commands = ['plan book.csv', 'run book.csv --yes', 'service check --yes'];
  const places = [`--base-url ${address}/${key}`, `--base-url ${address} --account x-${key}`];
  for (const words of commands.flatMap((command) => places.map((at) => `${command} ${at}`))) {
    const said = `${words} --api-key-file key --store other.db`;
    const { code, stdout, stderr } = await trial.alone(...wordsIn(said));
    assert.equal(code, 2, stderr);
    assert.match(stderr, /has the API key in it/);
    assert.equal(keyFinder(trial.key)(Buffer.from(stdout + stderr)), null, words);
  }
  assertFilesHoldNot(trial);
});

test('a key that travels unencrypted to another machine: a warning; on this machine none', async () => {
  await using trial = await setup.trial(1, { cells: 1 });
  const run = (address: string) =>
    trial.alone(
      ...wordsIn(
        `run book.csv --base-url ${address} --api-key-file key --store o.db --yes --topics hail`,
      ),
    );
  const warned = await run('http://no-such-host.invalid');
  assert.match(warned.stderr, /The key is sent to no-such-host\.invalid unencrypted/);
  for (const address of [
    'https://no-such-host.invalid',
    'http://127.0.0.1:1',
    'http://[::1]:1',
    'http://localhost:1',
  ]) {
    assert.doesNotMatch((await run(address)).stderr, /unencrypted/);
  }
});
