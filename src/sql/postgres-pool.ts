import { hash, randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import pg, { type PoolClient, type QueryConfig, type QueryResultRow } from 'pg';
import { type Clock, steadyTime } from '../base/clock.ts';
import type { PostgresLocation } from './postgres-address.ts';
import {
  asPostgresError,
  classifyError,
  leadsNowhere,
  mayConnectOtherwise,
} from './postgres-errors.ts';
import type { EngineDialect, SqlDatabase, SqlStatement, SqlWork } from './sql-work.ts';

/** A connection to the server, in a transaction or out of one. */
export interface Session {
  rows<Row extends QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

export interface Transaction extends Session {
  /** Sends a statement together with COMMIT, without waiting for it in between. The transaction is undone if it fails. */
  last(sql: string, values?: readonly unknown[]): void;
}

interface PoolSettings {
  /** How long an operation waits for an unreachable server, in milliseconds. */
  readonly patienceMs: number;
  /** Longest wait for a connection, in milliseconds. */
  readonly connectMs: number;
  /** Longest wait for the answer to a statement, in milliseconds. */
  readonly statementMs: number;
  /** The server ends a transaction whose client is silent for so long (suspended, or disconnected), because it may hold
   * the lock of an account, for which all others wait. In milliseconds. */
  readonly silentClientMs: number;
  /** Shown by pg_stat_activity. */
  readonly applicationName: string;
  /** Settings of each transaction, besides its schema, the time of a silent client and the plans. */
  readonly session: Readonly<Record<string, string | number>>;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
const MOST_CONFLICTS = 50;

/** Most connections: for two consecutive transactions, and reads meanwhile. */
const CONNECTIONS = 4;
/** Forces look-ups by index: PostgreSQL keeps the plan of a prepared statement's first executions, which for the empty tables of a new
 * schema reads all rows. Claims of 50 took 10 ms at first and 141 ms after 8 s. Such small statements gain nothing from jit, nor from a
 * plan for each list of cells, which took a twentieth of the server's time. */
const PLANS = {
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  enable_seqscan: 'off',
};
/** Inserts the number of a transaction, and forgets those of finished ones. */
const REMEMBER_TRANSACTION = `WITH forgotten AS (DELETE FROM transactions WHERE id = ANY($2))
  INSERT INTO transactions (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id`;
const INT8 = 20;
const NUMERIC = 1700;

/** A pool of connections that repeats work until the server has done it.
 *
 * Nothing rests on the state of a session: behind a pooler in transaction mode (PgBouncer, RDS Proxy, Supabase) each transaction may
 * have another one, and its startup parameters are the pooler's. So each transaction sets its schema, limits and plans itself, reads are
 * transactions too, and a statement is prepared under a name only where the session is our own.
 *
 * Statements are pipelined: statements sent together take one round trip. A transaction whose COMMIT was not answered may
 * have been done or not. It therefore inserts a row with a number of its own first; the next attempt inserts the same row, which
 * waits for the end of the old transaction, and fails if that was committed. `txid_status` was rejected: after a failover to a
 * standby it may tell of another transaction. */
export class PostgresPool implements AsyncDisposable {
  /** One for each way to connect, with TLS or without; the one that worked last is first. */
  #pools: readonly pg.Pool[];
  readonly #location: PostgresLocation;
  readonly #patienceMs: number;
  readonly #clock: Clock;
  /** Sets what a transaction needs, until its end. */
  readonly #settings: Parameters<typeof named>;
  /** Connections whose server session is their own: a pooler gives its own number in place of the session's. */
  readonly #own = new WeakMap<PoolClient, Promise<boolean>>();
  /** Transactions with a known outcome: their rows are no longer needed. */
  #finished: string[] = [];
  #isReached = false;

  constructor(location: PostgresLocation, clock: Clock, settings: PoolSettings) {
    this.#location = location;
    this.#patienceMs = settings.patienceMs;
    this.#clock = clock;
    const timeouts = { idle_in_transaction_session_timeout: settings.silentClientMs };
    this.#settings = settingsOf({
      search_path: location.schema,
      ...timeouts,
      ...PLANS,
      ...settings.session,
    });
    this.#pools = location.encryptions.map((ssl) => {
      const pool = new pg.Pool({
        ...location.connection,
        ssl,
        max: CONNECTIONS,
        connectionTimeoutMillis: settings.connectMs,
        query_timeout: settings.statementMs,
        keepAlive: true,
        pipeline: true,
        application_name: settings.applicationName,
        // Credits, times and numbers of calls are below 2^53, and so are their sums.
        types: {
          getTypeParser: (oid, format) =>
            oid === INT8 || oid === NUMERIC
              ? Number
              : pg.types.getTypeParser(oid, format as 'text'),
        },
      });
      // An idle connection that is cut is no error: the next operation opens another.
      pool.on('error', () => {});
      return pool.on('connect', (client) => void client.on('error', () => {}));
    });
  }

  /** Reads, repeatedly if needed: `work` must not write, except for writes that may be repeated. */
  read<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#repeated(() =>
      this.#withClient(async (client, prepared) => {
        const begun = Promise.all([
          client.query('BEGIN'),
          client.query(prepared(...this.#settings)),
        ]);
        begun.catch(() => {});
        try {
          const result = await work({
            rows: async (sql, values = []) => (await client.query(prepared(sql, values))).rows,
          });
          await begun;
          await client.query('COMMIT');
          return result;
        } catch (error) {
          if (classifyError(error) === 'lost') throw await refusalOf(begun, error);
          const [beginning] = await Promise.allSettled([begun, client.query('ROLLBACK')]);
          throw beginning.status === 'rejected' ? beginning.reason : error;
        }
      }),
    );
  }

  /** Does all of `work` exactly once, or throws. `work` runs again if the server did not commit it; the earlier result
   * is then dropped. @throws the errors of the database's use; after `unreachable`, it may have been done */
  async transact<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const id = randomUUID();
    // The latest attempt whose COMMIT was sent and not answered.
    let unanswered: { readonly result: T } | null = null;
    const result = await this.#repeated(() =>
      this.#withClient(async (client, prepared) => {
        const finished = this.#finished;
        const begun = Promise.all([
          client.query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE'),
          client.query(prepared(...this.#settings)),
          client.query(prepared(REMEMBER_TRANSACTION, [id, finished])),
        ]);
        begun.catch(() => {});
        const lasts: Promise<unknown>[] = [];
        const run = async (sql: string, values: readonly unknown[] = []) =>
          (await client.query(prepared(sql, values))).rows;
        const last: Transaction['last'] = (sql, values) => {
          const sent = run(sql, values);
          sent.catch(() => {});
          lasts.push(sent);
        };
        let isCommitSent = false;
        try {
          // The first attempt cannot have been committed before, so it need not wait for the check.
          if (unanswered !== null) {
            const isNew = (await begun)[2].rowCount === 1;
            if (!isNew) {
              await client.query('ROLLBACK');
              return unanswered.result;
            }
            unanswered = null;
          }
          const result = await work({ rows: run, last });
          await begun;
          isCommitSent = true;
          unanswered = { result };
          const [ended] = await Promise.all([client.query('COMMIT'), ...lasts]);
          // A transaction in which a statement failed answers COMMIT with ROLLBACK.
          if (ended.command !== 'COMMIT')
            throw new Error(`COMMIT was answered with ${ended.command}`);
          this.#finished = this.#finished.filter((old) => !finished.includes(old));
          return result;
        } catch (error) {
          // If the server answered, it committed nothing; only a lost connection leaves that open.
          // Close a lost connection: statements on it would only wait longer.
          if (classifyError(error) === 'lost') throw await refusalOf(begun, error);
          if (isCommitSent) unanswered = null;
          const [beginning] = await Promise.allSettled([begun, ...lasts, client.query('ROLLBACK')]);
          // Statements sent after a failed one fail too, and may be awaited first.
          throw beginning.status === 'rejected' ? beginning.reason : error;
        }
      }),
    );
    this.#finished.push(id);
    return result;
  }

  async #connect(): Promise<PoolClient> {
    const [pool, other] = this.#pools;
    try {
      return await pool!.connect();
    } catch (error) {
      if (other === undefined || !mayConnectOtherwise(error)) throw error;
      const client = await other.connect().catch((second) => {
        throw mayConnectOtherwise(second) ? error : second;
      });
      this.#pools = [other, pool!];
      return client;
    }
  }

  async #withClient<T>(
    work: (client: PoolClient, prepared: typeof named) => Promise<T>,
  ): Promise<T> {
    const client = await this.#connect();
    this.#isReached = true;
    let failure: unknown;
    try {
      const isOwn = this.#own.get(client) ?? hasOwnSession(client);
      this.#own.set(client, isOwn);
      return await work(client, (await isOwn) ? named : makeUnnamed);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      client.release(failure !== undefined && classifyError(failure) === 'lost');
    }
  }

  async #repeated<T>(attempt: () => Promise<T>): Promise<T> {
    const begunAt = steadyTime(this.#clock);
    let lostAt: number | null = null;
    let pause = FIRST_PAUSE_MS;
    for (let conflicts = 0; ; ) {
      try {
        return await attempt();
      } catch (error) {
        const meaning = classifyError(error);
        const now = steadyTime(this.#clock);
        if (
          meaning === 'conflict' &&
          conflicts++ < MOST_CONFLICTS &&
          now - begunAt < this.#patienceMs
        )
          continue;
        // An address that has never led to a server is a mistake in it, which waiting does not correct.
        const isMistake = !this.#isReached && leadsNowhere(error);
        if (meaning !== 'lost' || isMistake) throw asPostgresError(this.#location, error);
        lostAt ??= now;
        if (now - lostAt + pause > this.#patienceMs) throw asPostgresError(this.#location, error);
        await this.#clock.sleep(pause);
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pools.filter(({ ended }) => !ended).map((pool) => pool.end()));
  }
}

/** Why a connection was lost, if the server refused the beginning of its transaction and then closed it; the statements behind it only know
 * that it ended. */
async function refusalOf(begun: Promise<unknown>, lost: unknown): Promise<unknown> {
  const reason = begun.then(
    () => lost,
    (refusal: unknown) => refusal,
  );
  return await Promise.race([reason, setImmediate(lost)]);
}

/** A statement with values is prepared once a session, under a name of its text: planning it took longer than running it. */
function named(text: string, values: readonly unknown[]): QueryConfig {
  return values.length === 0
    ? { text }
    : { ...makeUnnamed(text, values), name: hash('sha256', text).slice(0, 32) };
}

/** For a session that others use, too: a name could be taken, or forgotten. */
function makeUnnamed(text: string, values: readonly unknown[]): QueryConfig {
  return values.length === 0 ? { text } : { text, values: [...values] };
}

/** Whether the server's session is this connection's own: a pooler makes up the number that clients get for cancelling. Asked of each
 * connection, because an address may lead to either. */
async function hasOwnSession(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]!.pid === (client as PoolClient & { readonly processID: number }).processID;
}

/** The statement that makes settings for the rest of a transaction. What is committed must be on the disk before a call is sent:
 * `synchronous_commit` is turned on where it is off; `remote_apply` and similar settings stay, because they promise more. */
function settingsOf(settings: Readonly<Record<string, string | number>>): Parameters<typeof named> {
  const values = Object.entries(settings).flatMap(([name, value]) => [name, String(value)]);
  const calls = Object.keys(settings).map(
    (_, at) => `set_config($${2 * at + 1}, $${2 * at + 2}, true)`,
  );
  const isOff = `current_setting('synchronous_commit') IN ('off', 'local')`;
  const durable = `set_config('synchronous_commit', CASE WHEN ${isOff} THEN 'on' ELSE current_setting('synchronous_commit') END, true)`;
  return [`SELECT ${[...calls, durable].join(', ')}`, values];
}

/** Runs work on a pool of PostgreSQL: the statements of a step take one round trip, and statements without a reader none. */
export function postgresDriver(pool: PostgresPool, dialect: EngineDialect): SqlDatabase {
  return {
    dialect,
    read: (work) => pool.read((session) => driven(work(), session, () => refuseWrite())),
    transact: (work) => pool.transact((tx) => driven(work(), tx, tx.last)),
  };
}

function refuseWrite(): never {
  throw new Error('Work that only reads has sent a statement that writes');
}

async function driven<T>(
  steps: SqlWork<T>,
  session: Session,
  last: Transaction['last'],
): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    const { statements, isRead } = step.value;
    if (isRead) {
      step = steps.next(
        await Promise.all(
          statements.map(({ sql, values }: SqlStatement) => session.rows(sql, values)),
        ),
      );
    } else {
      for (const { sql, values } of statements) last(sql, values);
      step = steps.next([]);
    }
  }
  return step.value;
}
