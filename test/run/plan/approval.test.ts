import assert from 'node:assert/strict';
import { test } from 'node:test';
import { neededApproval } from '../../../src/run/plan/approval.ts';

type Priced = Parameters<typeof neededApproval>[0];

/** What is needed for a run of 30 credits. @param refused whether a refusal made it dearer */
function needed(
  refused: boolean,
  isApproved: boolean,
  acceptedPrice: number | null,
  budget: number | null = null,
): string {
  const priced = {
    job: { budget, service: { kind: 'remote' } },
    plan: {
      refusedWay: refused
        ? { credits: 2, refused: [{ scope: 'hail', reason: null, at: 0 }] }
        : null,
    },
    summary: { credits: 30, credits_limit: 41 },
  };
  const options = { spending: '--yes', price: (credits: number) => `--accept-price ${credits}` };
  return neededApproval(priced as unknown as Priced, { isApproved, acceptedPrice }, 'run', options)
    .kind;
}

test('spending needs a yes, a budget or an accepted price that reaches it', () => {
  assert.equal(needed(false, false, null), 'spending');
  assert.equal(needed(false, false, 29), 'spending');
  assert.equal(needed(false, false, 30), 'none');
  assert.equal(needed(false, true, null), 'none');
  assert.equal(needed(false, false, null, 30), 'none');
  assert.equal(needed(true, false, null, 0), 'none', 'nothing is spent');
});

test('a price that a refusal made dearer needs an accepted price that reaches it, whatever else is given', () => {
  assert.equal(needed(true, true, null, 100), 'dearer');
  assert.equal(needed(true, true, 29, 100), 'dearer');
  assert.equal(needed(true, false, 30), 'none');
});
