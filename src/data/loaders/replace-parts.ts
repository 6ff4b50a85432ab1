import type { Clock } from '../../base/clock.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { DatasetLoad, type PartDescription } from '../tables/import-dataset.ts';
import { type DatasetPart, type SourceFile, storedParts, WHOLE_US } from '../tables/parts.ts';
import { keptBesides } from '../tables/record-rows.ts';
import type {
  DatasetInfo,
  DatasetName,
  LoadTarget,
  NaturalRatingRecord,
} from '../tables/records.ts';
import {
  refuseLosses,
  refuseLossOfStates,
  refuseLostHazards,
  refuseOlderData,
  storedRatings,
} from './load-losses.ts';
import type { LoadReporter } from './loader.ts';

export interface Reading {
  /** Its vintage is read after the last record. */
  readonly info: Pick<DatasetInfo, 'source' | 'vintage' | 'licence'>;
  readonly records: AsyncIterable<readonly object[]>;
  readonly files: readonly SourceFile[];
  /** One state, or `US`: all records are in this part. Several states: a record is in the parts of the states in which it lies, and is
   * dropped if it lies in none. Null: the records determine the states. */
  readonly of: string | readonly string[] | null;
}

export interface LoadTerms {
  /** Accepts the load even if records are lost. */
  readonly replace?: boolean;
  /** The source from which the parts were downloaded; left out for files that are loaded by hand. */
  readonly askedOf?: string;
  /** How far beyond its state a part reaches, in metres; default: 0. */
  readonly reach?: number;
  /** The fewest rows of a load of the whole US. */
  readonly least?: number | undefined;
  /** Sources of the same dataset whose parts the load replaces. */
  readonly rivals?: readonly string[];
}

export interface LoadEffects {
  readonly report: LoadReporter;
  readonly clock: Clock;
  readonly onRecords: (records: number) => void;
}

/** Datasets that may be complete with few states: burning fires, storms at sea, monitors. */
const ANY_STATES: readonly DatasetName[] = [
  'records:wildfire.current',
  'records:hurricane',
  'readings',
];

/** The least number of states in files of the whole US, if they have so many records: fewer may all be in a few states by chance. Files
 * with fewer states count as files of these states. */
function nationOf(dataset: DatasetName) {
  if (ANY_STATES.includes(dataset)) return { states: 0, records: 0 };
  if (dataset.startsWith('records:')) return { states: 4, records: 100 };
  // Nuclear plants are in 28 states. Boundaries and wells are published by state: they always cover the states in the file.
  if (dataset === 'sites:nuclearReactors') return { states: 15, records: 1 };
  return { states: dataset === 'areas' || dataset === 'sites:oilGasWell' ? 57 : 25, records: 1 };
}

/** Loads files in place of the same parts of a dataset. Other parts stay, unless the records of hand-loaded files determine the states.
 * @param onRead is called when all records are read; it may refuse the load
 * @returns the number of records (one in two parts counts once), of those outside the given states, and of those that stay in other parts;
 * the states, or `US`
 * @throws PerilbookError SERVICE_DATA when records would be lost without permission */
export async function replaceParts(
  database: DataDatabase,
  target: LoadTarget,
  readings: readonly Reading[],
  { replace = false, askedOf = '', reach = 0, rivals = [] }: LoadTerms,
  { report, clock, onRecords }: LoadEffects,
  onRead: (taken: number, outside: number, byState: ReadonlyMap<string, number>) => void,
) {
  const { name: dataset, level } = target;
  const stored = storedParts(database, dataset, level);
  using load = new DatasetLoad(database, target);
  const counts = await readAll(load, readings, dataset === 'nri', report, onRecords);
  onRead(counts.taken, counts.outside, counts.byState);

  const isDerived = readings.some(({ of }) => of === null);
  const derived = isDerived ? derivedStates(counts, nationOf(dataset)) : [];
  const described = { askedOf, reach, loadedAt: clock.now() };
  const parts = readings.flatMap(({ info: { source, vintage, licence }, files, of }) => {
    const states = of === null ? derived : typeof of === 'string' ? [of] : of;
    return states.map((state): PartDescription => {
      const stateRows = state === WHOLE_US ? Object.fromEntries(counts.byState) : {};
      return { ...described, state, source, files, vintage, licence, stateRows };
    });
  });
  const loaded = new Set(parts.map(({ state }) => state));
  const comparable = stored.parts.filter((part) => !rivals.includes(part.askedOf));
  if (!replace && comparable.length > 0) {
    if (isDerived && !loaded.has(WHOLE_US))
      refuseLossOfStates(dataset, loaded, comparable, askedOf);
    refuseOlderData(dataset, parts, comparable, askedOf === '');
    refuseLosses(dataset, { ...stored, parts: comparable }, counts.rowsOf(loaded), counts.byState);
    if (dataset === 'nri')
      refuseLostHazards(storedRatings(database, level), counts.byHazard, loaded);
  }
  const isAlone = isDerived || loaded.has(WHOLE_US);
  const others = isAlone ? [] : comparable.filter(({ state }) => !loaded.has(state));
  const kept = others.length === 0 ? 0 : load.keep(keptBesides(loaded), report.files + 1);
  const total = load.publish(
    [...parts, ...others.map((part) => withoutStates(part, loaded))],
    false,
    clock.now(),
    // Outside the US, a record belongs to all parts.
    (own) => (isDerived && (own === '' || derived[0] === WHOLE_US) ? derived.join() : own),
  );
  return { records: total - kept, outside: counts.outside, kept, states: [...loaded].sort() };
}

