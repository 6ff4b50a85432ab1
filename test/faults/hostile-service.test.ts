import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { serveHttp } from '../client/servers.ts';
import { firstSeed, times } from '../tier.ts';
import { assertTrueBooks, booksOf } from './assertions.ts';
import { FAULTS } from './faults.ts';
import { ENDS, faultTrial, LONGEST_MS, seedTrial } from './hostile-service.ts';
import { openHostileSetup } from './hostile-setup.ts';

/** Trials of the random mix. */
const SEEDS = times({ long: 6, soak: 500 });
/** Those that are slow or large come last. */
const TRIED = FAULTS.toSorted((a, b) => Number(a.alone ?? false) - Number(b.alone ?? false));

const setup = await openHostileSetup();
/** Where redirects lead: whatever comes here is a promise broken. */
const elsewhere = { url: '', requests: 0 };
elsewhere.url = await serveHttp({ after } as unknown as TestContext, (_request, response) => {
  elsewhere.requests++;
  response.end();
});

test('every request meets the same fault: true rows, true books, few requests, an end, and a next run that completes', {
  concurrency: 4,
}, async (t) => {
  assert.equal(new Set(FAULTS.map(({ name }) => name)).size, FAULTS.length);
  await Promise.all(
    TRIED.map((fault) => {
      const { exit, requests } = ENDS[fault.end]!;
      return t.test(`${fault.name}: exit ${exit}, at most ${requests} requests`, { timeout: LONGEST_MS }, async () => {
        await faultTrial(setup, fault, { elsewhere: elsewhere.url });
      });
    }),
  );
  assert.equal(elsewhere.requests, 0, 'a redirect was followed');
});

test('each request meets a fault of its own, or none', { concurrency: 4 }, async (t) => {
  const first = firstSeed(1);
  await Promise.all(
    Array.from({ length: SEEDS }, (_, index) =>
      t.test(`seed ${first + index}`, { timeout: LONGEST_MS }, () => seedTrial(setup, first + index)),
    ),
  );
});

test('a budget holds where answers of no use state that they cost nothing', async (t) => {
  const free = FAULTS.filter(({ name }) => name.endsWith('at a stated cost of 0'));
  assert.ok(free.length > 1);
  for (const fault of free) {
    await t.test(fault.name, async () => {
      const trial = await setup.trial(1);
      try {
        trial.proxy.disturb(() => fault);
        const { code, stderr } = await trial.run('--budget', '40');
        assert.ok(code === EXIT.paused || code === EXIT.serviceDown, stderr);
        assert.ok(trial.charged() > 30 && trial.charged() <= 40, `${trial.charged()} credits of a budget of 40`);
        assertTrueBooks(await booksOf(trial), 'exact');
      } finally {
        await trial.close();
      }
    });
  }
});
