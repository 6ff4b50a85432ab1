/**
 * Answers a second of one instance and of three, which share an account, with the accounts in a SQLite file and on PostgreSQL.
 * On one machine all share its cores, the server and the clients too: three instances show what sharing an account costs, not
 * what three machines reach. Both stores write to the disk.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { launchPostgres } from '../test/postgres-server.ts';
import type { InstanceStarted } from './instance-process.ts';
import { makeSampleDatabase, sized } from './size.ts';
import { type Goal, table } from './table.ts';

const HOUSTON = 'lat=29.7604&lng=-95.3698';
const CASES: readonly (readonly [name: string, path: string, connections: number])[] = [
  ['single natural', `/v1/riverineFlood/risk?${HOUSTON}`, 24],
  ['the same, 96 at once', `/v1/riverineFlood/risk?${HOUSTON}`, 96],
  ['standard', `/v1/bundle/standard?${HOUSTON}`, 24],
].slice(0, sized(3, 1)) as [string, string, number][];
const SECONDS = sized(3, 0.3);

/** Prints the answers a second. */
export async function run(): Promise<Goal[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-instances-'));
  await using server = await launchPostgres({ fsync: true, settings: { autovacuum: 'on' } });
  try {
    const file = join(folder, 'data.db');
    makeSampleDatabase(file);
    const rows: string[][] = [];
    for (const instances of sized([1, 3], [1])) {
      for (const store of ['SQLite', 'PostgreSQL']) {
        const place =
          store === 'SQLite' ? join(folder, `accounts-${instances}.db`) : await server.database();
        rows.push([`${store}, ${instances} at work`, ...(await ratesOf(file, place, instances))]);
      }
    }
    console.log(table(['answers a second', ...CASES.map(([name]) => name), 'failed'], rows));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return [];
}

async function ratesOf(file: string, place: string, instances: number): Promise<string[]> {
  const children: ChildProcess[] = [];
  const started: InstanceStarted[] = [];
  for (let nth = 0; nth < instances; nth++) {
    const role = nth === 0 ? 'first' : 'further';
    const child = fork(join(import.meta.dirname, 'instance-process.ts'), [file, place, role]);
    children.push(child);
    started.push(((await once(child, 'message')) as [InstanceStarted])[0]);
  }
  try {
    const rates: string[] = [];
    let failed = 0;
    for (const [, path, connections] of CASES) {
      const results = await Promise.all(
        started.map(({ url }) =>
          autocannon({
            url: url + path,
            connections: connections / instances,
            duration: SECONDS,
            headers: { 'x-api-key': started[0]!.key },
          }),
        ),
      );
      rates.push(results.reduce((sum, { requests }) => sum + requests.average, 0).toFixed(0));
      failed += results.reduce((sum, { non2xx, errors }) => sum + non2xx + errors, 0);
    }
    return [...rates, String(failed)];
  } finally {
    for (const child of children) {
      const exit = once(child, 'exit');
      child.send('close');
      await exit;
    }
  }
}
