import { inBatches } from '../base/batches.ts';
import type { PerilbookError } from '../base/errors.ts';
import { damagedStore } from '../formats/packed/damaged-store.ts';
import { read, readTogether, type SqlWork, statement, write } from '../sql/sql-work.ts';
import type { ThreadPool } from '../threads/thread-pool.ts';
import { cellReader, type WidthOf } from './answers/cell-answers.ts';
import { mergeCells, writtenCells } from './answers/merged-cells.ts';
import { type CellChange, packChanges } from './answers/packed-changes.ts';
import { type PlaceReader, type PreparedReading, placeReader } from './answers/place-reader.ts';
import type {
  AnswersPort,
  CellAnswers,
  CellLists,
  PlaceReading,
  WrittenPlaces,
} from './answers/port.ts';
import { groupAreas } from './answers/stored-areas.ts';
import {
  addToStats,
  type CellOfStore,
  cellPage,
  cellRecords,
  countOlder,
  damagedIn,
  deleteDamaged,
  forgetRejections,
  highestCell,
  type OlderAnswers,
  prunePage,
} from './answers/stored-cells.ts';
import { type NumberedPacker, TextTable } from './answers/text-table.ts';
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
import type {
  Claim,
  ClaimLimits,
  ClaimRequest,
  LedgerPort,
  Settlement,
  Spending,
} from './ledger/port.ts';
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
import type { RunsPort } from './runs/port.ts';
import {
  endRun,
  forgetRuns,
  insertRun,
  readAccounts,
  readRuns,
  replanRun,
} from './runs/stored-runs.ts';

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

/** What the statements of a store share: database, clock, owner, and the texts and cells that were read before. */
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

/** Reads in one transaction that sees one state, and changes in one that is undone by an error. */
function transactionsOf({ database }: ClaimTable): {
  ask<T>(work: () => SqlWork<T>): Promise<T>;
  change<T>(work: () => SqlWork<T>): Promise<T>;
} {
  return {
    ask: (work) => database.read(work),
    change: (work) => database.transact(work),
  };
}

/** The store on a database that is open and up to date. */
export function storeOn(tables: ClaimTable, opened: OpenedDatabase): Store {
  const { ask, change } = transactionsOf(tables);
  const { moved, bytes, compact, close } = opened;
  return {
    ...answersOn(tables),
    ...ledgerOn(tables, opened),
    ...runsOn(tables, opened),
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
    moved: async () => moved(),
    async stats() {
      const sums = new Map();
      for await (const cells of cellPages(tables)) addToStats(sums, cells);
      const sources = [...sums.values()].sort((a, b) => (a.source < b.source ? -1 : 1));
      return { sources, ...(await ask(readChargeStats)), bytes: await bytes() };
    },
    compact,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** All cells, page by page, so that no transaction stays open while the caller works. */
async function* cellPages(tables: ClaimTable): AsyncGenerator<readonly CellOfStore[]> {
  const page = (after: number) => tables.database.read(() => cellPage(tables, after));
  for (let rows = await page(0); rows.length > 0; rows = await page(rows.at(-1)!.id)) yield rows;
}

/** The answers of places and areas. */
function answersOn(tables: ClaimTable): AnswersPort {
  const { database, texts, reader } = tables;
  const { ask, change } = transactionsOf(tables);

  async function readTexts(): Promise<void> {
    const [newer] = await ask(() => read(texts.newer()));
    texts.take(newer);
  }

  async function* placesRead(reading: PlaceReading, pool: ThreadPool | null) {
    const highest = await ask(highestCell);
    if (highest === 0) return;
    const { count } = reading;
    const request = { reading: await prepareReading(reading), count, store: texts.store, highest };
    yield* readPlaces(request, database, pool);
  }

  async function prepareReading({
    wanted,
    count: _,
    ...rest
  }: PlaceReading): Promise<PreparedReading> {
    await readTexts();
    const { numbered } = rest;
    const all = numbered === null ? wanted : [...wanted, numbered.answer];
    return { ...rest, sought: reader.soughtOf(all) };
  }

  function placeTaker(reading: PlaceReading): (written: CellLists) => Promise<WrittenPlaces> {
    let taker: PlaceReader | null = null;
    let unknown = Number.POSITIVE_INFINITY;
    return async (written) => {
      // The first answer to a topic gives it a number.
      if (unknown > 0) {
        const prepared = await prepareReading(reading);
        const left = prepared.sought.filter(({ slug }) => slug < 0).length;
        if (left < unknown) taker = placeReader(prepared, texts.store);
        unknown = left;
      }
      return taker!.take(written);
    };
  }

  /** The memory of the last batch, for the next one. */
  let spare: NumberedPacker | null = null;

  /** What writes answers, which are packed now if the store has their texts. */
  function packAnswers(source: number, cells: Iterable<CellAnswers>): () => Promise<CellLists> {
    const packer = spare ?? texts.newPacker();
    spare = null;
    const changes = packChanges(tables, changesOf(source, cells), packer);
    return async () => {
      const merged = await change(() => mergeCells(tables, changes));
      spare = packer;
      return writtenCells(tables, changes, merged);
    };
  }

  return {
    async read(source, cells) {
      return (await ask(() => readTogether(cellRecords(tables, source, cells))))[0];
    },
    readPlaces: placesRead,
    async recordsOf(forms) {
      // Another process, or thread, may have numbered their texts since the cells were read.
      if (forms.length > 0) await readTexts();
      return forms.map(({ row: { answers, failures } }) => {
        const bytes = Buffer.from(answers.buffer, answers.byteOffset, answers.byteLength);
        return reader.unpack({ answers: bytes, failures });
      });
    },
    async texts() {
      await readTexts();
      return { texts: texts.all(), store: texts.store };
    },
    async readAreas(source, areas) {
      const [stored] = await ask(() => readTogether(groupAreas(database, source, areas)));
      return areas.map((area) => stored.get(area) ?? null);
    },
    async putAnswers(source, cells) {
      await packAnswers(source, cells)();
    },
    packAnswers,
    placeTaker,
    sampleMark: (source) => ask(() => readSampleMark(source)),
    bundleContents: (source) => ask(() => readBundleContents(database, source)),
    async countOlder(before) {
      const sums: OlderAnswers = new Map();
      for await (const cells of cellPages(tables))
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
      for await (const cells of cellPages(tables))
        ids.push(...damagedIn(tables, cells).map(({ id }) => id));
      if (isDeleted) await change(() => deleteDamaged(tables, ids));
      return ids.length;
    },
    forgetRejections: () => change(() => forgetRejections(tables)),
  };
}

/** What was asked of services, and what it cost. */
function ledgerOn(
  tables: ClaimTable,
  { moved, requireRoom }: Pick<OpenedDatabase, 'moved' | 'requireRoom'>,
): LedgerPort {
  const { database } = tables;
  const { ask, change } = transactionsOf(tables);

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

  return {
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
    callTimes: (source, leaseMs) => ask(() => latestCallTimes(source, leaseMs)),
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
  };
}

/** The runs, and the terms of their accounts. */
function runsOn(tables: ClaimTable, { moved }: Pick<OpenedDatabase, 'moved'>): RunsPort {
  const { database, owner } = tables;
  const { ask, change } = transactionsOf(tables);
  return {
    startRun: (run) => change(() => insertRun(database, run, owner)),
    ledgerAccounts: () => ask(readAccounts),
    replanRun: (run, limits) => change(() => replanRun(run, limits)),
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
  };
}
