import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { sharedPostgres } from '../postgres-server.ts';
import { CELLS, SCENARIOS } from './claim-scenarios.ts';

const server = await sharedPostgres();
const PROCESSES = 8;

test(`${PROCESSES} processes at once never exceed the minute or the quota, and buy each cell once`, async () => {
  const schema = 'many_processes';
  const address = server.storeAddress({ schema });
  const children = Array.from({ length: PROCESSES }, (_, number) =>
    fork(join(import.meta.dirname, 'claiming-process.ts'), [address, `process ${number}`]),
  );
  const ended = children.map((child) => once(child, 'exit'));
  for (const child of children) child.send('go');
  assert.deepEqual(
    (await Promise.all(ended)).map(([code]) => code),
    children.map(() => 0),
  );
  const spent = await server.query<{ account: string; credits: number; calls: number; cells: number }>(
    `SELECT account, sum(credits)::int AS credits, count(*)::int AS calls, count(DISTINCT (lat7, lng7))::int AS cells
     FROM ${schema}.calls GROUP BY account ORDER BY account`,
  );
  const all = { credits: CELLS.length * 15, calls: CELLS.length, cells: CELLS.length };
  const limited = { credits: 300, calls: 20, cells: 20 };
  assert.deepEqual(
    spent,
    Object.keys(SCENARIOS)
      .toSorted()
      .map((account) => ({ account, ...(account === 'cells' ? all : limited) })),
  );
  const [sums] = await server.query(
    `SELECT (SELECT sum(charged + unknown + open)::int FROM ${schema}.periods) AS periods,
       (SELECT sum(charged + unknown + open)::int FROM ${schema}.runs) AS runs, (SELECT sum(credits)::int FROM ${schema}.calls) AS calls`,
  );
  assert.deepEqual([sums!.periods, sums!.runs], [sums!.calls, sums!.calls]);
});
