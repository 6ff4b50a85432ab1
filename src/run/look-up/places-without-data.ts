import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import { needsOf } from '../../data/tables/describe-data.ts';
import type { DatasetName } from '../../data/tables/records.ts';
import { stateOf } from '../../data/tables/states.ts';
import { neededSearches, PartCoverage } from '../../data/topics/coverage.ts';
import { locationOf } from '../../geo/coordinates.ts';
import { countyAt } from '../../geo/us-counties.ts';
import type { CellNumbers } from '../plan/reach.ts';
import type { CellTable } from '../scan/cell-table.ts';
import type { LocalData } from './local-data.ts';

/** The places of a state for which some topics have no data. */
export interface StateWithoutData {
  readonly state: string;
  readonly places: number;
  readonly topics: readonly TopicSlug[];
}

type LocalCoverage = Pick<LocalData, 'datasets' | 'topics' | 'boundaryStates' | 'countiesWithoutRatings'>;

/**
 * The places that a look-up cannot answer, because a dataset covers only other states or counties, or not all states within the search
 * radius; by the place's state, in alphabetical order. A topic without any data is not counted: the plan lists it apart. The counties
 * come from us-atlas, 1 µs a place; a place within some hundred metres of a border may count for the neighbour. If only some tracts of a
 * county have boundaries, the run reports the places in the other tracts.
 */
export function placesWithoutData(
  data: LocalCoverage,
  topics: readonly TopicSlug[],
  order: CellNumbers,
  cells: CellTable,
): StateWithoutData[] {
  const coverage = new PartCoverage(
    data.datasets.flatMap(({ name, parts }) => parts.map(({ state, reach }) => ({ dataset: name, state, reach }))),
  );
  const boundaries = new Set(data.boundaryStates);
  // A file of the whole US may lack the territories.
  const covers = (name: DatasetName, state: string) =>
    name === 'areas' ? boundaries.has(state) : coverage.covers(name, state);
  const here = topics.filter((topic) => data.topics.has(topic));
  const ofCounty = (code: string) => {
    const state = stateOf(code);
    const isLacking = (topic: TopicSlug) =>
      needsOf(topic).some((name) => !covers(name, state)) ||
      (topicOf(topic).category === 'natural' && data.countiesWithoutRatings.has(code));
    const searches = here.flatMap((topic) =>
      neededSearches(topic)
        .filter(({ name, meters }) => covers(name, state) && coverage.hasBorders(name, state, meters))
        .map((search) => ({ ...search, topic })),
    );
    return { state, lacking: here.filter(isLacking), searches };
  };
  const counties = new Map<string, ReturnType<typeof ofCounty>>();
  const states = new Map<string, { places: number; readonly topics: Set<TopicSlug> }>();
  for (const cell of order) {
    const location = locationOf(cells.cell(cell));
    const code = countyAt(location)?.code;
    if (code === undefined) continue;
    const county = counties.get(code) ?? ofCounty(code);
    counties.set(code, county);
    const atBorder = county.searches.filter(({ name, meters }) => coverage.lacking(name, location, meters).length > 0);
    const lacking = [...county.lacking, ...atBorder.map(({ topic }) => topic)];
    if (lacking.length === 0) continue;
    const inState = states.get(county.state) ?? { places: 0, topics: new Set() };
    inState.places += 1;
    for (const topic of lacking) inState.topics.add(topic);
    states.set(county.state, inState);
  }
  return [...states]
    .map(([state, inState]) => ({
      state,
      places: inState.places,
      topics: here.filter((topic) => inState.topics.has(topic)),
    }))
    .sort((a, b) => (a.state < b.state ? -1 : 1));
}
