import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { body, both, type Edit, envelope, headers, instead, results, status } from './edits.ts';
import type { Passage } from './fault-proxy.ts';
import { type HostileSetup, openHostileSetup, type Trial, type TrialOptions } from './hostile-setup.ts';

/** With characters that addresses, JSON and base64 write in another way. */
const ODD_KEY = 'k3y/with+odd=chars&"<>%\\~0123456789ABCDEF';

let setup: HostileSetup;
before(async () => {
  setup = await openHostileSetup();
});
after(() => setup.close());

/** How a key may stand somewhere. */
function formsOf(key: string): Map<string, string> {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return new Map([
    ['as it is', key],
    ['in an address', encodeURIComponent(key)],
    ['in JSON', JSON.stringify(key).slice(1, -1)],
    ['in base64', base64(key).replace(/=+$/, '').slice(0, -1)],
    ['in base64 for addresses', Buffer.from(key).toString('base64url').slice(0, -1)],
    ['in base64 behind a name', base64(`user:${key}`).slice(8, -4)],
    ['in hexadecimal', Buffer.from(key).toString('hex')],
  ]);
}

function assertHoldsNot(bytes: Buffer | string, key: string, where: string): void {
  const all = Buffer.from(bytes);
  for (const [how, form] of formsOf(key)) {
    for (const encoding of ['utf8', 'utf16le'] as const) {
      assert.equal(all.indexOf(Buffer.from(form, encoding)), -1, `${where} holds the key ${how}`);
    }
  }
}

/** Every file of the trial but the key's own: the store with its log, the output, plans, what is still being written. */
function assertFilesHoldNot(trial: Trial): string[] {
  const names = readdirSync(trial.folder).filter((name) => name !== 'key');
  for (const name of names) assertHoldsNot(readFileSync(join(trial.folder, name)), trial.key, name);
  return names;
}

/** Runs the job and every command that tells of it, and looks at each byte that came of it. */
async function assertKeptSecret(act: ((passage: Passage) => void | Promise<void>) | null, options: TrialOptions = {}) {
  const trial = await setup.trial(1, { cells: 3, elsewhere: 'http://127.0.0.1:9', ...options });
  const seen = new Set<string>();
  try {
    // Looked at in the middle as well: the store's log is gone at the end.
    const look = () => {
      for (const name of assertFilesHoldNot(trial)) seen.add(name);
    };
    trial.proxy.disturb((entry) => {
      if (entry % 5 === 1) look();
      return act === null ? null : { name: 'echo', act };
    });
    const ended = await trial.run('--debug', '--details', 'keep');
    look();
    assert.ok(trial.proxy.entries.length > 0);
    const said = [ended.stdout, ended.stderr];
    const job = ['book.csv', '--topics', 'natural'];
    for (const words of [
      ['plan', ...job, '--out', 'plan.json'],
      ['plan', ...job, '--json'],
      ['status', '--json'],
      ['quota', '--by', 'key', '--json'],
    ]) {
      const { stdout, stderr } = await trial.command(...words);
      said.push(stdout, stderr);
    }
    for (const more of [[], ['--details']]) {
      const { stdout } = await trial.alone('cache', 'export', '--store', 'store.db', ...more);
      said.push(stdout);
    }
    for (const text of said) assertHoldsNot(text, trial.key, text.slice(0, 2_000));
    look();
    return { ...ended, seen };
  } finally {
    await trial.close();
  }
}

test('a run that goes well: every byte that it leaves and says, the debug lines included', async () => {
  const { code, stderr, seen } = await assertKeptSecret(null);
  assert.equal(code, 0, stderr);
  for (const name of ['store.db', 'store.db-wal', 'out.csv', 'plan.json'])
    assert.ok(seen.has(name), `${name} was seen`);
  assert.match(stderr, /^debug 1 > GET \/v1\/bundle\/standard\?lat=40\.05&lng=-99\.95 {2}x-api-key: \[hidden\]; /m);
  assert.match(stderr, /^debug 1 < 200 after \d+ ms, credits: 15, \d+ bytes {2}.*x-credit-cost: 15/m);
});

/** Every way in which a service may give back what it was sent. */
const echoes: readonly (readonly [where: string, (key: string) => Edit])[] = [
  [
    'in headers',
    (key) => headers({ 'x-request-id': key, 'set-cookie': `k=${key}`, 'x-seen': `key ${key}`, server: key }),
  ],
  ['instead of an answer', (key) => body(() => ({ key, data: { topic: key } }))],
  ['in JSON that is cut', (key) => body(() => `{"data": "${key}`)],
  [
    'as the topic',
    (key) =>
      envelope(({ data }) => {
        data.topic = key;
        if (data.topics) data.topics = { [key]: {} };
      }),
  ],
  [
    'as a further topic',
    (key) =>
      envelope(({ data }) => {
        if (data.topics) data.topics[key] = { value: 1 };
      }),
  ],
  [
    'as the request',
    (key) =>
      envelope(({ meta }) => {
        meta.request_id = key;
      }),
  ],
  ['as an error', (key) => results((result) => ({ ...result, error: `no ${key}` }))],
  [
    'as a rating',
    (key) =>
      results((result) => {
        if (result.value?.measurement) result.value.rating = key;
        return result;
      }),
  ],
  [
    'in the details',
    (key) =>
      results((result) => ({
        ...result,
        details: result.details?.type ? { ...result.details, seen: key } : result.details,
      })),
  ],
  [
    'as a cost',
    (key) =>
      both(
        headers({ 'x-credit-cost': key }),
        envelope(({ meta }) => {
          meta.credit_cost = key;
        }),
      ),
  ],
];

