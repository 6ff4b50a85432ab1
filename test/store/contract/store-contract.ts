import { type TestContext, test } from 'node:test';
import { testAnswers } from './answers.ts';
import { testClaims } from './claims.ts';
import { testQuota } from './quota.ts';
import { testRuns } from './runs.ts';
import { testServices } from './services.ts';
import { type It, makeSetup, type Opener } from './store-setup.ts';

/** What every store must do, on either database. */
export function testStore(
  kind: string,
  openerOf: (t: TestContext) => Opener | Promise<Opener>,
): void {
  const it: It = (name, body) => {
    test(`${kind}: ${name}`, async (t) => {
      const setup = await makeSetup(await openerOf(t));
      try {
        await body(setup);
      } finally {
        for (const store of setup.opened) await store.close();
      }
    });
  };
  testClaims(it);
  testQuota(it);
  testServices(it);
  testAnswers(it);
  testRuns(it);
}
