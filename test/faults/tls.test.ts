import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { assertTrueBooks, assertTrueRows, booksOf } from './assertions.ts';
import { ENDS } from './hostile-service.ts';
import { openHostileSetup } from './hostile-setup.ts';

const file = (name: string) => readFileSync(join(import.meta.dirname, 'certificates', name));
const certificateOf = (name: string) => ({ key: file('service.key'), cert: file(`${name}.pem`) });

const setup = await openHostileSetup();
// The authority is trusted, so that each certificate fails by what is wrong with itself.
setDefaultCACertificates([...getCACertificates('default'), file('authority.pem').toString()]);

const WRONG: readonly (readonly [string, RegExp])[] = [
  ['expired', /certificate has expired/],
  ['other-host', /does not match certificate's altnames/],
];

for (const [name, reason] of WRONG) {
  test(`a certificate that is ${name}: no request is sent, the run ends as down, and says why; with the right one the next run completes`, async () => {
    const trial = await setup.trial(1, { certificate: certificateOf(name) });
    try {
      const ended = await trial.run();
      const end = ENDS.upstream!;
      assert.equal(ended.code, end.exit, ended.stderr);
      assert.match(ended.stderr, reason);
      assertTrueRows(ended.rows, setup.truth, end.statuses);
      assertTrueBooks(await booksOf(trial), 'free');
      assert.equal(trial.proxy.entries.length, 0, 'the key was sent');
      const { connections } = trial.proxy;
      assert.ok(connections <= end.requests, `${connections} connections are more than ${end.requests}`);
      trial.proxy.tls!.setSecureContext(certificateOf('good'));
      const again = await trial.run();
      assert.equal(again.code, 0, again.stderr);
      assertTrueRows(again.rows, setup.truth, ['ok']);
      assertTrueBooks(await booksOf(trial), 'exact');
    } finally {
      await trial.close();
    }
  });
}
