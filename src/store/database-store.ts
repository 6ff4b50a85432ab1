import { inBatches } from '../base/batches.ts';
import type { PerilbookError } from '../base/errors.ts';
import { damagedStore } from '../formats/packed/damaged-store.ts';
import { read, readTogether, type SqlWork, statement, write } from '../sql/sql-work.ts';
import type { ThreadPool } from '../threads/thread-pool.ts';
import { cellReader, type WidthOf } from './answers/cell-answers.ts';
import type { CellAnswers, PlaceReading } from './answers/port.ts';
import { groupAreas } from './answers/stored-areas.ts';
import {
  addToStats,
  type CellChange,
  type CellOfStore,
  cellPage,
  cellRecords,
  countOlder,
  damagedIn,
  deleteDamaged,
  forgetRejections,
  highestCell,
  mergeCells,
  type OlderAnswers,
  packChanges,
  prunePage,
} from './answers/stored-cells.ts';
import { TextTable } from './answers/text-table.ts';
import type { LedgerTime } from './ledger/account-locks.ts';
import { type ClaimTable, claimCalls } from './ledger/claim-calls.ts';
import { periodSpendingOf } from './ledger/claim-usage.ts';
import {
  correctPeriod,
  isNewKey,
  latestCallTimes,
  readChargeStats,
  readCreditsWithoutAnswers,
  readLedgerStatement,
} from './ledger/ledger-sums.ts';
import type { Claim, ClaimLimits, ClaimRequest, Settlement, Spending } from './ledger/port.ts';
import {
  forgetPrices,
  readAllChargedPrices,
  readBundleContents,
  readChargedPrices,
  readRefusedScopes,
  readSampleMark,
} from './ledger/seen-services.ts';
import { giveUpCalls, settleCalls } from './ledger/settle-calls.ts';
import type { Compaction, Owner, Store } from './port.ts';
import { readPlaces } from './read-places.ts';
import { endRun, forgetRuns, insertRun, readAccounts, readRuns } from './runs/stored-runs.ts';

interface StoreSettings extends LedgerTime {
  /** For messages: the file, or the address. */
  readonly name: string;
  readonly owner: Owner;
  readonly widthOf: WidthOf;
}

interface OpenedDatabase {
  moved(): PerilbookError | null;
  /** @throws STORE_UNUSABLE where an answer could not be written: it would be paid for and lost */
  requireRoom(): void;
  bytes(): Promise<number>;
  compact(): Promise<Compaction>;
  close(): Promise<void>;
}

/** Calls of the job that are claimed, or settled, in one transaction. */
const MOST_TOGETHER = 200;

export function makeTables({ name, database, time, owner, widthOf }: StoreSettings): ClaimTable {
  const texts = new TextTable(name);
  return { database, time, owner, texts, reader: cellReader(texts, widthOf), windows: new Map() };
}

function* changesOf(source: number, cells: Iterable<CellAnswers>): Generator<CellChange> {
  for (const cell of cells) yield { source, ...cell };
}

/** Settles the calls whose lease has ended or whose process has died as unknown. */
export function* giveUpDead(tables: ClaimTable): SqlWork<void> {
  const { database, time, owner } = tables;
  const sql = `SELECT calls.id, owner, lease_until <= ${database.dialect.greatest(`${time()} + ahead`, 'latest')} AS "isOver"
    FROM calls JOIN accounts ON accounts.account = calls.account WHERE charge = 'sent'`;
  const [open] = yield* read(
    statement<{ id: number; owner: string; isOver: boolean | 0 | 1 }>(sql),
  );
  const isAlive = (name: string) => name === owner.name || owner.isAlive(name);
  const dead = open.filter((call) => call.isOver || !isAlive(call.owner)).map(({ id }) => id);
  if (dead.length > 0) yield* giveUpCalls(tables, dead);
}

