import { createHash, randomUUID } from 'node:crypto';
import pg, { type PoolClient, type PoolConfig, type QueryConfig, type QueryResultRow } from 'pg';
import { type Clock, steadyTime } from '../../clock.ts';
import { asPostgresError, meaningOf } from './postgres-errors.ts';

/** A connection to the server, in a transaction or out of one. */
export interface Session {
  rows<Row extends QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** A transaction that writes. */
export interface Transaction extends Session {
  /** Sends a statement together with COMMIT, without waiting for it in between. The transaction is undone if it fails. */
  last(sql: string, values?: readonly unknown[]): void;
}

/** How long an operation waits for a server that is away: a restart or a failover takes a minute at most, and a call's lease
 * outlasts it. */
const PATIENCE_MS = 120_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
const MOST_CONFLICTS = 50;

/** The server ends a transaction whose client says nothing for so long (it was stopped, or the network is cut): it may hold the
 * lock of an account, for which all other workers wait. */
const SILENT_CLIENT_MS = 5_000;
const CONNECT_MS = 10_000;
/** Any statement of a transaction takes milliseconds; sums over the whole ledger may take longer. */
const STATEMENT_MS = 120_000;
const INT8 = 20;

/**
 * A pool of connections on which work is repeated until the server has done it.
 *
 * Statements are pipelined: those that are sent together take one round trip. A transaction whose COMMIT was not answered may
 * have been done or not. It therefore inserts a row with a number of its own first; the next attempt inserts the same row, which
 * waits for the end of the old transaction, and fails if that was committed. `txid_status` was rejected: after a failover to a
 * standby it may tell of another transaction.
 */
export class PostgresPool implements AsyncDisposable {
  readonly #pool: pg.Pool;
  readonly #store: string;
  readonly #clock: Clock;
  /** Transactions whose ends are known: their rows are no longer needed. */
  #finished: string[] = [];

  /** @param store the address as messages show it */
  constructor(config: PoolConfig, store: string, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#pool = new pg.Pool({
      max: 4,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: STATEMENT_MS,
      idle_in_transaction_session_timeout: SILENT_CLIENT_MS,
      keepAlive: true,
      pipeline: true,
      application_name: 'perilbook',
      // Credits, times and numbers of calls are below 2^53.
      types: {
        getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')),
      },
      ...config,
    });
    // An idle connection that is cut is no error: the next operation opens another.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => {
      client.on('error', () => {});
      // What was committed must be on the disk before a call is sent. `remote_apply` and the like are kept: they promise more.
      client
        .query(
          `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')`,
        )
        .catch(() => {});
    });
  }

  /** Reads, again if need be: `work` must not write. */
  read<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#repeated(() =>
      this.#withClient((client) =>
        work({ rows: async (sql, values = []) => (await client.query(prepared(sql, values))).rows }),
      ),
    );
  }

  /** Does all of `work` exactly once, or throws. `work` runs again when the server did not do it; then what it returned before
   * counts no longer. @throws STORE_UNREACHABLE, STORE_UNUSABLE */
  async transact<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const id = randomUUID();
    // Of the latest attempt whose COMMIT was sent and not answered.
    let unanswered: { readonly result: T } | null = null;
    const result = await this.#repeated(() =>
      this.#withClient(async (client) => {
        const finished = this.#finished;
        const begun = Promise.all([
          client.query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE'),
          client.query(
            `WITH forgotten AS (DELETE FROM transactions WHERE id = ANY($2))
             INSERT INTO transactions (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id`,
            [id, finished],
          ),
        ]);
        begun.catch(() => {});
        const lasts: Promise<unknown>[] = [];
        const run = async (sql: string, values: readonly unknown[] = []) =>
          (await client.query(prepared(sql, values))).rows;
        let isCommitSent = false;
        try {
          // The first attempt cannot have been done already, so it does not wait to know.
          if (unanswered !== null) {
            const isNew = (await begun)[1].rowCount === 1;
            if (!isNew) {
              await client.query('ROLLBACK');
              return unanswered.result;
            }
            unanswered = null;
          }
          const result = await work({ rows: run, last: (sql, values) => void lasts.push(run(sql, values)) });
          await begun;
          isCommitSent = true;
          unanswered = { result };
          const [ended] = await Promise.all([client.query('COMMIT'), ...lasts]);
          // A transaction in which a statement failed answers COMMIT with ROLLBACK.
          if (ended.command !== 'COMMIT') throw new Error(`COMMIT was answered with ${ended.command}`);
          this.#finished = this.#finished.filter((old) => !finished.includes(old));
          return result;
        } catch (error) {
          // Where the server answered, it did nothing; only a lost connection leaves that open.
          if (isCommitSent && meaningOf(error) !== 'lost') unanswered = null;
          const [beginning] = await Promise.allSettled([begun, ...lasts, client.query('ROLLBACK')]);
          // What was sent behind a statement that failed fails as well, and may be waited for first.
          throw beginning.status === 'rejected' ? beginning.reason : error;
        }
      }),
    );
    this.#finished.push(id);
    return result;
  }

  async #withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let failure: unknown;
    try {
      return await work(client);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      client.release(failure !== undefined && meaningOf(failure) === 'lost');
    }
  }

  async #repeated<T>(attempt: () => Promise<T>): Promise<T> {
    let lostAt: number | null = null;
    let pause = FIRST_PAUSE_MS;
    for (let conflicts = 0; ; ) {
      try {
        return await attempt();
      } catch (error) {
        const meaning = meaningOf(error);
        if (meaning === 'conflict' && conflicts++ < MOST_CONFLICTS) continue;
        if (meaning !== 'lost') throw asPostgresError(this.#store, error);
        lostAt ??= steadyTime(this.#clock);
        if (steadyTime(this.#clock) - lostAt + pause > PATIENCE_MS) throw asPostgresError(this.#store, error);
        await this.#clock.sleep(pause);
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#pool.ended) await this.#pool.end();
  }
}

/** A statement with values is prepared once a connection, under a name of its text: planning it took longer than running it. */
function prepared(text: string, values: readonly unknown[]): QueryConfig {
  if (values.length === 0) return { text };
  return { name: createHash('sha256').update(text).digest('hex').slice(0, 32), text, values: [...values] };
}
