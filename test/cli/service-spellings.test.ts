import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDesk, places } from '../job/harness.ts';
import { perilbook } from './command-line.ts';

const SPELLINGS = (port: string) => [
  `HTTP://127.0.0.1:${port}`,
  `http://127.1:${port}`,
  `http://127.0.0.1:${port}///`,
  `http://127.0.0.1:${port}/a/../`,
  `http://127.0.0.1:${port}/%2e/`,
];

/** A run by the command line, with a store of its own beside the desk's. */
async function openShop(t: Parameters<typeof openDesk>[0]) {
  const desk = await openDesk(t);
  desk.book(places(4));
  const env = { PERILBOOK_API_KEY: desk.key().secret };
  return {
    ...{ desk, port: new URL(desk.url).port },
    run: async (address: string) => {
      const said = [
        'run',
        'input.csv',
        '-o',
        'shop.csv',
        '-t',
        'hail',
        '--store',
        'shop.db',
        '--budget',
        '500',
        '--quiet',
      ];
      const options = { folder: desk.folder, clock: desk.clock, env };
      const { code, stderr } = await perilbook([...said, '--base-url', address], options);
      assert.equal(code, 0, stderr);
    },
  };
}

test('another spelling of the address does not buy again', async (t) => {
  const { desk, run, port } = await openShop(t);
  await run(desk.url);
  for (const spelling of SPELLINGS(port)) await run(spelling);
  assert.equal(desk.charged(), 4);
});
