import { DatabaseError, Pool, type PoolClient, types } from 'pg';
import type { PostgresAddress } from './address.ts';

/** How the connections of a pool behave. */
export interface PoolSettings {
  /** Most connections. */
  readonly connections: number;
  /** Shown by pg_stat_activity. */
  readonly applicationName: string;
  /** Settings of each session, e.g. `search_path`. */
  readonly session: Readonly<Record<string, string | number>>;
  /** Longest wait for a connection, and for an answer, in milliseconds. */
  readonly timeoutMs: number;
}

const INT8 = 20;
const NUMERIC = 1700;

/**
 * Makes a pool of pipelined connections: statements that are given together are sent together, and each waits for those
 * before it. Counts and times come as numbers: all of ours are below 2^53.
 */
export function openPool({ config }: PostgresAddress, settings: PoolSettings): Pool {
  const { connections, applicationName, session, timeoutMs } = settings;
  const options = Object.entries(session).map(([name, value]) => `-c ${name}=${value}`);
  const pool = new Pool({
    ...config,
    options: [config.options ?? '', ...options].join(' ').trim(),
    application_name: applicationName,
    max: connections,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    keepAlive: true,
    pipeline: true,
    types: {
      getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
        oid === INT8 || oid === NUMERIC
          ? Number
          : types.getTypeParser(oid, format as 'text')) as typeof types.getTypeParser,
    },
  });
  // A lost connection fails its statements; its event, without a listener, would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  return pool;
}

/** What the system says of a server that cannot be reached. */
const SYSTEM_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
];
/** 08: connection; 57P01 to 57P05: the server stops, starts or ends the session; 53300: too many connections; 25P03: the
 * transaction was idle for too long; 25006: a standby after a failover. */
const SQL_STATES = /^(08...|57P0[1-5]|53300|25P03|25006)$/;
/** `pg` gives these no code. */
const MESSAGES =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed)/;

/** Whether an error means that the server cannot be reached, or the session is lost: to try again may succeed. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (error instanceof DatabaseError) return SQL_STATES.test(String(code));
  // All addresses of a host failed.
  if (error instanceof AggregateError) return error.errors.some(isConnectionLost);
  return SYSTEM_CODES.includes(String(code)) || MESSAGES.test(error.message);
}

/** Uses a connection of a pool. When the work fails, the connection is closed, which rolls its transaction back. */
export async function withConnection<Result>(
  pool: Pool,
  work: (connection: PoolClient) => Promise<Result>,
): Promise<Result> {
  const connection = await pool.connect();
  let isWhole = false;
  try {
    const result = await work(connection);
    isWhole = true;
    return result;
  } finally {
    connection.release(!isWhole);
  }
}
