import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REPEATED_NOTICE } from '../../src/client/answer-origin.ts';
import { assertTrueRows } from './assertions.ts';
import type { Answer, Fault } from './fault-proxy.ts';
import { openHostileSetup } from './hostile-setup.ts';

const setup = await openHostileSetup();

/** A cache that ignores the query: every place gets what the first one got. */
function blindCache(): Fault {
  const kept = new Map<string, Answer>();
  return {
    name: 'a cache that ignores the query',
    async act(passage) {
      const path = passage.path.split('?')[0]!;
      const answer = kept.get(path) ?? (await passage.ask());
      kept.set(path, answer);
      passage.answer(answer);
    },
  };
}

test("a cache that ignores the query: no row has another place's values, and the next run buys what is left", async () => {
  const trial = await setup.trial(1);
  try {
    const cache = blindCache();
    trial.proxy.disturb(() => cache);
    const { code, rows, stderr } = await trial.run();
    assert.notEqual(code, 0);
    assertTrueRows(rows, setup.truth, ['ok', 'partial', 'failed', 'deferred']);
    assert.ok(rows.filter(({ hazard_status }) => hazard_status !== 'ok').length >= rows.length - 1);
    assert.ok(stderr.includes(REPEATED_NOTICE), stderr);
    assert.match(stderr + rows.map((row) => row.hazard_note).join(), /for another location/);
    trial.proxy.disturb(null);
    const again = await trial.run();
    assert.equal(again.code, 0, again.stderr);
    assertTrueRows(again.rows, setup.truth, ['ok']);
  } finally {
    await trial.close();
  }
});
