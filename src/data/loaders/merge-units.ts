import type { PartDescription } from '../tables/import-dataset.ts';
import { type DatasetPart, type SourceFile, WHOLE_US } from '../tables/parts.ts';
import type { PublishedUnits } from '../tables/published-units.ts';
import type { DatasetName } from '../tables/records.ts';
import type { RecordCounts } from './record-counts.ts';
import { refuseLossesOfUnits, refuseOlderUnits } from './unit-losses.ts';

export interface MergedParts {
  readonly parts: readonly PartDescription[];
  /** The final parts of a record, by its states. */
  readonly partsOf: (states: string) => string;
}

/** The parts of a dataset after a load by hand whose units replaced themselves alone: two files one after the other add up, unless they
 * have the same units. A state without a part of its own stays in that of the whole US.
 * @param kept the number of stored records in each state that stay
 * @throws PerilbookError SERVICE_DATA if a unit would lose records, or become older */
export function mergedParts(
  dataset: DatasetName,
  units: PublishedUnits,
  loaded: readonly PartDescription[],
  stored: readonly DatasetPart[],
  counts: RecordCounts,
  kept: ReadonlyMap<string, number>,
): MergedParts {
  const isOfUs = loaded.some(({ state }) => state === WHOLE_US);
  const here = new Set(stored.map(({ state }) => state));
  const ownerOf = (state: string): string =>
    isOfUs || (!here.has(state) && here.has(WHOLE_US)) ? WHOLE_US : state;
  const byOwner = Map.groupBy(loaded, ({ state }) => ownerOf(state));
  const merged = [...byOwner].map(([state, [load]]): PartDescription => {
    const before = isOfUs ? stored : stored.filter((part) => part.state === state);
    const stays = state === WHOLE_US ? sumOf(kept) : (kept.get(state) ?? 0);
    const fresh = { state, vintage: load!.vintage, rows: counts.unitsOf(state) };
    refuseOlderUnits(dataset, units, fresh, before, stays);
    refuseLossesOfUnits(dataset, units, fresh, before);
    const isWhole = [load!, ...before].some(({ extent }) => extent === 'whole');
    const territories = [load!, ...before].flatMap((part) => part.territories);
    const own = {
      ...load!,
      state,
      extent: isWhole ? 'whole' : 'units',
      territories: [...new Set(territories)].sort(),
    } as const;
    if (stays === 0 || before.length === 0) return own;
    const stateRows = state === WHOLE_US ? rowsByState(counts, kept) : {};
    return { ...withStored(own, before, units, fresh.rows), stateRows };
  });
  const others = isOfUs ? [] : stored.filter(({ state }) => !byOwner.has(state));
  return {
    parts: [...merged, ...others.map(({ units: _, ...part }) => part)],
    // Outside the US, a record belongs to all parts of the load.
    partsOf: (own) =>
      own === ''
        ? [...byOwner.keys()].sort().join()
        : [...new Set(own.split(',').map(ownerOf))].sort().join(),
  };
}

/** A part of the units of a load and of stored ones. */
function withStored(
  load: PartDescription,
  stored: readonly DatasetPart[],
  units: PublishedUnits,
  fresh: ReadonlyMap<string, number>,
): PartDescription {
  const before = stored.flatMap(({ units: own, vintage }) =>
    Object.entries(own).map(([unit, one]) => [unit, one.vintage ?? vintage] as const),
  );
  const staying = before.filter(([unit]) => units.isDated || !fresh.has(unit));
  // An earlier version stored no units, and a year may have days of several files.
  const isOfAll = before.length === 0 || units.isDated;
  const vintages = isOfAll ? stored.map(({ vintage }) => vintage) : staying.map(([, text]) => text);
  return {
    ...load,
    askedOf: stored[0]!.askedOf,
    reach: stored[0]!.reach,
    source: joined([...stored, load].map(({ source }) => source)),
    licence: joined([...stored, load].map(({ licence }) => licence)),
    vintage: joined([...vintages.flatMap((text) => text.split('; ')), load.vintage]),
    files: joinedFiles([...stored.flatMap(({ files }) => files), ...load.files]),
    unitVintages: units.isDated
      ? {}
      : Object.fromEntries([
          ...staying,
          ...[...fresh.keys()].map((unit) => [unit, load.vintage] as const),
        ]),
  };
}

/** A file that was loaded again replaces the one of its name. */
function joinedFiles(files: readonly SourceFile[]): readonly SourceFile[] {
  return [...new Map(files.map((file) => [file.name, file])).values()];
}

function rowsByState(
  counts: RecordCounts,
  kept: ReadonlyMap<string, number>,
): Readonly<Record<string, number>> {
  const rows = new Map(counts.byState);
  for (const [state, count] of kept)
    if (state !== '') rows.set(state, (rows.get(state) ?? 0) + count);
  return Object.fromEntries(rows);
}

const joined = (texts: readonly string[]): string => [...new Set(texts)].filter(Boolean).join('; ');

const sumOf = (rows: ReadonlyMap<string, number>): number =>
  [...rows.values()].reduce((sum, count) => sum + count, 0);
