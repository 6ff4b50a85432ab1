import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openHarness, places } from '../run/harness.ts';
import { perilbook } from './command-line.ts';

const SPELLINGS = (port: string) => [
  `HTTP://127.0.0.1:${port}`,
  `http://127.1:${port}`,
  `http://localhost:${port}`,
  `http://127.0.0.1:${port}///`,
  `http://127.0.0.1:${port}/a/../`,
  `http://127.0.0.1:${port}/%2e/`,
];

/** A run by the command line, with a store of its own beside the harness's. */
async function openSetup(t: Parameters<typeof openHarness>[0]) {
  const harness = await openHarness(t);
  harness.writeInput(places(4));
  const env = { PERILBOOK_API_KEY: harness.key().secret };
  return {
    ...{ harness, port: new URL(harness.url).port },
    run: async (address: string) => {
      const said = [
        'run',
        'input.csv',
        '-o',
        'setup.csv',
        '-t',
        'hail',
        '--store',
        'setup.db',
        '--budget',
        '500',
        '--quiet',
      ];
      const options = { folder: harness.folder, clock: harness.clock, env };
      const { code, stderr } = await perilbook([...said, '--base-url', address], options);
      assert.equal(code, 0, stderr);
    },
  };
}

test('another spelling of the address does not buy again', async (t) => {
  const { harness, run, port } = await openSetup(t);
  await run(harness.url);
  for (const spelling of SPELLINGS(port)) await run(spelling);
  assert.equal(harness.charged(), 4);
});
