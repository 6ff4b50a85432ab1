import type { Clock } from '../../clock.ts';
import type { TopicSet } from '../../contract/topic-set.ts';
import { migratePostgres } from '../../sql/migrate-postgres.ts';
import { locatePostgres } from '../../sql/postgres-address.ts';
import { PostgresPool, type Session, type Transaction } from '../../sql/postgres-pool.ts';
import { cellCodec, type WidthOf, withoutRejections } from '../cell-answers.ts';
import type { Claim, ClaimLimits, ClaimRequest, Owner, Settlement, Store } from '../port.ts';
import { STORE_DATABASE } from '../store-address.ts';
import { answersSince, countOlder, sourceStats } from '../stored-ages.ts';
import { SERVER_TIME, type ServerTime } from './account-locks.ts';
import { claimCalls, giveUpCalls } from './claim-calls.ts';
import { chargeSums, correctPeriod, latestCallTimes, readLedgerStatement } from './ledger-sums.ts';
import { collecting, inTurn } from './one-at-a-time.ts';
import { readBundleContents, readRefusedScopes, readSampleMark } from './seen-services.ts';
import { settleCalls } from './settle-calls.ts';
import type { StoreParts } from './store-parts.ts';
import { readAreas } from './stored-areas.ts';
import { integers, mergeCells, readCells, readWantedCells } from './stored-cells.ts';
import { allDetails, detailsSize } from './stored-details.ts';
import { postgresParts } from './stored-parts.ts';
import { endRun, insertRun, planSums, readAccounts, readRuns, runSums } from './stored-runs.ts';
import { TextTable } from './text-table.ts';
import { periodSpendingOf } from './usage-state.ts';

interface PostgresOptions {
  readonly widthOf?: WidthOf;
  /** Default: the server's clock. Tests give one that they move. */
  readonly serverTime?: ServerTime;
}

type CellOfStore = {
  readonly id: number;
  readonly source: string;
  readonly lat7: number;
  readonly lng7: number;
  readonly answers: Buffer;
  readonly failures: string | null;
};

const MIGRATIONS = new URL('./migrations/', import.meta.url);
const POOL_SETTINGS = {
  // A restart or a failover takes a minute at most, and a call's lease outlasts it.
  patienceMs: 120_000,
  connectMs: 10_000,
  // Any statement of a transaction takes milliseconds; sums over the whole ledger may take longer.
  statementMs: 120_000,
  silentClientMs: 5_000,
  applicationName: 'perilbook',
  session: {},
};

const CELLS_A_PAGE = 2_000;
/** Calls of the job that are claimed, or settled, in one transaction. */
const MOST_TOGETHER = 200;

/**
 * The store for several machines: a schema of a PostgreSQL database (docs/operator/many-machines.md). All rules are kept in transactions
 * of the server and by its clock. On opening, calls whose lease has ended or whose process has died are settled as `unknown`.
 *
 * @param clock measures how long a server that is away is waited for; nothing else
 * @throws STORE_TOO_NEW, STORE_UNUSABLE, STORE_UNREACHABLE
 */
export async function openPostgresStore(
  store: string,
  clock: Clock,
  owner: Owner,
  { widthOf = () => null, serverTime = SERVER_TIME }: PostgresOptions = {},
): Promise<Store> {
  const location = locatePostgres(store, STORE_DATABASE);
  const pool = new PostgresPool(location, clock, POOL_SETTINGS);
  try {
    await migratePostgres(pool, location, MIGRATIONS);
    const texts = new TextTable(location.address);
    const parts = { texts, codec: cellCodec(texts, widthOf), serverTime, owner, windows: new Map() };
    await pool.read((session) => texts.refresh(session));
    await cleanUp(pool, parts);
    return storeOn(pool, parts);
  } catch (error) {
    await pool[Symbol.asyncDispose]();
    throw error;
  }
}

