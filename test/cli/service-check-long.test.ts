import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ServiceCheckJson } from '../../src/cli/json/check-json.ts';
import { CREDITS_NEEDED } from '../../src/service/check/statement-table.ts';
import { serveHttp } from '../client/servers.ts';
import { FastClock } from '../fast-clock.ts';
import { keyFinder } from '../faults/key-traces.ts';
import { HERE, NOON, setUp } from '../service/small-data.ts';
import { type Ended, perilbook as runCommand, type SetupOptions } from './command-line.ts';

/** The small data has no radon in the other county that is asked about: the call fails and is free. */
const CREDITS_SPENT = CREDITS_NEEDED - 1;

/** The names of what `service check --json` prints: a change of one is a change of the interface. */
const SERVICE_CHECK: Readonly<Record<keyof ServiceCheckJson, true>> = {
  statements: true,
  passed: true,
  failed: true,
  skipped: true,
  creditsSpent: true,
  creditsUnknown: true,
};

/** Runs a command by the clock of the service. */
function perilbook(args: readonly string[], options: SetupOptions): Promise<Ended> {
  return runCommand(args, { clock: new FastClock(NOON, 1), ...options });
}

interface Said {
  path: string;
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Our service, a folder with a key file, and the credits that the service charged; `bend` changes what the service is asked and
 * what it says. */
async function checked(
  t: TestContext,
  bend: {
    readonly path?: (path: string) => string;
    readonly reply?: (said: Said, key: string) => void;
  },
) {
  const { service, key, file, port, charged } = await setUp(t);
  const folder = dirname(file);
  writeFileSync(join(folder, 'key'), `${key}\n`, { mode: 0o600 });
  const own = {
    folder,
    key,
    charged,
    narrowKey: async () => (await port.createKey('tester', ['wildfire'], null)).key,
  };
  const url = await serveHttp(t, async (request, response) => {
    const sent = request.headers['x-api-key'];
    const path = bend.path?.(request.url!) ?? request.url!;
    const reply = await fetch(service.url + path, {
      headers: typeof sent === 'string' ? { 'x-api-key': sent } : {},
    });
    const headers = Object.fromEntries(
      [...reply.headers].filter(([name]) => /^x-|^content-type/.test(name)),
    );
    const said = { path: request.url!, status: reply.status, headers, body: await reply.text() };
    bend.reply?.(said, key);
    response.writeHead(said.status, said.headers).end(said.body);
  });
  return { ...own, url };
}

const tsunamiCosts2 = {
  reply: ({ path, headers }: Said) => {
    if (path.startsWith('/v1/tsunami/')) headers['x-credit-cost'] = '2';
  },
};

/** What the ledger says of the account, and of the check as a job. */
async function booksOf(folder: string, url: string) {
  const { stdout } = await perilbook(['quota', '--base-url', url, '--by', 'job', '--json'], {
    folder,
  });
  const { charged, unknown, statement } = JSON.parse(stdout);
  return { charged, unknown, jobs: statement.map(({ job }: { job: string }) => job) };
}

function check(url: string, ...more: string[]): string[] {
  const place = ['--lat', String(HERE.lat), `--lng=${HERE.lng}`];
  return ['service', 'check', '--base-url', url, '--api-key-file', 'key', ...place, ...more];
}

test('service check ends with 3 when a statement is broken, and names it', async (t) => {
  const { folder, url } = await checked(t, tsunamiCosts2);
  const ended = await perilbook(check(url, '--yes', '--json'), { folder });
  assert.equal(ended.code, 3);
  const result = JSON.parse(ended.stdout);
  assert.deepEqual(Object.keys(result).sort(), Object.keys(SERVICE_CHECK).sort());
  const { failed, statements } = result;
  assert.equal(
    failed,
    statements.filter(({ outcome }: { outcome: string }) => outcome === 'fail').length,
  );
  assert.ok(failed > 0);
  assert.match(ended.stdout, /X-Credit-Cost is 2, not 1/);
  const [drought] = statements.filter(({ statement }: { statement: string }) =>
    statement.startsWith('drought:'),
  );
  assert.deepEqual(drought.numbers, ['2.1', '3.1', '3.3', '4.1', '4.3', '4.4']);
});

test('a number that no JSON has is read in a run, and is told by a check', async (t) => {
  const { folder, url } = await checked(t, {
    reply(said) {
      if (said.path.startsWith('/v1/tsunami/'))
        said.body = said.body.replace(/"score":[\d.]+/, '"score":NaN');
    },
  });
  const { code, stdout } = await perilbook(check(url, '--yes'), { folder });
  assert.equal(code, 3);
  assert.match(stdout, /fail +Bodies are JSON [^\n]*\n +tsunami: the body is not JSON/);
});

test('a service that answers what it must refuse: each such charge is in the ledger too', async (t) => {
  const { folder, url, key, charged, narrowKey } = await checked(t, {
    path: (path) => path.replace('noSuchTopic', 'hail').replace('lat=north', `lat=${HERE.lat}`),
  });
  writeFileSync(join(folder, 'narrow'), await narrowKey(), { mode: 0o600 });
  const ended = await perilbook(check(url, '--yes', '--narrow-key-file', 'narrow'), { folder });
  assert.equal(ended.code, 3, ended.stderr);
  // The server in between makes a GET of the POST.
  assert.equal(charged(), CREDITS_SPENT + 3);
  assert.equal((await booksOf(folder, url)).charged, CREDITS_SPENT + 3);
  assert.ok(!`${ended.stdout}${ended.stderr}`.includes(key));
});

test('what a budget may not pay for is skipped, also what the service would refuse, as was told before', async (t) => {
  const { folder, url, charged, narrowKey } = await checked(t, {});
  writeFileSync(join(folder, 'narrow'), await narrowKey(), { mode: 0o600 });
  for (const [budget, code, outcome] of [
    [100, 4, 'skipped'],
    // 3: the server in between makes a GET of the POST, which is charged.
    [146, 3, 'pass   '],
  ] as const) {
    const before = charged();
    const ended = await perilbook(
      check(url, '--budget', String(budget), '--narrow-key-file', 'narrow'),
      { folder },
    );
    assert.equal(ended.code, code, ended.stderr);
    assert.equal(
      /of 100 credits is less: .* For all: --budget 146\./.test(ended.stderr),
      budget === 100,
    );
    assert.ok(
      ended.stdout.includes(`${outcome}  A valid key that lacks the scope bundle is 403`),
      ended.stdout,
    );
    assert.equal(charged() - before, CREDITS_SPENT + 1);
  }
});

test('interrupted: no further call is made, and the ledger has those that were', async (t) => {
  const interruption = new AbortController();
  const { folder, url, charged } = await checked(t, {
    reply: ({ path }) => {
      if (path.startsWith('/v1/drought/')) interruption.abort();
    },
  });
  const ended = await perilbook(check(url, '--yes'), { folder, interrupt: interruption.signal });
  assert.equal(ended.code, 130, ended.stderr);
  assert.ok(charged() > 0 && charged() < 10);
  assert.equal((await booksOf(folder, url)).charged, charged());
});

for (const [how, write] of [
  ['as it is', (key: string) => key],
  [
    'escaped',
    (key: string) =>
      [...key].map((character) => `%${character.charCodeAt(0).toString(16)}`).join(''),
  ],
] as const) {
  test(`a service that repeats the key, ${how}: it is neither printed nor kept`, async (t) => {
    const { folder, url, key } = await checked(t, {
      reply: (said, key) => {
        said.headers['x-credit-cost'] = write(key);
        said.headers['content-type'] = write(key);
        const whole = JSON.parse(said.body);
        if (whole.data?.topic) whole.data.topic = write(key);
        if (whole.data?.topics) whole.data.topics[write(key)] = {};
        whole.meta.credit_cost = write(key);
        whole.meta.request_id = write(key);
        said.body = JSON.stringify(whole);
      },
    });
    const find = keyFinder(key);
    for (const words of [
      check(url, '--yes'),
      check(url, '--yes', '--json'),
      ['status', '--json'],
    ]) {
      const { stdout, stderr } = await perilbook(words, { folder });
      assert.deepEqual([find(Buffer.from(stdout)), find(Buffer.from(stderr))], [null, null]);
      assert.ok(words[0] === 'status' || stdout.includes('[key]'));
    }
    const kept = readdirSync(join(folder, '.local/share/perilbook'));
    assert.ok(kept.includes('store.db'));
    for (const name of kept)
      assert.equal(find(readFileSync(join(folder, '.local/share/perilbook', name))), null);
  });
}
