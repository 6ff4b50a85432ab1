import type { Clock } from '../../base/clock.ts';
import type { DataDatabase } from './data-database.ts';
import { type DatasetPart, type StoredUnit, WHOLE_US } from './parts.ts';
import { type PublishedUnits, unitsOf } from './published-units.ts';
import { type KeptRecords, type RecordOrigin, type RecordRows, recordRows } from './record-rows.ts';
import type { Dataset, Level, LoadTarget } from './records.ts';
import { StagedLoad } from './staged-load.ts';
import { stateOf, TERRITORIES } from './states.ts';
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
  const parts = states.map(
    (state): PartDescription => ({
      ...described,
      state,
      source,
      vintage,
      licence,
      extent: 'whole',
      territories: [...TERRITORIES],
    }),
  );
  return load.publish(parts, info.sample, clock.now());
}

/** The parts of a record among some states: the states in which it lies, or all if it lies in none of them. */
function ownParts(statesOf: StatesOf, record: unknown, states: readonly string[]): string {
  if (states.length === 1) return states[0]!;
  const own = statesOf(record).filter((state) => states.includes(state));
  return (own.length > 0 ? own : [...states]).sort().join();
}

/** A part without the numbers of its rows, which the load counts. */
export interface PartDescription extends Omit<DatasetPart, 'rows' | 'units'> {
  /** The vintages of the units that are not of the part's. */
  readonly unitVintages?: Readonly<Record<string, string>>;
}

/** One load of a dataset; unpublished records are dropped at its end. */
export class DatasetLoad implements Disposable {
  readonly statesOf: StatesOf;
  readonly #database: DataDatabase;
  readonly #rows: RecordRows;
  readonly #staged: StagedLoad;
  readonly #units: PublishedUnits | null;
  /** By level: the number of records of each unit in each state (of a layer: in each part). */
  readonly #counts: Map<string, Map<string, number>>[];

  constructor(database: DataDatabase, target: LoadTarget) {
    this.#database = database;
    this.#rows = recordRows(database, target);
    this.#units = unitsOf(target.name);
    this.statesOf = this.#rows.statesOf;
    this.#counts = this.#rows.levels.map(() => new Map());
    this.#staged = new StagedLoad(database, target.name, this.#rows.levels);
  }

  /** The unit of a record; '' if the dataset has none. */
  unitOf(record: unknown): string {
    return this.#units?.of(record) ?? '';
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
    this.#count(level, this.statesOf(record)[0] ?? '', this.unitOf(record), 1);
    return true;
  }

