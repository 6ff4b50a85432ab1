import { statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import type { Clock } from '../../clock.ts';
import type { WidthOf } from '../cell-answers.ts';
import type { ChargeState, Owner, Store } from '../port.ts';
import { answersSince, countOlder, sourceStats } from '../stored-ages.ts';
import { accountTermsStatements } from './account-terms.ts';
import { cellStatements } from './answers.ts';
import { areaStatements } from './area-answers.ts';
import { detailsStatements } from './details.ts';
import { watchFile } from './file-watch.ts';
import { ledgerStatements } from './ledger.ts';
import { correctionStatement, latestCallTimes, readStatement } from './ledger-statement.ts';
import { partStore } from './part-statements.ts';
import { runStatements } from './runs.ts';
import { observationStatements } from './service-observations.ts';
import { spendingSums } from './spending-sums.ts';
import { openDatabase } from './sqlite-database.ts';
import { asStoreError, withStoreErrors } from './store-errors.ts';
import { textDictionary } from './text-dictionary.ts';

const CELLS_PER_PAGE = 1_000;

/**
 * The store on one machine: a SQLite file that several processes may have open at the same time. On opening, calls of
 * processes that have died are settled as `unknown`.
 *
 * @throws STORE_TOO_NEW, STORE_UNUSABLE
 */
export function openSqliteStore(file: string, clock: Clock, owner: Owner, widthOf: WidthOf = () => null): Store {
  const database = openDatabase(file);
  try {
    return withStoreErrors(file, storeOn(database, file, clock, owner, widthOf));
  } catch (error) {
    database.close();
    throw asStoreError(file, error);
  }
}

function storeOn(database: Database.Database, file: string, clock: Clock, owner: Owner, widthOf: WidthOf): Store {
  const inPlace = watchFile(file);
  const texts = textDictionary(database, file);
  const sums = spendingSums(database);
  const cells = cellStatements(database, texts, widthOf);
  const areas = areaStatements(database, clock);
  const details = detailsStatements(database);
  const observations = observationStatements(database, clock);
  const runs = runStatements(database, clock, owner);
  const accountTerms = accountTermsStatements(database);
  const correct = correctionStatement(database, clock);

  const ensureSource = database.prepare('INSERT OR IGNORE INTO sources (name) VALUES (?)');
  const sourceNumber = database.prepare<[string], number>('SELECT id FROM sources WHERE name = ?').pluck();
  const page = database.prepare<
    [number],
    { id: number; source: string; lat7: number; lng7: number; answers: Buffer; failures: string | null }
  >(
    `SELECT cells.id, sources.name AS source, lat7, lng7, answers, failures
     FROM cells JOIN sources ON sources.id = cells.source WHERE cells.id > ? ORDER BY cells.id LIMIT ${CELLS_PER_PAGE}`,
  );
  const bySource = database.prepare<[], { source: string; answers: Buffer }>(
    'SELECT sources.name AS source, answers FROM cells JOIN sources ON sources.id = cells.source ORDER BY sources.name',
  );
  const byCharge = database.prepare<[], { charge: ChargeState; calls: number; credits: number }>(
    'SELECT charge, count(*) AS calls, sum(credits) AS credits FROM calls GROUP BY charge',
  );
  const setAnswers = database.prepare('UPDATE cells SET answers = ? WHERE id = ?');

  const immediately = <T>(work: () => T): T => {
    try {
      return database.transaction(work).immediate();
    } catch (error) {
      texts.forget();
      throw error;
    }
  };
  const ledger = immediately(() =>
    ledgerStatements(database, { sums, cells, areas, details, observations, runs }, clock, owner),
  );
  immediately(() => ledger.giveUpDead());

  const close = async () => {
    // SQLite leaves the WAL of a moved file at the old name: its transactions would be lost.
    if (database.open && inPlace.moved() !== null) database.pragma('wal_checkpoint(TRUNCATE)');
    database.close();
  };

  return {
    async source(name) {
      return immediately(() => {
        ensureSource.run(name);
        return sourceNumber.get(name)!;
      });
    },
    async read(source, wanted) {
      return database.transaction(() => cells.readAll(source, wanted))();
    },
    async readWanted(source, wanted, answers) {
      return database.transaction(() => cells.readWanted(source, wanted, answers))();
    },
    async readAreas(source, wanted) {
      return database.transaction(() => wanted.map((area) => areas.read(source, area)))();
    },
    async claim(terms, requests) {
      const moved = inPlace.moved();
      if (moved !== null) throw moved;
      return immediately(() => requests.map((request) => ledger.claim(terms, request)));
    },
    async settle(settlements) {
      immediately(() => {
        for (const settlement of settlements) ledger.settle(settlement);
      });
    },
    async putAnswers(source, found) {
      immediately(() => {
        for (const { cell, answers, failures } of found) cells.merge(source, cell, answers, failures);
      });
    },
    async moved() {
      return inPlace.moved();
    },
    async sampleMark(source) {
      return observations.sampleMark(source);
    },
    async callTimes(source, leaseMs) {
      return latestCallTimes(database, source, leaseMs);
    },
    async bundleContents(source) {
      return observations.bundleContents(source);
    },
    async refusedScopes(source, key) {
      return observations.refusedScopes(source, key);
    },
    async spending(account, period) {
      return sums.ofPeriod(account, period.start);
    },
    async statement(query) {
      return readStatement(database, query);
    },
    async correct(account, period, spentInAll) {
      return immediately(() => correct(account, period, spentInAll));
    },
    async startRun(run) {
      return immediately(() => {
        const number = runs.start(run);
        accountTerms.remember(number, run.accounts ?? []);
        return number;
      });
    },
    async knownAccounts() {
      return accountTerms.known();
    },
    async finishRun(run, end) {
      immediately(() => runs.finish(run, end));
    },
    async runs(filter = {}) {
      return runs.list(filter);
    },
    async planSpending(plan) {
      return runs.underPlan(plan);
    },
    async runSpending(run) {
      return sums.ofRun(run);
    },
    async stats() {
      const charges = new Map(byCharge.all().map((row) => [row.charge, row]));
      const calls = (charge: ChargeState) => charges.get(charge)?.calls ?? 0;
      const credits = (charge: ChargeState) => charges.get(charge)?.credits ?? 0;
      return {
        sources: sourceStats(bySource.iterate()),
        calls: { sent: calls('sent'), charged: calls('charged'), free: calls('free'), unknown: calls('unknown') },
        credits: { charged: credits('charged'), unknown: credits('unknown'), open: credits('sent') },
        details: details.size(),
        // What is not yet in the file itself lies in the WAL, which may be larger.
        bytes: statSync(file).size + (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0),
      };
    },
    async countOlder(before) {
      return countOlder(bySource.iterate(), before, texts.textOf);
    },
    async prune(before) {
      let forgotten = 0;
      immediately(() => details.forget(before));
      for (let last = 0; ; ) {
        const next = immediately(() => {
          const rows = page.all(last);
          for (const { id, answers } of rows) {
            const { kept, dropped } = answersSince(answers, before);
            forgotten += dropped;
            if (dropped > 0) setAnswers.run(kept, id);
          }
          return rows.at(-1)?.id;
        });
        if (next === undefined) return forgotten;
        last = next;
      }
    },
    async forgetRejections() {
      return immediately(() => cells.forgetRejections());
    },
    async *cells() {
      for (let last = 0; ; ) {
        const rows = page.all(last);
        if (rows.length === 0) return;
        last = rows.at(-1)!.id;
        for (const { source, lat7, lng7, answers, failures } of rows) {
          yield { source, cell: { lat7, lng7 }, record: cells.unpack({ answers, failures }) };
        }
      }
    },
    ...partStore(database, clock, owner, immediately),
    details: details.all,
    close,
    [Symbol.asyncDispose]: close,
  };
}
