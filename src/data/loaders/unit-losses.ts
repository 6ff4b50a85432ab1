import { counted, grouped } from '../../base/format-numbers.ts';
import { type DatasetPart, WHOLE_US } from '../tables/parts.ts';
import type { PublishedUnits } from '../tables/published-units.ts';
import type { DatasetName } from '../tables/records.ts';
import { stateOf } from '../tables/states.ts';
import { datesIfOlder, olderText } from './data-dates.ts';
import { isLoss, LOAD_NEWER, refuseLoad } from './load-losses.ts';
import type { RecordCounts } from './record-counts.ts';

type UnitRows = ReadonlyMap<string, number>;

/** The units of a load that belong to one part. */
interface FreshUnits {
  /** The part: a state, or `US`. */
  readonly state: string;
  readonly vintage: string;
  readonly rows: UnitRows;
}

/** Refuses a load of whole parts in which a unit has vanished that its publisher issues by itself: a study, a county, a year. If as many
 * records have come in units that were not here, the units were only renamed: communities became a county, counties a region.
 * @param loaded the parts of the load
 * @returns what else is fewer, in sentences
 * @throws PerilbookError SERVICE_DATA; its context names the states */
export function refuseLostUnits(
  dataset: DatasetName,
  units: PublishedUnits,
  stored: readonly DatasetPart[],
  loaded: ReadonlySet<string>,
  counts: RecordCounts,
): string[] {
  // Of units that come and go, what is gone is told.
  const fewest = units.fewest ?? Number.POSITIVE_INFINITY;
  const problems: { readonly state: string; readonly problem: string }[] = [];
  const told: string[] = [];
  for (const state of loaded) {
    const now = counts.unitsOf(state);
    for (const [own, before] of comparedUnits(stored, state, units)) {
      const lost = [...before].filter(([unit]) => !now.has(unit));
      const isNew = ([unit]: readonly [string, number]) =>
        !before.has(unit) && (own === '' || stateOf(unit) === own);
      const come = [...now].filter(isNew);
      if (lost.length > 0 && sumOf(come) >= sumOf(lost)) {
        const [gone, fresh] = [lost, come].map((all) => countedUnits(units, all));
        told.push(`Renamed, it seems${own && `, in ${own}`}: ${gone} gone, ${fresh} new.`);
      } else {
        if (units.fewest === null && lost.length > 0)
          told.push(`Gone${own && `, in ${own}`}: ${countedUnits(units, lost)}.`);
        for (const [unit, rows] of lost.filter((one) => one[1] >= fewest)) {
          const problem = `${nameOf(units, unit)} has ${counted(rows, 'record')} here and none in the load`;
          problems.push({ state, problem });
        }
      }
      const fewer = [...before].filter(
        ([unit, rows]) => rows >= LEAST_TOLD && now.has(unit) && isLoss(rows, now.get(unit)!),
      );
      const some = fewer
        .slice(0, MOST_TOLD)
        .map(
          ([unit, rows]) => `${nameOf(units, unit)} ${grouped(rows)} → ${grouped(now.get(unit)!)}`,
        );
      const rest = fewer.length - some.length;
      if (some.length > 0)
        told.push(`Far fewer records: ${some.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`);
    }
  }
  refuseLoad(dataset, problems);
  return told;
}

/** Of a unit with fewer records, a third may go by chance. */
const LEAST_TOLD = 10;
const MOST_TOLD = 3;

/** The stored units of a part, by state where units name theirs; of a state without a part of its own those in the whole US. */
function comparedUnits(
  stored: readonly DatasetPart[],
  state: string,
  { hasStates }: PublishedUnits,
): ReadonlyMap<string, UnitRows> {
  const own = stored.filter((part) => part.state === state);
  const whole = stored.filter((part) => part.state === WHOLE_US);
  const parts = state === WHOLE_US ? stored : own.length > 0 || !hasStates ? own : whole;
  const byState = new Map<string, Map<string, number>>();
  for (const part of parts) {
    for (const [unit, { rows }] of Object.entries(part.units)) {
      const of = hasStates ? stateOf(unit) : '';
      if (state !== WHOLE_US && hasStates && of !== state) continue;
      const units = byState.get(of) ?? new Map<string, number>();
      byState.set(of, units);
      units.set(unit, (units.get(unit) ?? 0) + rows);
    }
  }
  return byState;
}

/** Refuses units with less than two thirds of their stored records, in place of which they would come.
 * @throws PerilbookError SERVICE_DATA; its context names the states */
export function refuseLossesOfUnits(
  dataset: DatasetName,
  units: PublishedUnits,
  { state, rows }: FreshUnits,
  stored: readonly DatasetPart[],
): void {
  if (units.fewest === null || units.isDated) return;
  const problems = storedUnits(stored).flatMap(([unit, before]) => {
    const now = rows.get(unit);
    if (now === undefined || !isLoss(before.rows, now)) return [];
    const problem = `${nameOf(units, unit)} has ${counted(before.rows, 'record')} here and ${grouped(now)} in the load`;
    return [{ state, problem }];
  });
  refuseLoad(dataset, problems);
}

/** Refuses units that are older than the stored ones in whose place they would come. Days are never of another age; if most of the stored
 * records would be replaced, the file is another edition, and must not end earlier.
 * @param stays the number of the part's stored records that stay
 * @throws PerilbookError SERVICE_DATA; its context names the states */
export function refuseOlderUnits(
  dataset: DatasetName,
  units: PublishedUnits,
  { state, vintage, rows }: FreshUnits,
  stored: readonly DatasetPart[],
  stays: number,
): void {
  const all = stored.reduce((sum, part) => sum + part.rows, 0);
  if (units.isDated && 2 * stays >= all) return;
  const compared = units.isDated
    ? stored.map((part) => [part.state, part.vintage] as const)
    : storedUnits(stored)
        .filter(([unit]) => rows.has(unit))
        .map(([unit, own]) => [labelOf(units, unit, state), own.vintage] as const);
  const texts = compared.flatMap(([of, before]) => {
    const older = datesIfOlder(vintage, before, true);
    return older === null ? [] : [olderText(of, older)];
  });
  const problems = [...new Set(texts)].map((problem) => ({ state, problem }));
  refuseLoad(dataset, problems, LOAD_NEWER);
}

function storedUnits(stored: readonly DatasetPart[]) {
  return stored.flatMap(({ units, vintage }) =>
    Object.entries(units).map(
      ([unit, own]) => [unit, { rows: own.rows, vintage: own.vintage ?? vintage }] as const,
    ),
  );
}

/** Counties of a state are of one age, and are named by their state. */
const labelOf = (units: PublishedUnits, unit: string, state: string): string =>
  units.noun.one === 'county' ? stateOf(unit) || state : nameOf(units, unit);

const nameOf = ({ noun }: PublishedUnits, unit: string): string => `${noun.one} ${unit}`;

const countedUnits = ({ noun }: PublishedUnits, all: readonly unknown[]): string =>
  counted(all.length, noun.one, noun.many);

const sumOf = (units: readonly (readonly [string, number])[]): number =>
  units.reduce((sum, [, rows]) => sum + rows, 0);