/** The store on a database that is open and up to date. */
export function storeOn(
  tables: ClaimTable,
  { moved, requireRoom, bytes, compact, close }: OpenedDatabase,
): Store {
  const { database, texts, owner, reader } = tables;
  const ask = <T>(work: () => SqlWork<T>) => database.read(work);
  const change = <T>(work: () => SqlWork<T>) => database.transact(work);

  // Runs one transaction after the other. Requests that arrive during a transaction are decided together in the next one, so the
  // number of claims a second does not depend on the distance to the server.
  const claims = inBatches<{ terms: ClaimLimits; requests: readonly ClaimRequest[] }, Claim[]>(
    async (groups) => {
      const results: Claim[][] = [];
      const payerOf = (at: number) => `${groups[at]!.terms.source} ${groups[at]!.terms.account}`;
      for (const indexes of Map.groupBy(groups.keys(), payerOf).values()) {
        const asked = indexes.flatMap((at) => {
          const { terms, requests } = groups[at]!;
          return requests.map((request) => ({ terms, request }));
        });
        const claims = [...(await change(() => claimCalls(tables, asked)))];
        for (const at of indexes) results[at] = claims.splice(0, groups[at]!.requests.length);
      }
      return results;
    },
    { most: MOST_TOGETHER, atOnce: 1 },
  );
  const settlements = inBatches<readonly Settlement[], undefined>(
    async (groups) => {
      await change(() => settleCalls(tables, groups.flat()));
      return groups.map(() => undefined);
    },
    { most: MOST_TOGETHER, atOnce: 1 },
  );

  /** All cells, page by page, so that no transaction stays open while the caller works. */
  async function* pages(): AsyncGenerator<readonly CellOfStore[]> {
    const page = (after: number) => ask(() => cellPage(tables, after));
    for (let rows = await page(0); rows.length > 0; rows = await page(rows.at(-1)!.id)) yield rows;
  }

  async function* placesRead(reading: PlaceReading, pool: ThreadPool | null) {
    const highest = await ask(highestCell);
    if (highest === 0) return;
    const [newer] = await ask(() => read(texts.newer()));
    texts.take(newer);
    const { wanted, count, ...rest } = reading;
    const prepared = { ...rest, sought: reader.soughtOf(wanted) };
    const request = { reading: prepared, count, store: texts.store, highest };
    yield* readPlaces(request, database, pool);
  }

  /** What writes answers, which are packed now if the store has their texts. */
  function packAnswers(source: number, cells: Iterable<CellAnswers>): () => Promise<void> {
    const changes = packChanges(tables, changesOf(source, cells));
    return () => change(() => mergeCells(tables, changes));
  }

  return {
    async source(name) {
      const find = () =>
        read(statement<{ id: number }>('SELECT id FROM sources WHERE name = $1', [name]));
      const [[row]] = await ask(find);
      if (row !== undefined) return row.id;
      return change(function* () {
        yield* write(
          statement('INSERT INTO sources (name) VALUES ($1) ON CONFLICT DO NOTHING', [name]),
        );
        const [[made]] = yield* find();
        return made!.id;
      });
    },
    async read(source, cells) {
      return (await ask(() => readTogether(cellRecords(tables, source, cells))))[0];
    },
    readPlaces: placesRead,
    recordOf({ row: { answers, failures } }) {
      const bytes = Buffer.from(answers.buffer, answers.byteOffset, answers.byteLength);
      return reader.unpack({ answers: bytes, failures });
    },
    async texts() {
      const [newer] = await ask(() => read(texts.newer()));
      texts.take(newer);
      return { texts: texts.all(), store: texts.store };
    },
    async readAreas(source, areas) {
      const [stored] = await ask(() => readTogether(groupAreas(database, source, areas)));
      return areas.map((area) => stored.get(area) ?? null);
    },
    async claim(terms, requests) {
      const error = moved();
      if (error !== null) throw error;
      if (requests.length === 0) return [];
      requireRoom();
      return claims({ terms, requests });
    },
    async settle(settled) {
      if (settled.length > 0) await settlements(settled);
    },
    putAnswers: async (source, cells) => packAnswers(source, cells)(),
    packAnswers,
    moved: async () => moved(),
    sampleMark: (source) => ask(() => readSampleMark(source)),
    callTimes: (source, leaseMs) => ask(() => latestCallTimes(source, leaseMs)),
    bundleContents: (source) => ask(() => readBundleContents(database, source)),
    isNewKey: (account, key) => ask(() => isNewKey(account, key)),
    chargedPrices: (source) => ask(() => readChargedPrices(database, source)),
    allChargedPrices: () => ask(() => readAllChargedPrices(database)),
    forgetPrices: () => change(forgetPrices),
    creditsWithoutAnswers: (source) => ask(() => readCreditsWithoutAnswers(source)),
    refusedScopes: (source, key) => ask(() => readRefusedScopes(database, source, key)),
    spending: (account, period) => ask(() => periodSpendingOf(account, period.start)),
    statement: (query) => ask(() => readLedgerStatement(database, query)),
    correct: (account, period, spentInAll) =>
      change(() => correctPeriod(tables, account, period, spentInAll)),
    startRun: (run) => change(() => insertRun(database, run, owner)),
    ledgerAccounts: () => ask(readAccounts),
    finishRun: (run, end) => change(() => endRun(database, run, end)),
    runs: ({ job } = {}) => ask(() => readRuns(job, owner)),
    forgetRuns: (before) => change(() => forgetRuns(database, before)),
    async runSpending(run) {
      const sums = statement<Spending>('SELECT charged, unknown, open FROM runs WHERE id = $1', [
        run,
      ]);
      const [[spent]] = await ask(() => read(sums));
      if (spent !== undefined) return spent;
      throw moved() ?? damagedStore(`run ${run}`, tables.texts.store);
    },
    async stats() {
      const sums = new Map();
      for await (const cells of pages()) addToStats(sums, cells);
      const sources = [...sums.values()].sort((a, b) => (a.source < b.source ? -1 : 1));
      return { sources, ...(await ask(readChargeStats)), bytes: await bytes() };
    },
    async countOlder(before) {
      const sums: OlderAnswers = new Map();
      for await (const cells of pages())
        countOlder(sums, cells, before, (number) => texts.textOf(number));
      return sums;
    },
    async prune(before) {
      let forgotten = 0;
      for (let last = 0; ; ) {
        const done = await change(() => prunePage(tables, last, before));
        if (done === null) return forgotten;
        forgotten += done.dropped;
        last = done.last;
      }
    },
    async damaged({ delete: isDeleted }) {
      const ids: number[] = [];
      for await (const cells of pages()) ids.push(...damagedIn(tables, cells).map(({ id }) => id));
      if (isDeleted) await change(() => deleteDamaged(tables, ids));
      return ids.length;
    },
    forgetRejections: () => change(() => forgetRejections(tables)),
    compact,
    close,
    [Symbol.asyncDispose]: close,
  };
}
