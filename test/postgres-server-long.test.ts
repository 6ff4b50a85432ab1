import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { OWN_POSTGRES, startPostgres } from './postgres-server.ts';

const server = await startPostgres();

test('each test has a schema or a database of its own', async () => {
  for (const url of [await server.schema(), await server.schema(), await server.database()]) {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('CREATE TABLE cells (id int)');
    await client.end();
  }
});

test('a server that was stopped starts again at its port, with what was committed', OWN_POSTGRES, async () => {
  await server.query('CREATE TABLE kept (id int)');
  for (const how of ['fast', 'immediate'] as const) {
    await server.stop(how);
    await assert.rejects(server.query('SELECT 1'), { code: 'ECONNREFUSED' });
    await server.start();
    assert.deepEqual(await server.query('SELECT count(*)::int AS n FROM kept'), [{ n: 0 }]);
  }
});