class RecordCounts {
  readonly byState = new Map<string, number>();
  /** For ratings: as `RatingCounts`. */
  readonly byHazard = new Map<string, number>();
  readonly #byPart = new Map<string, number>();
  taken = 0;
  outside = 0;

  add(states: readonly string[], parts: readonly string[]): void {
    this.taken += 1;
    for (const state of states) this.byState.set(state, (this.byState.get(state) ?? 0) + 1);
    for (const part of parts) this.#byPart.set(part, (this.#byPart.get(part) ?? 0) + 1);
  }

  addRating({ topic }: NaturalRatingRecord, states: readonly string[]): void {
    for (const state of states)
      this.byHazard.set(`${state} ${topic}`, (this.byHazard.get(`${state} ${topic}`) ?? 0) + 1);
  }

  /** The number of records of each part; the whole US has all of them. */
  rowsOf(parts: Iterable<string>): ReadonlyMap<string, number> {
    const rowsOf = (part: string) =>
      part === WHOLE_US ? this.taken : (this.#byPart.get(part) ?? 0);
    return new Map([...parts].map((part) => [part, rowsOf(part)]));
  }
}

async function readAll(
  load: DatasetLoad,
  readings: readonly Reading[],
  isRating: boolean,
  report: LoadReporter,
  onRecords: (records: number) => void,
): Promise<RecordCounts> {
  const counts = new RecordCounts();
  for (const { records: batches, of } of readings) {
    const assign = assignment(load, of);
    const add = (record: object) => {
      const states = load.statesOf(record);
      const parts = assign(states);
      if (parts === null) {
        counts.outside += 1;
        return;
      }
      load.add(record, { file: report.files, parts: parts.join() });
      counts.add(states, parts);
      if (isRating) counts.addRating(record as NaturalRatingRecord, states);
      if (counts.taken % 1_000 === 0) onRecords(counts.taken);
    };
    for await (const records of batches) for (const record of records) add(record);
  }
  return counts;
}

/** Makes the function that returns the parts of a record by its states, sorted; null for a record to leave out. */
function assignment(
  load: DatasetLoad,
  of: Reading['of'],
): (states: readonly string[]) => readonly string[] | null {
  if (of === null) return (states) => [...states].sort();
  if (typeof of === 'string') {
    const part = [of];
    if (of === WHOLE_US || load.hasLayer) return () => part;
    // A census code contains its state.
    return (states) => (states.includes(of) ? part : null);
  }
  const given = [...of].sort();
  return (states) => {
    // Outside the US, a record belongs to each part.
    if (states.length === 0) return given;
    const own = given.filter((state) => states.includes(state));
    return own.length > 0 ? own : null;
  };
}

/** The states that the files cover, by their records: the whole US, or a few. */
function derivedStates(
  { byState, taken }: RecordCounts,
  nation: ReturnType<typeof nationOf>,
): readonly string[] {
  const isPart = byState.size > 0 && byState.size < nation.states && taken >= nation.records;
  return isPart ? [...byState.keys()].sort() : [WHOLE_US];
}

/** The part of the whole US after the records of some states were replaced. */
function withoutStates(part: DatasetPart, replaced: ReadonlySet<string>): PartDescription {
  const stateRows = Object.entries(part.stateRows).filter(([state]) => !replaced.has(state));
  return { ...part, stateRows: Object.fromEntries(stateRows) };
}
