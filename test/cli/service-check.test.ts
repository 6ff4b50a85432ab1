import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CREDITS_NEEDED, STATEMENTS } from '../../src/service/conformance/run-checks.ts';
import { HERE, releaseLater, setUp } from '../service/small-world.ts';
import { perilbook } from './command-line.ts';

/** The service's address and a folder with a key file; or, with a header's value to be told, a service that tells that. */
async function checked(t: TestContext, bentCost: string | null) {
  const { service, key, file } = await setUp(t);
  const folder = dirname(file);
  writeFileSync(join(folder, 'key'), `${key}\n`);
  if (bentCost === null) return { folder, url: service.url };
  const server = createServer(async (request, response) => {
    const sent = request.headers['x-api-key'];
    const reply = await fetch(service.url + request.url, {
      headers: typeof sent === 'string' ? { 'x-api-key': sent } : {},
    });
    const headers = Object.fromEntries([...reply.headers].filter(([name]) => /^x-|^content-type/.test(name)));
    if (request.url!.startsWith('/v1/tsunami/')) headers['x-credit-cost'] = bentCost;
    response.writeHead(reply.status, headers).end(await reply.text());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  releaseLater(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return { folder, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function check(url: string, ...more: string[]): string[] {
  const place = ['--lat', String(HERE.lat), `--lng=${HERE.lng}`];
  return ['service', 'check', '--base-url', url, '--key-file', 'key', ...place, ...more];
}

test('service check prints every statement, says what it spends, and ends with 0 when all are kept', async (t) => {
  const { folder, url } = await checked(t, null);
  const ended = await perilbook(check(url, '--yes'), { folder });
  assert.equal(ended.code, 0, ended.stdout);
  assert.match(ended.stderr, new RegExp(`spends up to ${CREDITS_NEEDED} credits`));
  const lines = ended.stdout.split('\n').filter((line) => /^(pass|fail|skipped)/.test(line));
  assert.equal(lines.length, STATEMENTS.length);
  assert.match(ended.stderr, / 0 failed, /);
});

test('service check ends with 3 when a statement is broken, and names it', async (t) => {
  const { folder, url } = await checked(t, '2');
  const ended = await perilbook(check(url, '--yes', '--json'), { folder });
  assert.equal(ended.code, 3);
  const { failed, statements } = JSON.parse(ended.stdout);
  assert.equal(failed, statements.filter(({ outcome }: { outcome: string }) => outcome === 'fail').length);
  assert.ok(failed > 0);
  assert.match(ended.stdout, /X-Credit-Cost is 2, not 1/);
});

test('service check spends nothing unasked, and needs a key that it can read', async (t) => {
  const { folder, url } = await checked(t, null);
  const unasked = await perilbook(check(url), { folder });
  assert.equal(unasked.code, 2);
  assert.match(unasked.stderr, /--yes/);
  const keyless = await perilbook(['service', 'check', '--base-url', url, '--key-file', 'none', '--yes'], { folder });
  assert.notEqual(keyless.code, 0);
  assert.match(keyless.stderr, /none/);
});
