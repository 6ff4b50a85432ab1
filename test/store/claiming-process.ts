/* A process that claims as much as it is let have, for postgres-processes.test.ts: `claiming-process.ts STORE NAME`. */
import { systemClock } from '../../src/base/clock.ts';
import type { ClaimLimits, Settlement } from '../../src/store/ledger/port.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { CELLS, PERIOD, SCENARIOS } from './claim-scenarios.ts';

const [address, name] = process.argv.slice(2) as [string, string];
await using store = await openPostgresStore(address, systemClock, { name, isAlive: () => true });
// All begin together.
await new Promise((resolve) => process.once('message', resolve));
for (const [account, limits] of Object.entries(SCENARIOS)) {
  const source = await store.source(account);
  const run = await store.startRun({
    job: name,
    input: '',
    output: '',
    account,
    plannedCredits: 0,
    budget: 10_000,
  });
  const terms: ClaimLimits = {
    ...{
      run,
      source,
      account,
      period: PERIOD,
      periodLimit: 10_000,
      creditsPerMinute: 10_000,
      budget: 10_000,
      leaseMs: 300_000,
    },
    ...limits,
  };
  const order = CELLS.toSorted(() => Math.random() - 0.5);
  for (let from = 0; from < order.length; from += 7) {
    const claims = await store.claim(
      terms,
      order.slice(from, from + 7).map((cell) => ({
        cell,
        ...{ call: { kind: 'standard' }, credits: 15, key: 'key' },
        wanted: [{ topic: 'wildfire', freshSince: 1 }],
      })),
    );
    const settlements = claims.flatMap((claim): Settlement[] =>
      claim.outcome === 'granted'
        ? [
            {
              ...{ call: claim.call, charge: 'charged', credits: 15, period: PERIOD, outcome: '200', failures: [] },
              // Of half the calls nothing comes, so that their cells stay open to others' claims.
              answers: claim.call % 2 ? [{ topic: 'wildfire', asOf: Date.now(), fields: [name, claim.call] }] : [],
            },
          ]
        : [],
    );
    // Claims of answered cells end with the run; others stay in flight for the rest of it.
    await store.settle(settlements.filter(({ answers }) => answers.length > 0));
  }
}
process.send!('done');
