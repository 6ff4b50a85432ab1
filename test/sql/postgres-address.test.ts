import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  completeAddress,
  isPostgresAddress,
  locatePostgres,
  shownAddress,
} from '../../src/sql/postgres-address.ts';
import { STORE_DATABASE } from '../../src/store/store-address.ts';

const connectionOf = (address: string) => locatePostgres(address, STORE_DATABASE).connection;
/** The ways to connect, in order: `none` for no TLS, else whether authority and name of the certificate are checked. */
const encryptions = (address: string) =>
  locatePostgres(address, STORE_DATABASE).encryptions.map((way) => {
    if (typeof way === 'boolean') return 'none';
    if (!way.rejectUnauthorized) return 'any';
    return way.checkServerIdentity === undefined ? 'full' : 'authority';
  });
const CERTIFICATES = join(import.meta.dirname, '../faults/certificates');
const AUTHORITY = join(CERTIFICATES, 'authority.pem');

test('an address gives host, port, database and role; the schema is perilbook', () => {
  const named = 'postgres://worker@localhost:5433/hazards?schema=books_2';
  const { schema, connection, address } = locatePostgres(named, STORE_DATABASE);
  const { host, port, user, database } = connection;
  assert.deepEqual([host, port, user, database], ['localhost', 5433, 'worker', 'hazards']);
  assert.equal(schema, 'books_2');
  assert.equal(address, 'postgres://worker@localhost:5433/hazards');
  const socket = locatePostgres('postgresql:///hazards?host=/var/run/postgresql', STORE_DATABASE);
  assert.deepEqual([socket.connection.host, socket.schema], ['/var/run/postgresql', 'perilbook']);
});

test('sslmode and sslrootcert mean what they mean to programs of PostgreSQL; other hosts are verified by default', () => {
  for (const [address, ways] of [
    ['db.example.com/h', ['full']],
    ['10.0.0.7/h', ['full']],
    ['localhost/h', ['any', 'none']],
    ['[::1]/h', ['any', 'none']],
    [`127.0.0.1/h?sslrootcert=${AUTHORITY}`, ['full']],
    ['db.example.com/h?sslmode=disable', ['none']],
    ['db.example.com/h?sslmode=allow', ['none', 'any']],
    ['db.example.com/h?sslmode=prefer', ['any', 'none']],
    ['db.example.com/h?sslmode=require', ['any']],
    [`db.example.com/h?sslmode=require&sslrootcert=${AUTHORITY}`, ['authority']],
    ['db.example.com/h?sslmode=verify-ca', ['authority']],
    ['127.0.0.1/h?sslmode=verify-full', ['full']],
    ['db.example.com/h?sslrootcert=system', ['full']],
    ['db.example.com/h?channel_binding=prefer', ['full']],
    ['/h?host=/var/run/postgresql&sslmode=require', ['none']],
  ] as const)
    assert.deepEqual(encryptions(`postgres://${address}`), ways, address);
  assert.equal(
    connectionOf('postgres://db.example.com/h?channel_binding=prefer').enableChannelBinding,
    true,
  );
});

test('variables of PostgreSQL complete an address, and what it says itself stays', () => {
  const env = {
    PGSSLMODE: 'require',
    PGSSLROOTCERT: '~/ca.pem',
    PGHOST: '/run/pg',
    PGPORT: '6432',
    HOME: '/home/ann',
  };
  const parameters = (address: string) =>
    Object.fromEntries(new URL(completeAddress(address, env)).searchParams);
  const tls = { sslmode: 'require', sslrootcert: join('/home/ann', 'ca.pem') };
  assert.deepEqual(parameters('postgres:///h'), { ...tls, host: '/run/pg', port: '6432' });
  assert.deepEqual(parameters('postgres://db.example.com/h?sslmode=disable'), {
    ...tls,
    sslmode: 'disable',
    port: '6432',
  });
  assert.deepEqual(parameters('postgres://db.example.com:5433/h?password_file=~/p'), {
    ...tls,
    password_file: join('/home/ann', 'p'),
  });
  assert.equal(
    completeAddress('postgres://me@db.example.com/h?schema=a', {}),
    'postgres://me@db.example.com/h?schema=a',
  );
  assert.deepEqual(connectionOf('postgres:///h?host=/run/pg&port=6432').port, 6432);
});

for (const address of [
  ...[
    'postgres://me:geheim@db.example.com/hazards',
    'postgres://me:geheim@db.example.com@x/hazards',
  ],
  ...[
    'postgresql://db.example.com/hazards?user=me&password=geheim',
    'POSTGRES://:geheim@localhost/hazards',
  ],
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
    ['sslmode=verify_full', /Unknown sslmode "verify_full"/],
    [
      'sslmode=require&sslrootcert=system',
      /sslrootcert=system with sslmode=require proves nothing/,
    ],
    ['channel_binding=require', /channel_binding=require cannot be enforced here/],
    ['channel_binding=yes', /Unknown channel_binding "yes"/],
    ['host=a,b', /More than one host/],
    ['port=0', /The port is no number/],
    ['ssl=true', /Unknown parameter "ssl"/],
    ['schema=a"b', /is no name of a schema/],
    ['sslrootcert=/nowhere.pem', /The sslrootcert \/nowhere\.pem of the store .* cannot be read/],
  ] as const) {
    assert.throws(
      () => locatePostgres(`postgres://db.example.com/hazards?${parameters}`, STORE_DATABASE),
      {
        code: 'STORE_UNUSABLE',
        message,
      },
    );
  }
  assert.equal(shownAddress('/data/store.db'), '/data/store.db');
});
