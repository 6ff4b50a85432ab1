import type { Clock } from '../../base/clock.ts';
import { PerilbookError } from '../../base/errors.ts';
import { counted } from '../../base/format-numbers.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { DatasetLoad, type PartDescription } from '../tables/import-dataset.ts';
import { outdatedDatasets } from '../tables/layer-descriptions.ts';
import { type DatasetPart, type SourceFile, storedParts, WHOLE_US } from '../tables/parts.ts';
import { unitsOf } from '../tables/published-units.ts';
import { keptBesides } from '../tables/record-rows.ts';
import type {
  DatasetInfo,
  DatasetName,
  LoadTarget,
  NaturalRatingRecord,
} from '../tables/records.ts';
import { TERRITORIES } from '../tables/states.ts';
import {
  refuseLosses,
  refuseLossOfStates,
  refuseLostHazards,
  refuseOlderData,
  storedRatings,
} from './load-losses.ts';
import type { LoadReporter } from './loader.ts';
import { mergedParts } from './merge-units.ts';
import { RecordCounts } from './record-counts.ts';
import { refuseLostUnits } from './unit-losses.ts';

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
  /** The territories that the publisher covers, also those of which it has no record. */
  readonly territories?: readonly string[];
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

interface LeastOfNation {
  readonly states: number;
  readonly records: number;
}

/** The least number of states in files of the whole US, if they have so many records: fewer may all be in a few states by chance. Files
 * with fewer states count as files of these states. */
function nationOf(dataset: DatasetName): LeastOfNation {
  if (ANY_STATES.includes(dataset)) return { states: 0, records: 0 };
  if (dataset.startsWith('records:')) return { states: 4, records: 100 };
  // Nuclear plants are in 28 states. Boundaries and wells are published by state: they always cover the states in the file.
  if (dataset === 'sites:nuclearReactors') return { states: 15, records: 1 };
  return { states: dataset === 'areas' || dataset === 'sites:oilGasWell' ? 57 : 25, records: 1 };
}

/** What a load changed. */
export interface ReplacedParts {
  /** The records that it brought; one in two parts counts once. */
  readonly records: number;
  /** The records outside the given states, which were left out. */
  readonly outside: number;
  /** The stored records that stay in other states, and in other units of the load's states (published-units.ts). */
  readonly kept: { readonly inStates: number; readonly inUnits: number };
  /** The states of the load, or `US`. */
  readonly states: readonly string[];
  /** Of a dataset whose outlines alone tell what is loaded: its units in the load. */
  readonly units: readonly string[] | null;
}

/** Loads files in place of the same parts of a dataset; other parts stay. Hand-loaded files whose records determine the states replace
 * only the units that they have (merge-units.ts). A download is compared with what its source gave before.
 * @param onRead is called when all records are read; it may refuse the load
 * @throws PerilbookError SERVICE_DATA when records would be lost, or would become older, without permission */
