import { createHash } from 'node:crypto';
import { PerilbookError } from '../../errors.ts';
import { counted, grouped } from '../../format-numbers.ts';
import type { ServiceDatabase } from '../tables/data-database.ts';
import { describeData, type LoadedDataset } from '../tables/describe-data.ts';
import { datasetOf } from '../tables/import-dataset.ts';
import { statesOfRecords } from '../tables/record-states.ts';
import type { DatasetInfo, DatasetName, LoadTarget } from '../tables/records.ts';
import { storedRecords } from '../tables/stored-records.ts';
import type { LoadReporter } from './load-report.ts';
import type { LoaderOptions } from './loader.ts';

/** Of how many states a file of the whole US has records at least; one of fewer is taken for those states only. */
interface Nation {
  readonly states: number;
  /** Of fewer records all may lie in a few states by chance. */
  readonly records: number;
}

/** Data sets that may be of few states and yet whole: what burns now, storms at sea, monitors. */
const ANYWHERE: readonly DatasetName[] = ['records:wildfire.current', 'records:hurricane', 'readings'];

/** A data set that becomes smaller by more than a third is replaced with --replace only; but what burns now goes out. */
const MAY_SHRINK: readonly DatasetName[] = ['records:wildfire.current'];

/** Which states a load is of, and what of the data set it leaves in place. */
export interface LoadCoverage {
  /** Whether a record belongs to the load: with --states, whether it lies there. */
  take(record: unknown): boolean;
  /** How many were not taken. */
  outside(): number;
  /**
   * The records of other states that stay, when all of the load have been taken.
   *
   * @throws PerilbookError SERVICE_DATA when the load would lose rows and nobody said that it may
   */
  kept(): Generator<unknown>;
  /** The description with its states, and with what was said of the records that stay. To be called at the end. */
  describe(own: DatasetInfo): DatasetInfo;
}

/** Decides on the records of one load. */
export function loadCoverage(
  database: ServiceDatabase,
  target: LoadTarget,
  options: LoaderOptions,
  report: LoadReporter,
): LoadCoverage {
  const dataset = datasetOf(target);
  const statesOf = statesOfRecords(target);
  const before = options.sample === true || options.replace === true ? null : realDataset(database, target);
  const given = options.states === undefined || options.states === 'US' ? null : new Set(options.states);
  const nation = options.sample === true || options.states === 'US' ? null : nationOf(dataset);
  const copies = given !== null && before !== null ? createCopies() : null;
  const seen = new Set<string>();
  let [taken, outside, kept] = [0, 0, 0];
  let states: ReadonlySet<string> | null = null;

  /** Null when the records are not known to be of some states only. */
  function statesOfLoad(): ReadonlySet<string> | null {
    if (given !== null || nation === null) return given;
    return seen.size > 0 && seen.size < nation.states && taken >= nation.records ? seen : null;
  }

  function* othersThan(own: ReadonlySet<string>, { states: known }: Before): Generator<unknown> {
    const others = known === null ? null : without(known, own);
    if (others?.length === 0) return;
    // Rows that lie beyond their state's border are its own all the same, as long as no state comes twice.
    const mayBeOwn = known === null || others!.length < known.size;
    for (const record of storedRecords(database, target)) {
      if (mayBeOwn) {
        const places = statesOf(record);
        if (places.length > 0 && places.every((state) => own.has(state))) continue;
      }
      // A line across a border is in the files of both states.
      if (copies?.has(record)) continue;
      kept += 1;
      yield record;
    }
  }

  function note(): void {
    if (outside > 0) report.note(`Outside of ${listed(given!)}, and left out: ${counted(outside, 'record')}.`);
    if (kept > 0) report.note(`Stay as they were, in other states: ${counted(kept, 'record')}.`);
    if (states === null || target.kind === 'areas') return;
    const guess = given === null ? ' Where it is of the whole US, say so: --states US.' : '';
    report.note(`Outside of ${listed(states)} it is taken for not loaded.${guess}`);
  }

  return {
    take(record) {
      if (given !== null) {
        const places = statesOf(record);
        if (places.length > 0 && !places.some((state) => given.has(state))) {
          outside += 1;
          return false;
        }
      } else if (nation !== null && seen.size < nation.states) {
        for (const state of statesOf(record)) seen.add(state);
      }
      copies?.add(record);
      taken += 1;
      return true;
    },
    outside: () => outside,
    *kept() {
      states = statesOfLoad();
      if (before !== null) {
        if (given !== null) yield* othersThan(given, before);
        else if (states !== null) refuseLossOfStates(dataset, states, before);
        if (!MAY_SHRINK.includes(dataset)) refuseLossOfRecords(dataset, taken, before.rows - kept);
        if (given !== null && kept > 0) states = before.states === null ? null : new Set([...before.states, ...given]);
      }
      note();
    },
    describe(own) {
      const merged = kept === 0 || before === null ? own : joined(before, own);
      return states === null || target.kind === 'areas' ? merged : { ...merged, states: [...states].sort() };
    },
  };
}

