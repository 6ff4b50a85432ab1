import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { askToSpend } from '../../src/cli/ask-approval.ts';
import type { CliContext } from '../../src/cli/context.ts';

const WORDS = { what: 'run', approve: 'Say --yes.', later: 'Run it again.' };

/** A terminal on which somebody types, once the question is there. */
async function typed(keys: string, interrupt = new AbortController()): Promise<void> {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 30 });
  const asked = askToSpend({ env: {}, stdin, stderr, interrupt: interrupt.signal } as unknown as CliContext, 35, WORDS);
  stderr.once('data', () => {
    stderr.resume();
    setImmediate(() => stdin.write(keys));
  });
  await asked;
}

test('credits are spent on a yes, and on nothing else', async () => {
  for (const yes of ['y\r', 'Yes\r', ' y \r']) await typed(yes);
  const refused = { code: 'INTERRUPTED', message: 'Nothing was spent', hint: WORDS.later };
  for (const no of ['\r', 'n\r', 'yo\r', 'yes please\r']) await assert.rejects(typed(no), refused, JSON.stringify(no));
});

test('Ctrl-C and Ctrl-D at the question are a no', async () => {
  for (const key of ['\x03', '\x04']) {
    await assert.rejects(typed(key), { code: 'INTERRUPTED', message: 'Nothing was spent' });
  }
});