export async function replaceParts(
  database: DataDatabase,
  target: LoadTarget,
  readings: readonly Reading[],
  { replace = false, askedOf = '', reach = 0, rivals = [], territories = [] }: LoadTerms,
  { report, clock, onRecords }: LoadEffects,
  onRead: (taken: number, outside: number, byState: ReadonlyMap<string, number>) => void,
): Promise<ReplacedParts> {
  const { name: dataset, level } = target;
  const units = unitsOf(dataset);
  const stored = storedParts(database, dataset, level);
  using load = new DatasetLoad(database, target);
  const counts = new RecordCounts(units);
  await readAll(load, readings, counts, dataset === 'nri', report, onRecords);
  onRead(counts.taken, counts.outside, counts.byState);

  const isByHand = askedOf === '';
  const isDerived = readings.some(({ of }) => of === null);
  const derived = isDerived ? derivedStates(counts, nationOf(dataset)) : [];
  const isOfUs = derived[0] === WHOLE_US;
  const described = { askedOf, reach, loadedAt: clock.now() };
  const hasGaps = isDerived && isByHand && units?.hasOutlines === true;
  const parts = readings.flatMap(({ info: { source, vintage, licence }, files, of }) => {
    const states = of === null ? derived : typeof of === 'string' ? [of] : of;
    return states.map((state): PartDescription => {
      const part = { ...described, state, source, files, vintage, licence };
      const extent = hasGaps ? 'units' : 'whole';
      if (state !== WHOLE_US) return { ...part, extent, stateRows: {}, territories: [] };
      const here = [...TERRITORIES].filter(
        (one) => territories.includes(one) || counts.byState.has(one),
      );
      const stateRows = Object.fromEntries(counts.byState);
      return { ...part, extent, stateRows, territories: here };
    });
  });
  const comparable = stored.parts.filter((part) => !rivals.includes(part.askedOf));
  const loaded = new Set(parts.map(({ state }) => state));
  const done = {
    outside: counts.outside,
    states: [...loaded].sort(),
    units: hasGaps ? [...counts.units].sort() : null,
  };

  const isMerged =
    isDerived && isByHand && !replace && units !== null && (units.isIssuedAlone || !isOfUs);
  if (isMerged && comparable.length > 0) {
    // Of the counties that it replaces: a county with fewer hazards would else lose them unnoticed.
    if (dataset === 'nri')
      refuseLostHazards(storedRatings(database, level, counts.units), counts.byHazard, loaded);
    const kept = load.keep(keptBesides(loaded, counts.units), report.files + 1);
    refuseOtherDescription(database, dataset, sumOf(kept));
    if (units.isFile === true)
      for (const name of replacedFiles(parts, comparable))
        report.note(`Replaced: what a file of the name ${name} had when it was loaded before.`);
    const merged = mergedParts(dataset, units, parts, comparable, counts, kept);
    const total = load.publish(merged.parts, false, clock.now(), merged.partsOf);
    const inUnits = sumOf([...kept].filter(([state]) => isOfUs || loaded.has(state)));
    const inStates = sumOf(kept) - inUnits;
    return { ...done, records: total - inStates - inUnits, kept: { inStates, inUnits } };
  }

  if (!replace && comparable.length > 0) {
    if (isDerived && !isOfUs) refuseLossOfStates(dataset, loaded, comparable);
    refuseOlderData(dataset, parts, comparable, isByHand);
    refuseLosses(dataset, { ...stored, parts: comparable }, counts.rowsOf(loaded), counts.byState);
    if (dataset === 'nri')
      refuseLostHazards(storedRatings(database, level, null), counts.byHazard, loaded);
    if (units !== null) {
      for (const change of refuseLostUnits(dataset, units, comparable, loaded, counts))
        report.note(change);
    }
  }
  const isAlone = isDerived || loaded.has(WHOLE_US);
  const others = isAlone ? [] : comparable.filter(({ state }) => !loaded.has(state));
  const kept =
    others.length === 0 ? 0 : sumOf(load.keep(keptBesides(loaded, null), report.files + 1));
  refuseOtherDescription(database, dataset, kept);
  const total = load.publish(
    [...parts, ...others.map((part) => withoutStates(part, loaded))],
    false,
    clock.now(),
    // Outside the US, a record belongs to all parts.
    (own) => (isDerived && (own === '' || isOfUs) ? derived.join() : own),
  );
  return { ...done, records: total - kept, kept: { inStates: kept, inUnits: 0 } };
}

/** The names of files that were loaded before with another content. */
function replacedFiles(
  parts: readonly PartDescription[],
  stored: readonly DatasetPart[],
): ReadonlySet<string> {
  const before = stored.flatMap(({ files }) => files);
  const isReplaced = ({ name, sha256 }: SourceFile) =>
    before.some((file) => file.name === name && file.sha256 !== sha256);
  return new Set(parts.flatMap(({ files }) => files.filter(isReplaced).map(({ name }) => name)));
}

/** Records of two descriptions are never mixed. @throws SERVICE_DATA where some would stay that another one loaded */
function refuseOtherDescription(database: DataDatabase, dataset: DatasetName, kept: number): void {
  if (kept === 0 || !outdatedDatasets(database).has(dataset)) return;
  const message = `The description of ${dataset} was changed after other files were loaded: ${counted(kept, 'record')} would stay as the earlier one said`;
  const hint = `Load all its files together: perilbook data load ${dataset} FILE FILE. To drop the records of the others: --replace.`;
  throw new PerilbookError('SERVICE_DATA', message, hint, { dataset });
}

const sumOf = (rows: Iterable<readonly [string, number]>): number =>
  [...rows].reduce((sum, [, count]) => sum + count, 0);

async function readAll(
  load: DatasetLoad,
  readings: readonly Reading[],
  counts: RecordCounts,
  isRating: boolean,
  report: LoadReporter,
  onRecords: (records: number) => void,
): Promise<void> {
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
      counts.add(states, parts, load.unitOf(record));
      if (isRating) counts.addRating(record as NaturalRatingRecord, states);
      if (counts.taken % 1_000 === 0) onRecords(counts.taken);
    };
    for await (const records of batches) for (const record of records) add(record);
  }
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
function derivedStates({ byState, taken }: RecordCounts, nation: LeastOfNation): readonly string[] {
  const isPart = byState.size > 0 && byState.size < nation.states && taken >= nation.records;
  return isPart ? [...byState.keys()].sort() : [WHOLE_US];
}

/** The part of the whole US after the records of some states were replaced. */
function withoutStates(
  { units: _, ...part }: DatasetPart,
  replaced: ReadonlySet<string>,
): PartDescription {
  const stateRows = Object.entries(part.stateRows).filter(([state]) => !replaced.has(state));
  return { ...part, stateRows: Object.fromEntries(stateRows) };
}