  /** Copies stored records into the load, after all new ones were added.
   * @param file a number that no new record's file has
   * @returns the number of records in each state that the load did not have; '' is the sea */
  keep(kept: KeptRecords, file: number): ReadonlyMap<string, number> {
    if (this.#rows.stored === undefined) return this.#keepGeoids(kept);
    const rows = new Map<string, number>();
    for (const { record, identity, parts } of this.#rows.stored()) {
      const states = memoOf(() => this.statesOf(record));
      const unit = () => this.unitOf(record);
      const own =
        parts === undefined
          ? [''].filter(() => kept.inUnit(states()[0] ?? '', unit()))
          : kept.partsOf(parts, states, unit);
      if (own.length === 0) continue;
      if (this.add(record, { file, parts: own.join(), ...(identity && { identity }) }))
        addTo(rows, states()[0] ?? '', 1);
    }
    return rows;
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
    for (const [level, rows, atEnd] of this.#rows.rowsAtEnd?.(partsOf) ?? []) {
      const { parts: own = '', unit = '' } = atEnd ?? {};
      this.#staged.add(level, rows);
      for (const state of own.split(',')) this.#count(level, state, unit, 1);
    }
    const { levels } = this.#rows;
    const isEmpty = this.#counts.every((counts) => counts.size === 0);
    const described = (level: Level): readonly DatasetPart[] => {
      const index = levels.findIndex((entry) => entry.level === level);
      const counts = this.#counts[index]!;
      // In a load of several levels, one without records is not loaded; a load without any record is loaded, with no rows.
      if (levels.length > 1 && counts.size === 0 && (!isEmpty || index > 0)) return [];
      const byPart = this.hasLayer ? counts : unitsByOwner(counts, parts);
      return parts.map(({ unitVintages = {}, ...part }) => {
        const units = byPart.get(part.state) ?? new Map<string, number>();
        return { ...part, rows: sumOf(units), units: storedUnits(units, unitVintages) };
      });
    };
    return this.#staged.publish(described, sample, now);
  }

  [Symbol.dispose](): void {
    this.#rows.buffer?.[Symbol.dispose]();
    this.#staged[Symbol.dispose]();
  }

  #count(level: number, state: string, unit: string, rows: number): void {
    const counts = this.#counts[level]!;
    const units = counts.get(state) ?? new Map<string, number>();
    counts.set(state, units);
    addTo(units, this.#units?.counted(unit) ?? '', rows);
  }

  #keepGeoids(kept: KeptRecords): ReadonlyMap<string, number> {
    const total = new Map<string, number>();
    const digits = this.#units?.geoid === 'whole' ? MOST_DIGITS : 5;
    for (const [index, { tables }] of this.#rows.levels.entries()) {
      const stored = this.#database
        .prepare<[number], [unit: string, rows: number]>(
          `SELECT substr(geoid, 1, ?), count(*) FROM ${tables[0]!.name} GROUP BY 1 ORDER BY 1`,
        )
        .raw()
        .all(digits);
      const byState = Map.groupBy(stored, ([unit]) => unit.slice(0, 2));
      for (const [code, units] of byState) {
        const state = stateOf(code);
        const own = units.filter(([unit]) => kept.inUnit(state, unit));
        if (own.length === units.length)
          this.#staged.keepGeoids(index, code, `${code}${AFTER_ALL}`);
        else
          for (const [unit] of own)
            this.#staged.keepGeoids(index, unit, digits > 5 ? unit : `${unit}${AFTER_ALL}`);
        for (const [unit, rows] of own) {
          this.#count(index, state, unit, rows);
          addTo(total, state, rows);
        }
      }
    }
    return total;
  }
}

/** Of a geoid. */
const MOST_DIGITS = 1_000;

/** Sorts after whatever continues a geoid. */
const AFTER_ALL = '\u{10FFFF}';

type UnitCounts = ReadonlyMap<string, number>;

/** A record belongs to the part of its state, or to the whole US if its state has no part. */
function unitsByOwner(
  counts: ReadonlyMap<string, UnitCounts>,
  parts: readonly PartDescription[],
): ReadonlyMap<string, UnitCounts> {
  const states = new Set(parts.map(({ state }) => state));
  const byOwner = new Map<string, Map<string, number>>();
  for (const [state, units] of counts) {
    const owner = states.has(state) ? state : WHOLE_US;
    const own = byOwner.get(owner) ?? new Map<string, number>();
    byOwner.set(owner, own);
    for (const [unit, rows] of units) addTo(own, unit, rows);
  }
  return byOwner;
}

/** Records without a unit have none to be compared with. */
function storedUnits(
  units: UnitCounts,
  vintages: Readonly<Record<string, string>>,
): Readonly<Record<string, StoredUnit>> {
  const named = [...units].filter(([unit]) => unit !== '').sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    named.map(([unit, rows]) => {
      const vintage = vintages[unit];
      return [unit, vintage === undefined ? { rows } : { rows, vintage }];
    }),
  );
}

function addTo(counts: Map<string, number>, name: string, rows: number): void {
  counts.set(name, (counts.get(name) ?? 0) + rows);
}

const sumOf = (counts: UnitCounts): number =>
  [...counts.values()].reduce((sum, rows) => sum + rows, 0);

/** Computes a value when it is first asked for. */
function memoOf<T>(compute: () => T): () => T {
  let held: { readonly value: T } | null = null;
  return () => {
    held ??= { value: compute() };
    return held.value;
  };
}
