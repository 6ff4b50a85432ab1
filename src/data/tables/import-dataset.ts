import type { Clock } from '../../base/clock.ts';
import type { DataDatabase } from './data-database.ts';
import { type DatasetPart, WHOLE_US } from './parts.ts';
import { type KeptRecords, type RecordOrigin, recordRows, statesOfGeoids } from './record-rows.ts';
import type { Dataset, Level, LoadTarget } from './records.ts';
import { StagedLoad } from './staged-load.ts';
import { stateOf } from './states.ts';
import type { StatesOf } from './states-near.ts';

/** Replaces a dataset, or the level of it that `dataset` names. A load that fails leaves the stored dataset as it was. Services
 * that run on the file answer from the old data until the end.
 * @returns the number of records */
export function importDataset(database: DataDatabase, dataset: Dataset, clock: Clock): number {
  const { info } = dataset;
  using load = new DatasetLoad(database, {
    name: info.name,
    level: ('level' in dataset && dataset.level) || '',
  });
  const { states = [WHOLE_US], source, vintage, licence } = info;
  for (const record of dataset.records)
    load.add(record, { file: 1, parts: ownParts(load.statesOf, record, states) });
  const described = { askedOf: '', reach: 0, files: [], stateRows: {}, loadedAt: clock.now() };
  const parts = states.map((state) => ({ ...described, state, source, vintage, licence }));
  return load.publish(parts, info.sample, clock.now());
}

/** The parts of a record among some states: the states in which it lies, or all if it lies in none of them. */
function ownParts(statesOf: StatesOf, record: unknown, states: readonly string[]): string {
  if (states.length === 1) return states[0]!;
  const own = statesOf(record).filter((state) => states.includes(state));
  return (own.length > 0 ? own : [...states]).sort().join();
}

/** A part without the number of its rows, which the load counts. */
export type PartDescription = Omit<DatasetPart, 'rows'>;

/** One load of a dataset; unpublished records are dropped at its end. */
export class DatasetLoad implements Disposable {
  readonly statesOf: StatesOf;
  readonly #database: DataDatabase;
  readonly #rows: ReturnType<typeof recordRows>;
  readonly #staged: StagedLoad;
  /** By level: the number of records in each state (of a layer: in each part). */
  readonly #counts: Map<string, number>[];

  constructor(database: DataDatabase, target: LoadTarget) {
    this.#database = database;
    this.#rows = recordRows(database, target);
    this.statesOf = this.#rows.statesOf;
    this.#counts = this.#rows.levels.map(() => new Map());
    this.#staged = new StagedLoad(database, target.name, this.#rows.levels);
  }

  get hasLayer(): boolean {
    return this.#rows.rowsAtEnd !== undefined;
  }

  /** Returns whether it is a new record. */
  add(record: unknown, origin: RecordOrigin): boolean {
    const rows = this.#rows.rowsOf(record, origin);
    if (typeof rows === 'string') return rows !== 'known';
    const [level, own] = rows;
    this.#staged.add(level, own);
    this.#count(level, this.statesOf(record)[0] ?? '', 1);
    return true;
  }

  /** Copies stored records into the load, after all new ones were added.
   * @param file a number that no new record's file has
   * @returns the number of records that the load did not have */
  keep(kept: KeptRecords, file: number): number {
    if (this.#rows.stored === undefined) return this.#keepGeoids(kept);
    let total = 0;
    for (const { record, identity, parts } of this.#rows.stored()) {
      const states = () => this.statesOf(record);
      const own =
        parts === undefined
          ? [''].filter(() => kept.inState(states()[0] ?? ''))
          : kept.partsOf(parts, states);
      if (own.length === 0) continue;
      total += this.add(record, { file, parts: own.join(), ...(identity && { identity }) }) ? 1 : 0;
    }
    return total;
  }

  /** Replaces the stored dataset with the load.
   * @param partsOf the final parts of a record; default: its original parts
   * @returns the number of records of the dataset */
  publish(
    parts: readonly PartDescription[],
    sample: boolean,
    now: number,
    partsOf: (parts: string) => string = (own) => own,
  ): number {
    for (const [level, rows, own = ''] of this.#rows.rowsAtEnd?.(partsOf) ?? []) {
      this.#staged.add(level, rows);
      for (const state of own.split(',')) this.#count(level, state, 1);
    }
    const { levels } = this.#rows;
    const isEmpty = this.#counts.every((counts) => counts.size === 0);
    const described = (level: Level): readonly DatasetPart[] => {
      const index = levels.findIndex((entry) => entry.level === level);
      const counts = this.#counts[index]!;
      // In a load of several levels, one without records is not loaded; a load without any record is loaded, with no rows.
      if (levels.length > 1 && counts.size === 0 && (!isEmpty || index > 0)) return [];
      const rowsIn = this.hasLayer
        ? (state: string) => counts.get(state) ?? 0
        : rowsByOwner(counts, parts);
      return parts.map((part) => ({ ...part, rows: rowsIn(part.state) }));
    };
    return this.#staged.publish(described, sample, now);
  }

  [Symbol.dispose](): void {
    this.#rows.buffer?.[Symbol.dispose]();
    this.#staged[Symbol.dispose]();
  }

  #count(level: number, state: string, rows: number): void {
    const counts = this.#counts[level]!;
    counts.set(state, (counts.get(state) ?? 0) + rows);
  }

  #keepGeoids(kept: KeptRecords): number {
    let total = 0;
    for (const [index, { tables }] of this.#rows.levels.entries()) {
      for (const code of statesOfGeoids(this.#database, tables[0]!.name)) {
        if (!kept.inState(stateOf(code))) continue;
        const rows = this.#staged.keepGeoids(index, code);
        this.#count(index, stateOf(code), rows);
        total += rows;
      }
    }
    return total;
  }
}

/** A record belongs to the part of its state, or to the whole US if its state has no part. */
function rowsByOwner(counts: ReadonlyMap<string, number>, parts: readonly PartDescription[]) {
  const states = new Set(parts.map(({ state }) => state));
  const byOwner = new Map<string, number>();
  for (const [state, rows] of counts) {
    const owner = states.has(state) ? state : WHOLE_US;
    byOwner.set(owner, (byOwner.get(owner) ?? 0) + rows);
  }
  return (state: string): number => byOwner.get(state) ?? 0;
}
