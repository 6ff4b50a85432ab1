import type { TopicSlug } from '../../contract/topics.ts';
import { needsOf } from '../../data/tables/describe-data.ts';
import { stateOf } from '../../data/tables/states.ts';
import { locationOf } from '../../geo/coordinates.ts';
import { countyAt } from '../../geo/us-counties.ts';
import type { CellNumbers } from '../planning/reach.ts';
import type { CellTable } from '../scan/cell-table.ts';
import type { LocalData } from './local-data.ts';

/** The places of a state for which some topics have no data here. */
export interface StateWithoutData {
  readonly state: string;
  readonly places: number;
  readonly topics: readonly TopicSlug[];
}

/**
 * The places that a look-up cannot answer, because a dataset is here for other states only; by state, in alphabetical order. A
 * topic without any data is not counted: the plan names it on its own. The states come from us-atlas, 1 µs a place; a place within
 * some hundred metres of a border may count for the neighbour.
 */
export function placesWithoutData(
  data: Pick<LocalData, 'datasets' | 'topics'>,
  topics: readonly TopicSlug[],
  order: CellNumbers,
  cells: CellTable,
): StateWithoutData[] {
  const statesOf = coverageOf(data);
  const partial = topics.filter((topic) => data.topics.has(topic) && needsOf(topic).some((name) => statesOf.get(name)));
  if (partial.length === 0) return [];
  const places = new Map<string, number>();
  for (const cell of order) {
    const county = countyAt(locationOf(cells.cell(cell)));
    if (county === null) continue;
    const state = stateOf(county.code);
    places.set(state, (places.get(state) ?? 0) + 1);
  }
  const lacks = (state: string) => (topic: TopicSlug) =>
    needsOf(topic).some((name) => statesOf.get(name)?.has(state) === false);
  return [...places]
    .map(([state, count]) => ({ state, places: count, topics: partial.filter(lacks(state)) }))
    .filter((one) => one.topics.length > 0)
    .sort((a, b) => (a.state < b.state ? -1 : 1));
}

/** The states of each dataset; null for the whole US. Each level may have its own states. */
function coverageOf({ datasets }: Pick<LocalData, 'datasets'>): ReadonlyMap<string, ReadonlySet<string> | null> {
  const byName = Map.groupBy(datasets, ({ name }) => name);
  return new Map(
    [...byName].map(([name, levels]) => {
      const isWhole = levels.some(({ states }) => states === undefined);
      return [name, isWhole ? null : new Set(levels.flatMap(({ states = [] }) => states))] as const;
    }),
  );
}
