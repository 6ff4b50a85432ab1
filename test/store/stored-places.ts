import type { CellRecord, Field } from '../../src/contract/answer.ts';
import { placeUnpacker } from '../../src/formats/packed/output-places.ts';
import { makePlaceTable, takeBlocks } from '../../src/formats/packed/place-table.ts';
import type { Cell } from '../../src/geo/coordinates.ts';
import { CellTable } from '../../src/run/scan/cell-table.ts';
import type {
  CellAnswers,
  PlacesRead,
  StoredForm,
  WantedAnswer,
} from '../../src/store/answers/port.ts';
import type { Store } from '../../src/store/port.ts';
import type { ThreadPool } from '../../src/threads/thread-pool.ts';

/** What a store has of a cell. */
export interface StoredPlace {
  readonly isComplete: boolean;
  /** NaN without an answer. */
  readonly asOf: number;
  /** The wanted fields; null where there is no answer. */
  readonly fields: readonly Field[];
  /** The record of its form; null for a complete place of which there is nothing to say. */
  readonly record: CellRecord | null;
}

export interface ReadOptions {
  readonly pool?: ThreadPool;
  readonly memoryBytes?: number;
  readonly file?: number;
  readonly dropsReplaced?: boolean;
  /** Taken as they are written, in place of a reading. */
  readonly written?: readonly CellAnswers[];
  readonly onRead?: (read: PlacesRead) => void | Promise<void>;
}

/** Reads places as a plan does; null for one that is not stored. */
export async function readStored(
  store: Pick<Store, 'readPlaces' | 'packAnswers' | 'placeTaker' | 'recordsOf' | 'texts'>,
  source: number,
  asked: readonly Cell[],
  wanted: readonly WantedAnswer[],
  { pool, memoryBytes = 0, file, dropsReplaced = false, written, onRead }: ReadOptions = {},
): Promise<(StoredPlace | null)[]> {
  const cells = new CellTable();
  const numbers = asked.map((cell) => cells.add(cell));
  const table = makePlaceTable(cells.size, memoryBytes, file ?? null);
  const times = new Float64Array(new SharedArrayBuffer(8 * cells.size)).fill(Number.NaN);
  const forms = new Map<number, StoredForm>();
  const byReader = new Map<string, StoredForm[]>();
  const reading = {
    source,
    wanted,
    rated: [],
    cells: cells.shared,
    count: cells.size,
    again: null,
    table,
    times,
    moments: [],
    dropsReplaced,
    numbered: null,
  };
  const taken = async () => [
    await store.placeTaker(reading)(await store.packAnswers(source, written!)()),
  ];
  for await (const read of written ? await taken() : store.readPlaces(reading, pool ?? null)) {
    const known = byReader.get(read.reader) ?? [];
    byReader.set(read.reader, known);
    known.push(...read.forms);
    for (let at = 0; at < read.pairs.length; at += 2)
      forms.set(read.pairs[at]!, known[read.pairs[at + 1]!]!);
    takeBlocks(table, read.left);
    await onRead?.(read);
  }
  const unpack = placeUnpacker({
    tables: [{ table, width: wanted.reduce((sum, { fields }) => sum + fields, 0) }],
    kinds: [[]],
    kindOf: new Uint32Array(new SharedArrayBuffer(4 * cells.size)),
    times: null,
    losses: null,
    empty: 0,
    ...(await store.texts()),
  });
  const records = new Map<StoredForm, CellRecord>();
  const all = [...forms.values()];
  for (const [index, record] of (await store.recordsOf(all)).entries())
    records.set(all[index]!, record);
  return numbers.map((number) => {
    if (table.entries[number] === 0) return null;
    const form = forms.get(number);
    return {
      isComplete: form?.isComplete ?? true,
      asOf: times[number]!,
      fields: unpack(number),
      record: form === undefined ? null : records.get(form)!,
    };
  });
}
