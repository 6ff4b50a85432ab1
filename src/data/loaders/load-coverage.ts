import { createHash } from 'node:crypto';
import { PerilbookError } from '../../errors.ts';
import { counted, grouped } from '../../format-numbers.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { describeData, type LoadedDataset, statesOfAreas } from '../tables/describe-data.ts';
import { datasetOf } from '../tables/import-dataset.ts';
import { type StatesOf, statesOfRecords } from '../tables/record-states.ts';
import type { DatasetInfo, DatasetName, LoadTarget } from '../tables/records.ts';
import { storedRecords } from '../tables/stored-records.ts';
import { coveredCounties } from './covered-counties.ts';
import type { LoadReporter } from './load-report.ts';
import type { LoaderOptions } from './loader.ts';

/** The least number of states in a file of the whole US; one with fewer is taken for those states only. */
interface Nation {
  readonly states: number;
  /** Fewer records may all be in a few states by chance. */
  readonly records: number;
}

/** Datasets that may be complete with few states: burning fires, storms at sea, monitors. */
const ANY_STATES: readonly DatasetName[] = ['records:wildfire.current', 'records:hurricane', 'readings'];

/** A dataset may shrink by more than a third only with --replace; but burning fires go out. */
const MAY_SHRINK: readonly DatasetName[] = ['records:wildfire.current'];

/** The states of a load, and which stored records it keeps. */
export class LoadCoverage {
  readonly #database: DataDatabase;
  readonly #target: LoadTarget;
  readonly #report: LoadReporter;
  readonly #statesOf: StatesOf;
  readonly #before: StoredDataset | null;
  /** The states of --states. */
  readonly #given: ReadonlySet<string> | null;
  readonly #nation: Nation | null;
  readonly #copies: ReturnType<typeof createCopies> | null;
  readonly #seen = new Set<string>();
  /** Of boundaries. */
  readonly #counties = new Set<string>();
  #states: ReadonlySet<string> | null = null;
  #kept = 0;
  /** Records that belong to the load, and records outside of --states. */
  taken = 0;
  outside = 0;

  constructor(database: DataDatabase, target: LoadTarget, options: LoaderOptions, report: LoadReporter) {
    this.#database = database;
    this.#target = target;
    this.#report = report;
    this.#statesOf = statesOfRecords(target);
    this.#before = options.replace === true ? null : realDataset(database, target);
    this.#given = options.states === undefined || options.states === 'US' ? null : new Set(options.states);
    this.#nation = options.states === 'US' ? null : nationOf(datasetOf(target));
    this.#copies = this.#given !== null && this.#before !== null ? createCopies() : null;
  }

