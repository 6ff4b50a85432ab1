import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import { needsOf } from '../../data/tables/describe-data.ts';
import { stateOf } from '../../data/tables/states.ts';
import { locationOf } from '../../geo/coordinates.ts';
import { countyAt } from '../../geo/us-counties.ts';
import type { CellNumbers } from '../plan/reach.ts';
import type { CellTable } from '../scan/cell-table.ts';
import type { LocalData } from './local-data.ts';

/** The places of a state for which some topics have no data here. */
export interface StateWithoutData {
  readonly state: string;
  readonly places: number;
  readonly topics: readonly TopicSlug[];
}

type LocalCoverage = Pick<LocalData, 'datasets' | 'topics' | 'boundaryStates' | 'countiesWithoutRatings'>;

/**
 * The places that a look-up cannot answer, because a dataset is here for other states or counties only; by state, in alphabetical
 * order. A topic without any data is not counted: the plan names it on its own. The counties come from us-atlas, 1 µs a place; a place
 * within some hundred metres of a border may count for the neighbour. Where only some tracts of a county have boundaries, the run tells
 * which places are in the others.
 */
export function placesWithoutData(
  data: LocalCoverage,
  topics: readonly TopicSlug[],
  order: CellNumbers,
  cells: CellTable,
): StateWithoutData[] {
  const statesOf = coverageOf(data);
  const here = topics.filter((topic) => data.topics.has(topic));
  const places = new Map<string, number>();
  for (const cell of order) {
    const county = countyAt(locationOf(cells.cell(cell)));
    if (county !== null) places.set(county.code, (places.get(county.code) ?? 0) + 1);
  }
  const lacks = (county: string) => (topic: TopicSlug) =>
    needsOf(topic).some((name) => statesOf.get(name)?.has(stateOf(county)) === false) ||
    (topicOf(topic).category === 'natural' && data.countiesWithoutRatings.has(county));
  const byCounty = [...places].map(([county, count]) => ({
    ...{ state: stateOf(county), places: count },
    topics: new Set(here.filter(lacks(county))),
  }));
  const byState = Map.groupBy(
    byCounty.filter((one) => one.topics.size > 0),
    ({ state }) => state,
  );
  return [...byState]
    .map(([state, counties]) => ({
      ...{ state, places: counties.reduce((sum, one) => sum + one.places, 0) },
      topics: here.filter((topic) => counties.some((one) => one.topics.has(topic))),
    }))
    .sort((a, b) => (a.state < b.state ? -1 : 1));
}

/** The states of each dataset; null for the whole US. Each level may have its own states. */
function coverageOf({ datasets, boundaryStates }: LocalCoverage): ReadonlyMap<string, ReadonlySet<string> | null> {
  const byName = Map.groupBy(datasets, ({ name }) => name);
  const statesOf = new Map(
    [...byName].map(([name, levels]) => {
      const isWhole = levels.some(({ states }) => states === undefined);
      return [name as string, isWhole ? null : new Set(levels.flatMap(({ states = [] }) => states))] as const;
    }),
  );
  // A file of the whole US may lack territories.
  return statesOf.set('areas', new Set(boundaryStates));
}
