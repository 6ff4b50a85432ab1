import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AGED_NOTICE, REPEATED_NOTICE } from '../../src/client/answer-origin.ts';
import { assertTrueBooks, assertTrueRows, booksOf } from './assertions.ts';
import { envelope } from './edits.ts';
import type { Answer, Fault } from './fault-proxy.ts';
import { openHostileSetup } from './hostile-setup.ts';

const setup = await openHostileSetup();

const pathname = (path: string) => path.split('?')[0]!;

/** A cache that ignores the query: every place gets what the first one got. */
function blindCache(alter: (answer: Answer, hit: number) => Answer = (answer) => answer, passFirst = 1): Fault {
  const kept = new Map<string, Answer>();
  const asked = new Map<string, number>();
  let hits = 0;
  return {
    name: 'a cache that ignores the query',
    async act(passage) {
      const key = pathname(passage.path);
      asked.set(key, (asked.get(key) ?? 0) + 1);
      const known = kept.get(key);
      if (known !== undefined && asked.get(key)! > passFirst) {
        passage.answer(alter(known, ++hits));
        return;
      }
      const answer = await passage.ask();
      if (answer.status === 200) kept.set(key, answer);
      passage.answer(answer);
    },
  };
}

const withAge = (answer: Answer): Answer => ({ ...answer, headers: { ...answer.headers, age: '30' } });
const withNewId = (answer: Answer, hit: number): Answer =>
  envelope(({ meta }) => {
    meta.request_id = `00000000-0000-4000-8000-${String(hit).padStart(12, '0')}`;
  })(answer, null as never);
const withoutIds = envelope(({ meta }) => {
  delete meta.request_id;
});

const CACHES: readonly (readonly [string, () => Fault, string | null])[] = [
  ['repeats request ids', () => blindCache(), REPEATED_NOTICE],
  [
    'states an age and hides the ids',
    () => blindCache((answer) => withAge(withoutIds(answer, null as never))),
    AGED_NOTICE,
  ],
  [
    'repeats bodies without request ids',
    () => blindCache((answer) => withoutIds(answer, null as never)),
    REPEATED_NOTICE,
  ],
  ['makes new request ids, after five true answers', () => blindCache(withNewId, 5), null],
];

for (const [name, cache, notice] of CACHES) {
  test(`a cache that ignores the query and ${name}: no row has another place's values`, async () => {
    const trial = await setup.trial(1);
    try {
      const fault = cache();
      trial.proxy.disturb(() => fault);
      const { code, rows, stderr } = await trial.run();
      assert.notEqual(code, 0);
      assertTrueRows(rows, setup.truth, ['ok', 'partial', 'failed', 'deferred']);
      assert.ok(rows.filter(({ hazard_status }) => hazard_status !== 'ok').length >= rows.length - 5);
      if (notice !== null) assert.ok(stderr.includes(notice), stderr);
      assert.match(stderr + rows.map((row) => row.hazard_note).join(), /for another location/);
      // The next run, without the cache, buys what is left.
      trial.proxy.disturb(null);
      const again = await trial.run();
      assert.equal(again.code, 0, again.stderr);
      assertTrueRows(again.rows, setup.truth, ['ok']);
    } finally {
      await trial.close();
    }
  });
}

test('that there is no data is not believed of other places when a cache repeats it', async () => {
  const trial = await setup.trial(1);
  try {
    const meta = { request_id: 'one and the same', timestamp: '2026-03-15T12:00:00.000Z', credit_cost: 0 };
    const body = Buffer.from(JSON.stringify({ error: { code: 'NO_DATA', message: 'none' }, meta }));
    const cached: Fault = {
      name: 'a cached 404',
      act: (passage) => passage.answer({ status: 404, headers: { 'content-type': 'application/json' }, body }),
    };
    trial.proxy.disturb((_, path) => (path.startsWith('/v1/ozone/') ? cached : null));
    const { code, rows } = await trial.run();
    assert.notEqual(code, 0);
    assert.equal(rows.filter(({ hazard_note }) => hazard_note!.includes('no data here')).length, 1);
  } finally {
    await trial.close();
  }
});

test('a service that moves places to a grid, and one that rounds them, are believed to the kilometre', async () => {
  for (const digits of [2, 3]) {
    const trial = await setup.trial(1);
    try {
      const rounded = envelope(({ data: { location } }) => {
        location.lat = Number(location.lat.toFixed(digits)) + (digits === 2 ? 0.0002 : 0);
        location.lng = Number(location.lng.toFixed(digits));
      });
      trial.proxy.disturb(() => ({
        name: 'a grid',
        act: async (passage) => passage.answer(rounded(await passage.ask(), passage)),
      }));
      const { code, rows, stderr } = await trial.run();
      assert.equal(code, 0, stderr);
      assertTrueRows(rows, setup.truth, ['ok']);
      assertTrueBooks(await booksOf(trial), 'exact');
    } finally {
      await trial.close();
    }
  }
});