  /** Whether a record belongs to the load: with --states, whether it is in them. */
  take(record: unknown): boolean {
    if (this.#given !== null) {
      const places = this.#statesOf(record);
      if (places.length > 0 && !places.some((state) => this.#given!.has(state))) {
        this.outside += 1;
        return false;
      }
    } else if (this.#nation !== null && this.#seen.size < this.#nation.states) {
      for (const state of this.#statesOf(record)) this.#seen.add(state);
    }
    if (this.#target.kind === 'areas') this.#counties.add((record as { geoid: string }).geoid.slice(0, 5));
    this.#copies?.add(record);
    this.taken += 1;
    return true;
  }

  /**
   * The stored records of other states, once all of the load are read.
   *
   * @throws PerilbookError SERVICE_DATA when the load would lose rows without permission
   */
  *storedRecords(): Generator<unknown> {
    const [given, before, dataset] = [this.#given, this.#before, datasetOf(this.#target)];
    this.#states = this.#statesOfLoad();
    if (before !== null) {
      if (given !== null) yield* this.#othersThan(given, before.states);
      else if (this.#states !== null) refuseLossOfStates(dataset, this.#states, before);
      if (!MAY_SHRINK.includes(dataset)) refuseLossOfRecords(dataset, this.taken, before.rows - this.#kept);
      if (given !== null && this.#kept > 0) {
        this.#states = before.states === null ? null : new Set([...before.states, ...given]);
      }
    }
    this.#note();
  }

  /** The description with its states, merged with that of the stored records. To be called at the end. */
  describe(own: DatasetInfo): DatasetInfo {
    const merged = this.#kept === 0 || this.#before === null ? own : joined(this.#before, own);
    return this.#states === null || this.#target.kind === 'areas'
      ? merged
      : { ...merged, states: [...this.#states].sort() };
  }

  /** Null when the load is not limited to some states. */
  #statesOfLoad(): ReadonlySet<string> | null {
    if (this.#given !== null || this.#nation === null) return this.#given;
    const isPart = this.#seen.size > 0 && this.#seen.size < this.#nation.states && this.taken >= this.#nation.records;
    return isPart ? this.#seen : null;
  }

  *#othersThan(own: ReadonlySet<string>, known: ReadonlySet<string> | null): Generator<unknown> {
    const others = known === null ? null : without(known, own);
    if (others?.length === 0) return;
    // Rows just beyond their state's border still belong to it, unless a state is loaded again.
    const mayBeOwn = known === null || others!.length < known.size;
    for (const record of storedRecords(this.#database, this.#target)) {
      if (mayBeOwn) {
        const places = this.#statesOf(record);
        if (places.length > 0 && places.every((state) => own.has(state))) continue;
      }
      // A line across a border is in the files of both states.
      if (this.#copies?.has(record)) continue;
      this.#kept += 1;
      yield record;
    }
  }

  #note(): void {
    const { outside } = this;
    if (outside > 0) this.#report.note(`Left out, outside of ${listed(this.#given!)}: ${counted(outside, 'record')}.`);
    if (this.#kept > 0) this.#report.note(`Unchanged, in other states: ${counted(this.#kept, 'record')}.`);
    if (this.#target.kind === 'areas') {
      // A file of a few counties answers nothing in the others, and `perilbook data` lists it under its state.
      const covered = coveredCounties(this.#counties);
      if (covered === null) return;
      const parts = covered.parts.length === 0 ? '' : ` It has ${listed(new Set(covered.parts))}.`;
      this.#report.note(`The data covers ${listed(covered.states)} only.${parts}`);
      return;
    }
    if (this.#states === null) return;
    const guess = this.#given === null ? ' If it covers the whole US, add --states US.' : '';
    this.#report.note(`The data covers ${listed(this.#states)} only.${guess}`);
  }
}

function nationOf(dataset: DatasetName): Nation | null {
  if (ANY_STATES.includes(dataset)) return null;
  if (dataset.startsWith('records:')) return { states: 4, records: 100 };
  // Nuclear plants are in 28 states. Boundaries and wells are published by state: they always cover the states in the
  // file.
  if (dataset === 'sites:nuclearReactors') return { states: 15, records: 1 };
  return { states: dataset === 'areas' || dataset === 'sites:oilGasWell' ? 57 : 25, records: 1 };
}

/** The stored dataset, if it is real. */
interface StoredDataset extends Pick<LoadedDataset, 'source' | 'vintage' | 'licence' | 'rows'> {
  /** Null for the whole US. */
  readonly states: ReadonlySet<string> | null;
}

function realDataset(database: DataDatabase, target: LoadTarget): StoredDataset | null {
  const level = 'level' in target ? (target.level ?? '') : '';
  const dataset = datasetOf(target);
  const found = describeData(database).datasets.find((other) => other.name === dataset && other.level === level);
  if (found === undefined || found.sample || found.rows === 0) return null;
  const { source, vintage, licence, rows, states } = found;
  const known = dataset === 'areas' ? statesOfAreas(database, level) : states;
  return { source, vintage, licence, rows, states: known === undefined ? null : new Set(known) };
}

/** Recognizes records of the load among the stored ones. */
function createCopies() {
  const digests = new Set<string>();
  const digest = (record: unknown) => {
    const { geometry, properties } = record as { geometry?: unknown; properties?: Record<string, unknown> };
    if (geometry === undefined || properties === undefined) return null;
    // Stored values have the types of their dataset (property-types.ts), those of a file are as written.
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

function refuseLossOfStates(dataset: DatasetName, own: ReadonlySet<string>, { states }: StoredDataset): void {
  const others = states === null ? null : without(states, own);
  if (others?.length === 0) return;
  const lost = others === null ? 'all other states' : listed(new Set(others));
  throw new PerilbookError(
    'SERVICE_DATA',
    `Cannot replace dataset "${dataset}": the file covers ${listed(own)}, and the rows of ${lost} would be lost`,
    `Add --states ${[...own].sort().join()} to keep the other states, or --replace to drop them.`,
    { dataset },
  );
}

function refuseLossOfRecords(dataset: DatasetName, taken: number, replaced: number): void {
  if (3 * taken >= 2 * replaced) return;
  throw new PerilbookError(
    'SERVICE_DATA',
    `Cannot replace dataset "${dataset}": it has ${counted(replaced, 'record')}, and the load has ${grouped(taken)}`,
    'Check that the file is complete, or add --replace. The stored data is unchanged.',
    { dataset },
  );
}

function joined(before: StoredDataset, own: DatasetInfo): DatasetInfo {
  const both = (first: string, second: string) => [...new Set([...first.split('; '), second])].filter(Boolean);
  return {
    ...own,
    source: both(before.source, own.source).join('; '),
    vintage: withoutMiddle(both(before.vintage, own.vintage)).join('; '),
    licence: both(before.licence, own.licence).join('; '),
  };
}

/** Of the vintages "to DATE" only the oldest and the newest: sources that change daily add one with each update of a state. */
function withoutMiddle(vintages: readonly string[]): string[] {
  const dates = vintages.filter((one) => /^to \d{4}-\d{2}-\d{2}$/.test(one)).sort();
  const middle = dates.slice(1, -1);
  return vintages.filter((one) => !middle.includes(one));
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
