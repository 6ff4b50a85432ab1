import assert from 'node:assert/strict';
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { startPostgres } from '../postgres-server.ts';

const CERTIFICATES = join(import.meta.dirname, '../faults/certificates');
const AUTHORITY = join(CERTIFICATES, 'authority.pem');
const OWNER = { name: 'me', isAlive: () => true };

/** The server wants its key for itself alone. */
const folder = mkdtempSync(join(tmpdir(), 'perilbook-tls-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const [key, certificate] = [join(folder, 'server.key'), join(folder, 'server.pem')];
copyFileSync(join(CERTIFICATES, 'service.key'), key);
copyFileSync(join(CERTIFICATES, 'good.pem'), certificate);
chmodSync(key, 0o600);
chmodSync(folder, 0o755);
if (process.getuid?.() === 0) chownSync(key, 65_534, 65_534);

const server = await startPostgres({ settings: { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key } });

test('a server must prove itself by a certificate, unless the address says otherwise', async () => {
  const address = server.storeAddress();
  const open = (parameters: string) => openPostgresStore(`${address}${parameters}`, systemClock, OWNER);
  await assert.rejects(open('&sslmode=verify-full'), {
    code: 'STORE_UNUSABLE',
    message: /has no certificate that can be verified/,
  });
  for (const parameters of [`&sslmode=verify-full&sslrootcert=${AUTHORITY}`, '&sslmode=require', '&sslmode=disable']) {
    await (await open(parameters)).close();
  }
});