/** What a worker that died left behind. A role that only reads leaves it to others. */
async function cleanUp(pool: PostgresPool, parts: StoreParts): Promise<void> {
  const dead = await pool.read(async (session) => {
    const [right] = await session.rows<{ mayWrite: boolean }>(
      `SELECT has_table_privilege('calls', 'UPDATE') AND NOT pg_is_in_recovery() AS "mayWrite"`,
    );
    if (!right!.mayWrite) return null;
    const open = await session.rows<{ id: number; owner: string; isOver: boolean }>(
      `SELECT calls.id, owner, lease_until <= greatest(${parts.serverTime()} + ahead, latest) AS "isOver"
       FROM calls JOIN accounts USING (account) WHERE charge = 'sent'`,
    );
    const isAlive = (owner: string) => owner === parts.owner.name || parts.owner.isAlive(owner);
    return open.filter((call) => call.isOver || !isAlive(call.owner)).map(({ id }) => id);
  });
  if (dead === null) return;
  await pool.transact(async (tx) => {
    await tx.rows("DELETE FROM transactions WHERE at < now() - interval '1 day'");
    if (dead.length > 0) await giveUpCalls(tx, parts, dead);
  });
}

function storeOn(pool: PostgresPool, parts: StoreParts): Store {
  const { texts, codec, serverTime, owner } = parts;
  const read = <T>(work: (session: Session) => Promise<T>) => pool.read(work);
  // Texts get their numbers in the transactions that write cells: one of them at a time.
  const writingCells = inTurn();
  const writeCells = (work: (tx: Transaction) => Promise<void>) => writingCells(() => pool.transact(work));

  const claims = collecting<{ terms: ClaimLimits; requests: readonly ClaimRequest[] }, Claim[]>(
    MOST_TOGETHER,
    async (groups) => {
      const asked = groups.flatMap(({ terms, requests }) => requests.map((request) => ({ terms, request })));
      const decided = await pool.transact((tx) => claimCalls(tx, parts, asked));
      const left = [...decided];
      return groups.map(({ requests }) => left.splice(0, requests.length));
    },
  );
  const settlements = collecting<readonly Settlement[], undefined>(MOST_TOGETHER, async (groups) => {
    await writeCells((tx) => settleCalls(tx, parts, groups.flat()));
    return groups.map(() => undefined);
  });

  const page = (last: number) =>
    read((session) =>
      session.rows<CellOfStore>(
        `SELECT cells.id, sources.name AS source, lat7, lng7, answers, failures FROM cells JOIN sources ON sources.id = cells.source
         WHERE cells.id > $1 ORDER BY cells.id LIMIT ${CELLS_A_PAGE}`,
        [last],
      ),
    );
  /** All cells, page by page: no transaction stays open while somebody reads. */
  async function* pages(): AsyncGenerator<readonly CellOfStore[]> {
    for (let rows = await page(0); rows.length > 0; rows = await page(rows.at(-1)!.id)) {
      await read((session) => texts.refresh(session));
      yield rows;
    }
  }

  const close = () => pool[Symbol.asyncDispose]();

  return {
    async source(name) {
      const number = await read((session) => sourceNumber(session, name));
      if (number !== undefined) return number;
      return pool.transact(async (tx) => {
        await tx.rows('INSERT INTO sources (name) VALUES ($1) ON CONFLICT DO NOTHING', [name]);
        return (await sourceNumber(tx, name))!;
      });
    },
    read: (source, cells) => read((session) => readCells(session, texts, codec, source, cells)),
    readWanted: (source, cells, wanted) =>
      read((session) => readWantedCells(session, texts, codec, source, cells, wanted)),
    readAreas: (source, areas) => read((session) => readAreas(session, source, areas, serverTime())),
    claim: async (terms, requests) => (requests.length === 0 ? [] : claims({ terms, requests })),
    async settle(settled) {
      if (settled.length > 0) await settlements(settled);
    },
    putAnswers: (source, found) =>
      writeCells((tx) =>
        mergeCells(
          tx,
          texts,
          codec,
          found.map((cell) => ({ source, ...cell })),
        ),
      ),
    // A database that is moved is another server: its connection ends.
    moved: async () => null,
    sampleMark: (source) => read((session) => readSampleMark(session, source)),
    callTimes: (source, leaseMs) => read((session) => latestCallTimes(session, source, leaseMs)),
    bundleContents: (source) => read((session) => readBundleContents(session, source, serverTime())),
    refusedScopes: (source, key) => read((session) => readRefusedScopes(session, source, key, serverTime())),
    spending: (account, period) => read((session) => periodSpendingOf(session, account, period.start)),
    statement: (query) => read((session) => readLedgerStatement(session, query)),
    correct: (account, period, spentInAll) =>
      pool.transact((tx) => correctPeriod(tx, account, period, spentInAll, serverTime)),
    startRun: (run) => pool.transact((tx) => insertRun(tx, run, owner, serverTime())),
    knownAccounts: () => read(readAccounts),
    finishRun: (run, end) => pool.transact((tx) => endRun(tx, run, end, serverTime())),
    runs: ({ job } = {}) => read((session) => readRuns(session, job, owner)),
    runSpending: (run) => read((session) => runSums(session, run)),
    planSpending: (plan) => read((session) => planSums(session, plan)),
    async stats() {
      const sums = new Map();
      let sources: ReturnType<typeof sourceStats> = [];
      for await (const cells of pages()) sources = sourceStats(cells, sums);
      return read(async (session) => {
        const [size] = await session.rows<{ bytes: number }>(
          `SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes FROM pg_class
           WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`,
        );
        return { sources, ...(await chargeSums(session)), details: await detailsSize(session), bytes: size!.bytes };
      });
    },
    async countOlder(before) {
      const sums = new Map<string, Map<TopicSet, number>>();
      for await (const cells of pages()) countOlder(cells, before, (number) => texts.textOf(number), sums);
      return sums;
    },
    async prune(before) {
      let forgotten = 0;
      await pool.transact((tx) => tx.rows('DELETE FROM details WHERE as_of < $1', [before]));
      for (let last = 0; ; ) {
        const done = await pool.transact((tx) => prunePage(tx, last, before));
        if (done === null) return forgotten;
        forgotten += done.dropped;
        last = done.last;
      }
    },
    forgetRejections: () => pool.transact(forgetRejections),
    async *cells() {
      for await (const rows of pages()) {
        for (const { source, lat7, lng7, answers, failures } of rows) {
          yield { source, cell: { lat7, lng7 }, record: codec.unpack({ answers, failures }) };
        }
      }
    },
    ...postgresParts(pool, serverTime, owner),
    details: () => allDetails(pool),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function sourceNumber(session: Session, name: string): Promise<number | undefined> {
  const [row] = await session.rows<{ id: number }>('SELECT id FROM sources WHERE name = $1', [name]);
  return row?.id;
}

/** Drops the old answers of a page of cells; null behind the last page. */
async function prunePage(tx: Session, last: number, before: number): Promise<{ last: number; dropped: number } | null> {
  const rows = await tx.rows<{ id: number; answers: Buffer }>(
    `SELECT id, answers FROM cells WHERE id > $1 ORDER BY id LIMIT ${CELLS_A_PAGE} FOR UPDATE`,
    [last],
  );
  if (rows.length === 0) return null;
  const parts = rows.map(({ id, answers }) => ({ id, ...answersSince(answers, before) }));
  const changed = parts.filter(({ dropped }) => dropped > 0);
  if (changed.length > 0) {
    await tx.rows(
      `UPDATE cells SET answers = new.answers FROM unnest($1::bigint[], $2::bytea[]) AS new (id, answers) WHERE cells.id = new.id`,
      [integers(changed.map(({ id }) => id)), changed.map(({ kept }) => kept)],
    );
  }
  return { last: rows.at(-1)!.id, dropped: changed.reduce((sum, { dropped }) => sum + dropped, 0) };
}

async function forgetRejections(tx: Session): Promise<number> {
  const rows = await tx.rows<{ id: number; failures: string }>(
    `SELECT id, failures FROM cells WHERE strpos(failures, '["rejected"') > 0 ORDER BY id FOR UPDATE`,
  );
  const changed = rows
    .map(({ id, failures }) => ({ id, failures, left: withoutRejections(failures) }))
    .filter(({ failures, left }) => left !== failures);
  await tx.rows(
    'UPDATE cells SET failures = new.failures FROM unnest($1::bigint[], $2::text[]) AS new (id, failures) WHERE cells.id = new.id',
    [integers(changed.map(({ id }) => id)), changed.map(({ left }) => left)],
  );
  return changed.length;
}
