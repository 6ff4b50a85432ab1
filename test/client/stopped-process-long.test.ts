import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { serveHttp } from './servers.ts';

const CHILD = join(import.meta.dirname, 'stopped-child.ts');

/** Ctrl-Z, and `fg` when the deadline of the whole call is over: 150 s, here 1 s. */
describe('a process that is stopped', { concurrency: true }, () => {
  for (const bytes of [20, 3_000_000]) {
    test(`an answer of ${bytes} bytes that came while the process was stopped is read, not given up as late`, async (t) => {
      const asked = Promise.withResolvers<void>();
      const stopped = Promise.withResolvers<void>();
      const address = await serveHttp(t, async (_, response) => {
        asked.resolve();
        await stopped.promise;
        response.setHeader('x-credit-cost', '1').end('x'.repeat(bytes));
      });
      const child = spawn(process.execPath, [CHILD, address]);
      t.after(() => child.kill('SIGKILL'));
      const said = text(child.stdout);
      await asked.promise;
      child.kill('SIGSTOP');
      stopped.resolve();
      await delay(2_500);
      child.kill('SIGCONT');
      assert.deepEqual(JSON.parse(await said), { kind: 'response', bytes });
    });
  }
});