/** How it may write it there. */
const writings: readonly (readonly [how: string, (key: string) => string])[] = [
  ['as it is', (key) => key],
  ['in an address', (key) => `https://h.example/?key=${encodeURIComponent(key)}&x`],
  ['in base64', (key) => `Basic ${Buffer.from(`user:${key}`).toString('base64')}`],
];

for (const [where, echo] of echoes) {
  test(`a service that gives the key back ${where}`, async () => {
    for (const [, write] of writings) {
      await assertKeptSecret((passage) => instead(echo(write(passage.key)))(passage));
    }
  });
}

const refusals: readonly (readonly [how: number, page: boolean, foreignKey: string])[] = [
  [0, false, ODD_KEY],
  [1, true, ODD_KEY],
  [2, false, ODD_KEY],
  [0, true, 'pb_unknown_0123456789_abcdefghij'],
];

for (const code of [201, 302, 400, 401, 403, 404, 422, 429, 500, 502]) {
  test(`a service that answers ${code} with the key in its words, its page and its headers`, async () => {
    for (const [how, page, foreignKey] of refusals) {
      const write = writings[how]![1];
      await assertKeptSecret(
        (passage) => {
          const said = write(passage.key);
          const error = { error: { code: said, message: said }, meta: { request_id: said } };
          const more = { location: `/there/${said.replaceAll(' ', '')}`, 'www-authenticate': said, 'x-note': said };
          status(code, page ? `<html>${said}</html>` : error, more)(passage);
        },
        { foreignKey, cells: 1 },
      );
    }
  });
}

test('connections that break with the key in what was sent', async () => {
  await assertKeptSecret(({ write, key, socket }) => {
    write(`HTTP/1.1 200 OK\r\nx-${key}\r\n: ${key}\r\n\r\n`);
    socket.end(key);
  });
});

test('a key file that others can read: a warning with the command that closes it, in run, plan and check', async () => {
  const trial = await setup.trial(1, { cells: 1 });
  const file = join(trial.folder, 'key');
  const warning = /Others on this machine can read the key file \(mode 644\)\. To protect it: chmod 600 \S+\/key\n/;
  try {
    assert.doesNotMatch((await trial.run()).stderr, /chmod/);
    chmodSync(file, 0o644);
    assert.match((await trial.run()).stderr, warning);
    assert.match((await trial.command('plan', 'book.csv')).stderr, warning);
    const check = await trial.alone('service', 'check', '--base-url', trial.proxy.url, '--key-file', 'key', '--yes');
    assert.match(check.stderr, warning);
    chmodSync(file, 0o640);
    assert.match((await trial.run()).stderr, /mode 640/);
  } finally {
    await trial.close();
  }
});

test('an address with a password or a key in it: refused before anything is kept, and not repeated', async () => {
  const trial = await setup.trial(1, { cells: 1 });
  try {
    writeFileSync(
      join(trial.folder, 'job.yaml'),
      'input: book.csv\nservice: {base_url: "http://user:s3cretWord@h.example"}\n',
    );
    for (const words of [
      ['plan', 'job.yaml'],
      ['plan', 'book.csv', '--base-url', 'http://user:s3cretWord@h.example'],
      ['run', 'book.csv', '--base-url', 'http://h.example/?key=s3cretWord', '--api-key-file', 'key', '--yes'],
    ]) {
      const { code, stdout, stderr } = await trial.alone(...words, '--store', 'other.db');
      assert.equal(code, 2, stderr);
      assert.match(stderr, /without user, password, query and fragment/);
      assert.ok(!`${stdout}${stderr}`.includes('s3cretWord'), stderr);
    }
    for (const name of readdirSync(trial.folder).filter((name) => name.startsWith('other.db')))
      assert.ok(!readFileSync(join(trial.folder, name)).includes('s3cretWord'));
  } finally {
    await trial.close();
  }
});

test('an address with the key in its path: refused before anything is kept, and not repeated', async () => {
  const trial = await setup.trial(1, { cells: 1 });
  try {
    const address = `http://127.0.0.1:1/${encodeURIComponent(trial.key)}`;
    for (const words of [
      ['plan', 'book.csv', '--api-key-file', 'key', '--store', 'other.db'],
      ['run', 'book.csv', '--api-key-file', 'key', '--store', 'other.db', '--yes'],
      ['service', 'check', '--key-file', 'key', '--store', 'other.db', '--yes'],
    ]) {
      const { code, stdout, stderr } = await trial.alone(...words, '--base-url', address);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /has the API key in it/);
      assertHoldsNot(stdout + stderr, trial.key, words[0]!);
    }
    assertFilesHoldNot(trial);
  } finally {
    await trial.close();
  }
});

test('a key that travels unencrypted to another machine: a warning; on this machine none', async () => {
  const trial = await setup.trial(1, { cells: 1 });
  const run = (address: string) =>
    trial.alone(
      'run',
      'book.csv',
      '--base-url',
      address,
      '--api-key-file',
      'key',
      '--store',
      'o.db',
      '--yes',
      '--topics',
      'hail',
    );
  try {
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
  } finally {
    await trial.close();
  }
});

test('a key where the name of a file or a variable belongs: not repeated', async () => {
  const trial = await setup.trial(1, { cells: 1 });
  const job = (place: string) =>
    `input: book.csv\nservice: {base_url: "http://127.0.0.1:1", api_keys: [{${place}: ${trial.key}}]}\n`;
  try {
    for (const place of ['file', 'env']) {
      writeFileSync(join(trial.folder, 'job.yaml'), job(place));
      const { code, stdout, stderr } = await trial.alone('run', 'job.yaml', '--store', 'o.db', '--yes');
      assert.equal(code, 5, stderr);
      assert.match(stderr, /looks like a key itself/);
      assertHoldsNot(stdout + stderr, trial.key, place);
    }
  } finally {
    await trial.close();
  }
});
