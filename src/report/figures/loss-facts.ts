import { lossTopics } from '../../columns/loss-columns.ts';
import type { NaturalSlug } from '../../contract/topics.ts';
import { topicOf } from '../../contract/topics.ts';
import type { PlaceLosses } from '../../formats/packed/place-losses.ts';
import { locationOf } from '../../geo/coordinates.ts';
import { type County, countyAt } from '../../geo/us-counties.ts';
import type { Prepared } from '../../run/prepare.ts';
import type { Scan } from '../../run/scan/scan-input.ts';
import { valueOfUnits } from '../../run/scan/value.ts';
import { type LossAmounts, lossValues, sumLosses } from '../../run/write/loss-sums.ts';
import { COUNTIES_SHOWN, countyLabel, type LargestAreas, largestAreas } from './largest-areas.ts';
import type { PlaceLabel } from './named-rows.ts';
import type { FileCurrencies } from './sums.ts';

/** The expected annual losses of a book, in the report's currency. Each share is of a value that is here, too. */
export interface LossFacts {
  /** The columns with the value that the rates apply to. */
  readonly valueName: string;
  /** The expected annual loss of all locations with a rate. */
  readonly annualLoss: number;
  /** The value of the locations with a rate. */
  readonly value: number;
  /** The value of all locations. */
  readonly allValue: number;
  /** By natural topic, the largest loss first: those with a rate somewhere. */
  readonly perils: readonly {
    /** The name of the topic. */
    readonly topic: NaturalSlug;
    /** Its title. */
    readonly title: string;
    /** Its part of the loss. */
    readonly annualLoss: number;
  }[];
  /** The counties with the largest losses. */
  readonly counties: LargestAreas<LossOfCounty>;
  /** The places with the largest losses. */
  readonly locations: readonly (PlaceLabel & LossOfPlace)[];
}

/** A county, or several together. The value is that of locations with a rate. */
interface LossOfCounty {
  /** The name of the county. */
  readonly name: string;
  /** Locations with a rate. */
  readonly locations: number;
  /** Their value. */
  readonly value: number;
  /** Their expected annual loss. */
  readonly annualLoss: number;
}

interface LossOfPlace {
  /** Rows at this place. */
  readonly locations: number;
  /** Their value. */
  readonly value: number;
  /** Their expected annual loss. */
  readonly annualLoss: number;
  /** The topic with most of it. */
  readonly peril: {
    /** The name of the topic. */
    readonly topic: NaturalSlug;
    /** Its part of the loss. */
    readonly annualLoss: number;
  };
}

/** Losses whose places are known by the number of the cell, not yet by name. */
export interface CountedLosses extends Omit<LossFacts, 'locations'> {
  readonly locations: readonly (LossOfPlace & { readonly cell: number })[];
}

const PLACES_SHOWN = 10;

/** Adds up the losses by peril and county, and finds the largest. @returns null for a job without amounts of losses */
export function countLosses(
  { job, plan }: Prepared,
  losses: PlaceLosses | null,
  currencies: FileCurrencies,
): CountedLosses | null {
  const { scan } = plan;
  if (!losses?.hasAmounts) return null;
  const values = valuesShown(scan, currencies);
  if (values === null) return null;
  const sums = sumLosses(scan, losses, job.topics, values);
  const { valueOfCell } = values;
  const { cells } = scan;
  const topics = lossTopics(job.topics);
  const of = (units: number) => valueOfUnits(units, cells.decimals);
  const counties = new Map<
    County | null,
    { locations: number; value: number; annualLoss: number }
  >();
  const lossOf = new Float64Array(cells.size);
  for (let cell = 0; cell < cells.size; cell++) {
    const { rate } = highestRate(losses, cell);
    if (rate === null) continue;
    const value = valueOfCell(cell);
    lossOf[cell] = value * rate.sum;
    const county = countyAt(locationOf(cells.cell(cell)));
    const own = counties.get(county) ?? { locations: 0, value: 0, annualLoss: 0 };
    own.locations += cells.rows(cell);
    own.value += of(value);
    own.annualLoss += of(lossOf[cell]!);
    counties.set(county, own);
  }
  const byLoss = [...counties]
    .map(([county, own]) => ({ name: countyLabel(county), ...own }))
    .sort((a, b) => b.annualLoss - a.annualLoss || (a.name < b.name ? -1 : 1));
  const places = largestCells(lossOf, PLACES_SHOWN);
  const { layout } = scan;
  return {
    ...{ annualLoss: sums.annualLoss, value: sums.value, allValue: sums.allValue },
    valueName: layout.lossValues.map((at) => layout.used.value[at - 2]!).join(' + '),
    perils: sums.topics.map(({ topic, annualLoss }) => ({
      ...{ topic, title: topicOf(topic).title, annualLoss },
    })),
    counties: largestAreas(byLoss, COUNTIES_SHOWN, addedUp),
    locations: places.map((cell) => {
      const { topic, rate } = highestRate(losses, cell);
      const value = valueOfCell(cell);
      return {
        ...{ cell, locations: cells.rows(cell), value: of(value), annualLoss: of(lossOf[cell]!) },
        peril: { topic: topics[topic]!, annualLoss: of(value * rate!.highest) },
      };
    }),
  };
}

/** The values in the report's currency; null where the file has none in it. */
function valuesShown(scan: Scan, { shown }: FileCurrencies): LossAmounts | null {
  const all = lossValues(scan);
  return all.length === 1 ? all[0]! : (all.find(({ currency }) => currency === shown) ?? null);
}

function addedUp(name: string, counties: readonly LossOfCounty[]): LossOfCounty {
  const sum = (of: (county: LossOfCounty) => number) =>
    counties.reduce((total, county) => total + of(county), 0);
  return {
    name,
    locations: sum(({ locations }) => locations),
    value: sum(({ value }) => value),
    annualLoss: sum(({ annualLoss }) => annualLoss),
  };
}

/** The topic with the highest rate of a cell, by its index, and the sum of all; null without a rate. */
function highestRate({ topics, rates, numberOf }: PlaceLosses, cell: number) {
  let [topic, highest, sum] = [-1, Number.NEGATIVE_INFINITY, 0];
  for (let index = 0; index < topics; index++) {
    const rate = rates[numberOf[cell]! * topics + index]!;
    if (Number.isNaN(rate)) continue;
    sum += rate;
    if (rate > highest) [topic, highest] = [index, rate];
  }
  return { topic, rate: topic < 0 ? null : { highest, sum } };
}

/** The cells with the largest losses above 0, the largest first. */
function largestCells(lossOf: Float64Array, most: number): number[] {
  const found: number[] = [];
  for (let cell = 0; cell < lossOf.length; cell++) {
    const loss = lossOf[cell]!;
    if (!(loss > 0) || (found.length === most && loss <= lossOf[found.at(-1)!]!)) continue;
    const at = found.findIndex((other) => lossOf[other]! < loss);
    found.splice(at < 0 ? found.length : at, 0, cell);
    found.length = Math.min(found.length, most);
  }
  return found;
}
