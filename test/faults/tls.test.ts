import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { assertTrueBooks, assertTrueRows, booksOf } from './assertions.ts';
import { ENDS } from './hostile-service.ts';
import { type HostileSetup, openHostileSetup } from './hostile-setup.ts';

const file = (name: string) => readFileSync(join(import.meta.dirname, 'certificates', name));
const certificateOf = (name: string) => ({ key: file('service.key'), cert: file(`${name}.pem`) });

let setup: HostileSetup;
before(async () => {
  setup = await openHostileSetup();
  // The authority is trusted, so that each certificate fails by what is wrong with itself.
  setDefaultCACertificates([...getCACertificates('default'), file('authority.pem').toString()]);
});
after(() => setup.close());

test('a certificate that is right: the run completes', async () => {
  const trial = await setup.trial(1, { certificate: certificateOf('good') });
  try {
    const { code, rows, stderr } = await trial.run();
    assert.equal(code, 0, stderr);
    assertTrueRows(rows, setup.truth, ['ok']);
  } finally {
    await trial.close();
  }
});

const WRONG: readonly (readonly [string, RegExp])[] = [
  ['expired', /certificate has expired/],
  ['not-yet', /certificate is not yet valid/],
  ['other-host', /does not match certificate's altnames/],
  ['self-signed', /self-signed certificate/],
];

for (const [name, reason] of WRONG) {
  test(`a certificate that is ${name}: no request is sent, the run ends as down, and says why; a later one completes`, async () => {
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
