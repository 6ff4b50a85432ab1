import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { perilbook } from '../cli/command-line.ts';
import {
  launchPostgres,
  ROLE_WITH_PASSWORD,
  ROLE_WITH_TLS,
  sharedPostgres,
  startPostgres,
} from '../postgres-server.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { ANSWER, callAt, chargedFor, PERIOD, RUN, termsOf } from './claims.ts';
import { testStore } from './contract/store-contract.ts';

const CERTIFICATES = join(import.meta.dirname, '../faults/certificates');

/** The server wants its key for itself alone. */
const folder = mkdtempSync(join(tmpdir(), 'perilbook-tls-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const [key, certificate] = [join(folder, 'server.key'), join(folder, 'server.pem')];
copyFileSync(join(CERTIFICATES, 'service.key'), key);
copyFileSync(join(CERTIFICATES, 'good.pem'), certificate);
chmodSync(key, 0o600);
chmodSync(folder, 0o755);
if (process.getuid?.() === 0) chownSync(key, 65_534, 65_534);

const server = await startPostgres({
  settings: { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key },
});
const OWNER = { name: 'me', isAlive: () => true };
const open = (address: string) => openPostgresStore(address, systemClock, OWNER);
const MIGRATIONS = join(import.meta.dirname, '../../src/store/migrations/postgres');

/** The statements of docs/operator/many-machines.md, as they stand there. */
const PAGE = readFileSync(
  join(import.meta.dirname, '../../docs/operator/many-machines.md'),
  'utf8',
);
const [CREATE, GRANT] = [...PAGE.matchAll(/```sql\n(.*?)```/gs)].map(([, sql]) => sql!);

test('the roles of docs/operator/many-machines.md: one migrates, one runs, one reads', async () => {
  await server.query('CREATE DATABASE hazards');
  await server.query(CREATE!, 'hazards');
  const address = (role: string) => server.url({ role, database: 'hazards' });
  await assert.rejects(open(address('perilbook_worker')), {
    code: 'STORE_UNUSABLE',
    message: /permission denied/,
  });
  // The command as the page prints it, on this server.
  const [, words] = /`perilbook (store init) --store postgres:\/\/perilbook_owner@/.exec(PAGE)!;
  const made = await perilbook([...words!.split(' '), '--store', address('perilbook_owner')]);
  assert.deepEqual([made.code, made.stderr], [0, '']);
  assert.match(made.stdout, /^The store postgres:\/\/\S+ is ready\.\n$/);
  await server.query(GRANT!, 'hazards');

  await using worker = await open(address('perilbook_worker'));
  const terms = await termsOf(worker);
  const { run, source, account } = terms;
  const request = callAt(1);
  const [claim] = await worker.claim(terms, [
    { ...request, areas: [{ area: 'tract 1', wanted: request.wanted }] },
  ]);
  await worker.settle([
    chargedFor(claim, 15, {
      ...{
        answers: [ANSWER],
        sample: true,
        refused: { scope: 'bundle', reason: '(403)' },
        exhausted: true,
      },
      areas: [{ area: 'tract 1', answers: [ANSWER], comparableSince: 0 }],
      contents: { kind: 'standard', topics: ['hail'] },
    }),
  ]);
  await worker.correct(account, PERIOD, 20);
  await worker.finishRun(run, { state: 'complete', resumeAfter: null, summary: {} });
  await worker.forgetRejections();
  await worker.prune(1);

  await using reader = await open(address('perilbook_reader'));
  assert.equal((await reader.spending(account, PERIOD)).charged, 15);
  assert.equal(await reader.source('somewhere'), source);
  assert.equal((await reader.read(source, [request.cell]))[0]!.answers.size, 1);
  assert.deepEqual([(await reader.runs()).length, (await reader.stats()).calls.charged], [1, 1]);
  await assert.rejects(reader.startRun(RUN), {
    code: 'STORE_UNUSABLE',
    message: /permission denied/,
  });
});

test('two that open a new store at once make it once; one of another version is refused', async () => {
  const newest = Number.parseInt(readdirSync(MIGRATIONS).sort().at(-1)!, 10);
  const address = server.storeAddress({ schema: 'new_store' });
  const stores = await Promise.all([1, 2, 3].map(() => open(address)));
  for (const store of stores) await store.close();
  assert.deepEqual(await server.query('SELECT version FROM new_store.schema_version'), [
    { version: newest },
  ]);
  await server.query('UPDATE new_store.schema_version SET version = 99');
  await assert.rejects(open(address), {
    code: 'STORE_TOO_NEW',
    message: new RegExp(`version 99, this one knows ${newest}`),
  });
  for (const version of [1, 2]) {
    await server.query(`UPDATE new_store.schema_version SET version = ${version}`);
    await assert.rejects(open(address), {
      code: 'STORE_UNUSABLE',
      message: /^The store postgres:.* was made by an earlier development version of Perilbook$/,
    });
  }
});

test('a password comes from a file, is read at each connection, and is in no message', async (t) => {
  const file = join(temporaryFolder(t), 'password');
  await server.query(
    `CREATE ROLE ${ROLE_WITH_PASSWORD} LOGIN PASSWORD 'right one'; CREATE SCHEMA theirs AUTHORIZATION ${ROLE_WITH_PASSWORD}`,
  );
  const address = `${server.storeAddress({ role: ROLE_WITH_PASSWORD, schema: 'theirs' })}&password_file=${file}`;
  writeFileSync(file, 'wrong one\n');
  await assert.rejects(open(address), (error: Error & { code?: string; hint?: string }) => {
    assert.equal(error.code, 'STORE_UNUSABLE');
    assert.doesNotMatch(JSON.stringify([error.message, error.hint, error.stack]), /wrong one/);
    assert.match(error.message, /refused the login: password authentication failed/);
    return true;
  });
  writeFileSync(file, 'right one\n');
  await (await open(address)).close();
});

test('a server must prove itself by a certificate, unless the address says otherwise', async () => {
  const openBy = (mode: string) => open(`${server.storeAddress()}&sslmode=${mode}`);
  const message = /has no certificate that can be verified/;
  await assert.rejects(openBy('verify-full'), { code: 'STORE_UNUSABLE', message });
  const authority = `&sslrootcert=${join(CERTIFICATES, 'authority.pem')}`;
  const other = `&sslrootcert=${join(CERTIFICATES, 'good.pem')}`;
  for (const mode of [
    `verify-full${authority}`,
    `verify-ca${authority}`,
    'require',
    'prefer',
    'allow',
    'disable',
  ])
    await (await openBy(mode)).close();
  for (const mode of ['verify-ca', `require${other}`])
    await assert.rejects(openBy(mode), { message });
});

test('a certificate of another name is told as that, not as one of an unknown authority', async () => {
  const other = join(folder, 'other.pem');
  copyFileSync(join(CERTIFICATES, 'other-host.pem'), other);
  await using misnamed = await launchPostgres({
    settings: { ssl: 'on', ssl_cert_file: other, ssl_key_file: key },
  });
  const authority = `sslrootcert=${join(CERTIFICATES, 'authority.pem')}`;
  const openBy = (mode: string) => open(`${misnamed.storeAddress()}&sslmode=${mode}&${authority}`);
  await assert.rejects(openBy('verify-full'), {
    code: 'STORE_UNUSABLE',
    message: /has a certificate of another name: .*127\.0\.0\.1 is not in the cert's list/,
    hint: /a name that the server's certificate has, or sslmode=verify-ca/,
  });
  // Its authority is the named one.
  await (await openBy('verify-ca')).close();
});

test('a server that demands TLS is met without sslmode, and one without TLS too', async () => {
  await server.query(
    `CREATE ROLE ${ROLE_WITH_TLS} LOGIN; CREATE SCHEMA encrypted AUTHORIZATION ${ROLE_WITH_TLS}`,
  );
  const encrypted = server.storeAddress({ role: ROLE_WITH_TLS, schema: 'encrypted' });
  for (const mode of ['', '&sslmode=allow', '&sslmode=prefer'])
    await (await open(`${encrypted}${mode}`)).close();
  await assert.rejects(open(`${encrypted}&sslmode=disable`), {
    code: 'STORE_UNUSABLE',
    message: /refused a connection without TLS: .*no encryption/,
    hint: /sslmode=require/,
  });
  const plain = await sharedPostgres();
  for (const mode of ['', '&sslmode=prefer', '&sslmode=allow'])
    await (await open(`${plain.storeAddress()}${mode}`)).close();
  await assert.rejects(open(`${plain.storeAddress()}&sslmode=require`), {
    code: 'STORE_UNUSABLE',
    message: /has no TLS$/,
    hint: /sslmode=disable/,
  });
});

testStore('PostgreSQL', async () => {
  const address = server.storeAddress();
  return {
    open: (clock, owner) =>
      openPostgresStore(address, systemClock, owner, {
        serverTime: () => `${clock.now()}::bigint`,
      }),
  };
});

const SCHEMA = 'grown';
const ROWS = 20_000;
const BATCHES = 15;
const BATCH = 20;
/** Rows that a claim and its settlement may read of all tables: those of the call, of its cell and of the sums. */
const ROWS_A_CALL = 30;

/** Rows that all sessions have read of each table of the schema, and how many calls they have inserted. */
async function rowsRead() {
  const tables = await server.query<{ table: string; read: string; inserted: string }>(
    `SELECT relname AS table, seq_tup_read + coalesce(idx_tup_fetch, 0) AS read, n_tup_ins AS inserted
     FROM pg_stat_user_tables WHERE schemaname = '${SCHEMA}'`,
  );
  const of = (name: string) => tables.find(({ table }) => table === name);
  return {
    inserted: Number(of('calls')?.inserted ?? 0),
    read: Object.fromEntries(tables.map(({ table, read }) => [table, Number(read)])),
  };
}

test('a store that was opened empty still reads only the rows of its calls when it has grown', async () => {
  const store = await open(server.storeAddress({ schema: SCHEMA }));
  const terms = await termsOf(store);
  const { run, source } = terms;
  const wanted = NATURAL_SLUGS.map((topic) => ({ topic, freshSince: 1 }));
  let calls = 0;
  async function buy(): Promise<void> {
    const claims = await store.claim(
      terms,
      Array.from({ length: BATCH }, () => ({ ...callAt(calls++), wanted })),
    );
    await store.settle(claims.map((claim) => chargedFor(claim, 15, { answers: [ANSWER] })));
  }
  // PostgreSQL plans a prepared statement anew five times, and keeps the plan that it then has.
  for (let batch = 0; batch < BATCHES; batch++) await buy();
  await server.query(
    `INSERT INTO ${SCHEMA}.cells (source, lat7, lng7) SELECT ${source}, 300000000, number FROM generate_series(1, ${ROWS}) number;
     INSERT INTO ${SCHEMA}.calls (run, source, account, period_start, key, kind, lat7, lng7, price, charge, credits, owner, claimed_at, lease_until)
       SELECT ${run}, ${source}, '${terms.account}', 0, 'k', 'standard', 0, number, 15, 'charged', 15, '', 0, 0 FROM generate_series(1, ${ROWS}) number`,
  );
  for (let batch = 0; batch < BATCHES; batch++) await buy();
  // A session reports what it has read when it ends.
  await store.close();
  let seen = await rowsRead();
  for (; seen.inserted < calls + ROWS; seen = await rowsRead()) await sleep(20);
  for (const table of ['cells', 'calls']) {
    const read = seen.read[table]!;
    assert.ok(read <= calls * ROWS_A_CALL, `${read} rows of ${table} were read for ${calls} calls`);
  }
});