function nationOf(dataset: DatasetName): Nation | null {
  if (ANYWHERE.includes(dataset)) return null;
  if (dataset.startsWith('records:')) return { states: 4, records: 100 };
  // Plants stand in 28 states. Boundaries and wells come by state: they are always of those that they hold.
  if (dataset === 'sites:nuclearReactors') return { states: 15, records: 1 };
  return { states: dataset === 'areas' || dataset === 'sites:oilGasWell' ? 57 : 25, records: 1 };
}

/** What is loaded, and no sample. */
interface Before extends Pick<LoadedDataset, 'source' | 'vintage' | 'licence' | 'rows'> {
  /** Null for the whole US. */
  readonly states: ReadonlySet<string> | null;
}

function realDataset(database: ServiceDatabase, target: LoadTarget): Before | null {
  const level = 'level' in target ? (target.level ?? '') : '';
  const dataset = datasetOf(target);
  const found = describeData(database).datasets.find((other) => other.name === dataset && other.level === level);
  if (found === undefined || found.sample || found.rows === 0) return null;
  const { source, vintage, licence, rows, states } = found;
  const known = dataset === 'areas' ? statesOfAreas(database, level) : states;
  return { source, vintage, licence, rows, states: known === undefined ? null : new Set(known) };
}

function statesOfAreas(database: ServiceDatabase, level: string): string[] {
  return database.prepare<[], string>(`SELECT DISTINCT state FROM areas_${level}`).pluck().all();
}

/** The records of the load, to be known again among those that stay. */
function createCopies() {
  const digests = new Set<string>();
  const digest = (record: unknown) => {
    const { geometry, properties } = record as { geometry?: unknown; properties?: Record<string, unknown> };
    if (geometry === undefined || properties === undefined) return null;
    // Loaded values have the types of their data set (property-types.ts), those of a file are as they were written.
    const values = Object.entries(properties).map(([name, value]) => [name, plainValue(value)]);
    const text = JSON.stringify([geometry, values.filter(([, value]) => value !== '')]);
    return createHash('sha1').update(text).digest('base64');
  };
  return {
    add(record: unknown): void {
      const known = digest(record);
      if (known !== null) digests.add(known);
    },
    has(record: unknown): boolean {
      const known = digest(record);
      return known !== null && digests.has(known);
    },
  };
}

function plainValue(value: unknown): unknown {
  return typeof value === 'object'
    ? value
    : String(value)
        .trim()
        .replace(/^0+(?=\d)/, '');
}

function refuseLossOfStates(dataset: DatasetName, own: ReadonlySet<string>, { states }: Before): void {
  const others = states === null ? null : without(states, own);
  if (others?.length === 0) return;
  const lost = others === null ? 'all other states' : listed(new Set(others));
  throw new PerilbookError(
    'SERVICE_DATA',
    `Cannot replace data set "${dataset}": these rows lie in ${listed(own)}, and those of ${lost} would be lost`,
    `--states ${[...own].sort().join()} loads them beside those of other states; --replace gives the others up.`,
    { dataset },
  );
}

function refuseLossOfRecords(dataset: DatasetName, taken: number, replaced: number): void {
  if (3 * taken >= 2 * replaced) return;
  throw new PerilbookError(
    'SERVICE_DATA',
    `Cannot replace data set "${dataset}": there are ${counted(replaced, 'record')} of it, and the load has ${grouped(taken)}`,
    'Check that the file is whole. To replace it all the same, add --replace; the data that was there is unchanged.',
    { dataset },
  );
}

function joined(before: Before, own: DatasetInfo): DatasetInfo {
  const both = (first: string, second: string) =>
    [...new Set([...first.split('; '), second])].filter(Boolean).join('; ');
  return {
    ...own,
    source: both(before.source, own.source),
    vintage: both(before.vintage, own.vintage),
    licence: both(before.licence, own.licence),
  };
}

function without(states: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...states].filter((state) => !others.has(state));
}

const SHOWN_STATES = 6;

function listed(states: ReadonlySet<string>): string {
  const all = [...states].sort();
  const rest = all.length - SHOWN_STATES;
  return rest > 1 ? `${all.slice(0, SHOWN_STATES).join(', ')} and ${rest} more` : all.join(', ');
}
