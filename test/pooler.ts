import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.ts';

/** Where Debian's package puts it. */
const PROGRAM = '/usr/sbin/pgbouncer';
/** It refuses to run as root, as PostgreSQL does. */
const NOBODY = 65_534;

/** Options of a test that needs PgBouncer; `.ci/pooler` installs it. */
export const WITH_POOLER = { skip: !existsSync(PROGRAM) && 'there is no PgBouncer: .ci/pooler' };

/** Starts PgBouncer in front of a server of tests, until the tests of the file have ended: to be called at its top level. It refuses startup parameters that it does not
 * know, as it does by default, and has fewer sessions than the tests have connections.
 * @returns its port */
export async function startPooler(
  ...[serverPort, poolMode, settings]: Parameters<typeof launchPooler>
): Promise<number> {
  const pooler = await launchPooler(serverPort, poolMode, settings);
  after(() => pooler[Symbol.asyncDispose]());
  return pooler.port;
}

/** The same without a test file: the caller stops it. */
export async function launchPooler(
  serverPort: number,
  poolMode: 'transaction' | 'session' | 'statement' = 'transaction',
  settings: readonly string[] = [],
): Promise<AsyncDisposable & { readonly port: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-pooler-'));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const lines = [
    ...[
      '[databases]',
      `* = host=127.0.0.1 port=${serverPort} user=postgres`,
      '[pgbouncer]',
      `listen_port=${port}`,
    ],
    ...[
      'listen_addr=127.0.0.1',
      'auth_type=any',
      `pool_mode=${poolMode}`,
      'default_pool_size=5',
      'max_client_conn=200',
    ],
    ...['unix_socket_dir=', 'server_login_retry=1', ...settings],
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child: ChildProcess = spawn(PROGRAM, [file], { ...asNobody, stdio: 'ignore' });
  const dispose = async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; ; tries++) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return { port, [Symbol.asyncDispose]: dispose };
    if (tries === 100) throw new Error('PgBouncer does not listen');
    await delay(50);
  }
}
