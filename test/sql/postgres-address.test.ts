import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPostgresAddress, locatePostgres, shownAddress } from '../../src/sql/postgres-address.ts';
import { STORE_DATABASE } from '../../src/store/store-address.ts';

const connectionOf = (address: string) => locatePostgres(address, STORE_DATABASE).connection;

test('an address gives host, port, database and role; the schema is perilbook', () => {
  const named = 'postgres://worker@localhost:5433/hazards?schema=books_2';
  const { schema, connection, address } = locatePostgres(named, STORE_DATABASE);
  const { host, port, user, database, ssl } = connection;
  assert.deepEqual([host, port, user, database], ['localhost', 5433, 'worker', 'hazards']);
  assert.deepEqual([schema, ssl], ['books_2', false]);
  assert.equal(address, 'postgres://worker@localhost:5433/hazards');
  const socket = locatePostgres('postgresql:///hazards?host=/var/run/postgresql', STORE_DATABASE);
  assert.deepEqual([socket.connection.host, socket.schema], ['/var/run/postgresql', 'perilbook']);
});

test('TLS is verified by default, except on this machine', () => {
  const rejects = (address: string) =>
    (connectionOf(address).ssl as { rejectUnauthorized: boolean }).rejectUnauthorized;
  assert.equal(rejects('postgres://db.example.com/hazards'), true);
  assert.equal(rejects('postgres://10.0.0.7/hazards'), true);
  assert.equal(rejects('postgres://db.example.com/hazards?sslmode=require'), false);
  assert.equal(rejects('postgres://127.0.0.1/hazards?sslmode=verify-full'), true);
  assert.equal(connectionOf('postgres://db.example.com/hazards?sslmode=disable').ssl, false);
  assert.equal(connectionOf('postgres://[::1]/hazards').ssl, false);
});

for (const address of [
  ...['postgres://me:geheim@db.example.com/hazards', 'postgres://me:geheim@db.example.com@x/hazards'],
  ...['postgresql://db.example.com/hazards?user=me&password=geheim', 'POSTGRES://:geheim@localhost/hazards'],
]) {
  test(`a password in the address is refused, and not shown: ${address.replace('geheim', '…')}`, () => {
    assert.ok(isPostgresAddress(address));
    assert.throws(
      () => locatePostgres(address, STORE_DATABASE),
      (error: Error & { code?: string; hint?: string }) => {
        assert.equal(error.code, 'STORE_UNUSABLE');
        return !JSON.stringify([error.message, error.hint, error.stack]).includes('geheim');
      },
    );
  });
}

test('a mistake in an address is named', () => {
  for (const [parameters, message] of [
    ['sslmode=prefer', /Unknown sslmode "prefer"/],
    ['ssl=true', /Unknown parameter "ssl"/],
    ['schema=a"b', /is no name of a schema/],
    ['sslrootcert=/nowhere.pem', /The sslrootcert \/nowhere\.pem of the store .* cannot be read/],
  ] as const) {
    assert.throws(() => locatePostgres(`postgres://db.example.com/hazards?${parameters}`, STORE_DATABASE), {
      code: 'STORE_UNUSABLE',
      message,
    });
  }
  assert.equal(shownAddress('/data/store.db'), '/data/store.db');
});
