import { systemClock } from '../../src/base/clock.ts';
import type { Answer, CellRecord, TopicFailure } from '../../src/contract/answer.ts';
import type { TopicSlug } from '../../src/contract/topics.ts';
import type { Cell } from '../../src/geo/coordinates.ts';
import { readTogether } from '../../src/sql/sql-work.ts';
import { sqliteDriver } from '../../src/sql/sqlite-driver.ts';
import type { WidthOf } from '../../src/store/answers/cell-answers.ts';
import { mergeCells } from '../../src/store/answers/merged-cells.ts';
import { packChanges } from '../../src/store/answers/packed-changes.ts';
import type { WantedAnswer } from '../../src/store/answers/port.ts';
import { cellRecords } from '../../src/store/answers/stored-cells.ts';
import { makeTables, storeOn } from '../../src/store/database-store.ts';
import { openDatabase } from '../../src/store/sqlite-store.ts';
import { readStored } from './stored-places.ts';

/** Opens the cells of a store's file past the port, with a source 1: at once, and without a call in the ledger. */
export function openCells(file: string, widthOf: WidthOf = () => null) {
  const handle = openDatabase(file);
  const database = sqliteDriver(handle, systemClock);
  const owner = { name: 'test', isAlive: () => true };
  const tables = makeTables({
    name: file,
    database,
    time: () => database.dialect.now,
    owner,
    widthOf,
  });
  handle.prepare("INSERT OR IGNORE INTO sources (id, name) VALUES (1, 'somewhere')").run();
  const store = storeOn(tables, {
    moved: () => null,
    requireRoom: () => {},
    bytes: async () => 0,
    compact: async () => ({ kind: 'server' }),
    close: async () => {},
  });
  const readAll = (source: number, cells: readonly Cell[]): (CellRecord | null)[] =>
    database.readNow(() => readTogether(cellRecords(tables, source, cells)))[0];
  return {
    handle,
    tables,
    readAll,
    read: (source: number, cell: Cell) => readAll(source, [cell])[0]!,
    readWanted: (source: number, cells: readonly Cell[], wanted: readonly WantedAnswer[]) =>
      readStored(store, source, cells, wanted),
    merge: (
      source: number,
      { lat7, lng7 }: Cell,
      answers: readonly Answer[],
      failures: readonly (TopicFailure & { readonly topic: TopicSlug })[],
    ) =>
      database.transactNow(() =>
        mergeCells(
          tables,
          packChanges(tables, [{ source, cell: { lat7, lng7 }, answers, failures }]),
        ),
      ),
  };
}
