import { memo } from '../../base/memo.ts';
import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import { createLeftOutCheck } from '../../data/tables/boundary-check.ts';
import { needsOf } from '../../data/tables/describe-data.ts';
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

/** The places of a state whose county has no boundaries here, though other counties or states have. */
export interface PlacesLeftOut {
  readonly state: string;
  readonly places: number;
}

type LocalCoverage = Pick<LocalData, 'datasets' | 'topics' | 'boundaryCounties' | 'countiesWithoutRatings'>;

/** The places that a look-up cannot answer, because a dataset, or the boundaries, cover only other states or counties, or not all states
 * within the search radius; by the place's state, in alphabetical order. A topic without any data is not counted: the plan lists it apart.
 * The counties come from us-atlas, 1 µs a place; a place within some hundred metres of a border may count for the neighbour. If only some
 * tracts of a county have boundaries, the run reports the places in the other tracts. */
export function placesWithoutData(
  data: LocalCoverage,
  topics: readonly TopicSlug[],
  order: CellNumbers,
  cells: CellTable,
): { readonly withoutData: readonly StateWithoutData[]; readonly leftOut: readonly PlacesLeftOut[] } {
  const coverage = new PartCoverage(
    data.datasets.flatMap(({ name, parts }) => parts.map(({ state, reach }) => ({ dataset: name, state, reach }))),
  );
  const isLeftOut = createLeftOutCheck(data.boundaryCounties);
  const here = topics.filter((topic) => data.topics.has(topic));
  const ofCounty = memo((code: string) => {
    const state = stateOf(code);
    const isLacking = (topic: TopicSlug) =>
      needsOf(topic).some((name) => name !== 'areas' && !coverage.covers(name, state)) ||
      (topicOf(topic).category === 'natural' && data.countiesWithoutRatings.has(code));
    const searches = here.flatMap((topic) =>
      neededSearches(topic)
        .filter(({ name, meters }) => coverage.covers(name, state) && coverage.hasBorders(name, state, meters))
        .map((search) => ({ ...search, topic })),
    );
    return { state, isLeftOut: isLeftOut(code), lacking: here.filter(isLacking), searches };
  });
  const leftOut = new Map<string, number>();
  const states = new Map<string, { places: number; readonly topics: Set<TopicSlug> }>();
  for (const cell of order) {
    const location = locationOf(cells.cell(cell));
    const code = countyAt(location)?.code;
    if (code === undefined) continue;
    const county = ofCounty(code);
    if (county.isLeftOut) leftOut.set(county.state, (leftOut.get(county.state) ?? 0) + 1);
    const atBorder = county.searches.filter(({ name, meters }) => coverage.lacking(name, location, meters).length > 0);
    const lacking = [...county.lacking, ...atBorder.map(({ topic }) => topic)];
    if (lacking.length === 0) continue;
    const inState = states.get(county.state) ?? { places: 0, topics: new Set() };
    inState.places += 1;
    for (const topic of lacking) inState.topics.add(topic);
    states.set(county.state, inState);
  }
  const byState = (a: PlacesLeftOut, b: PlacesLeftOut) => (a.state < b.state ? -1 : 1);
  const withoutData = [...states]
    .map(([state, inState]) => ({
      state,
      places: inState.places,
      topics: here.filter((topic) => inState.topics.has(topic)),
    }))
    .sort(byState);
  return { withoutData, leftOut: [...leftOut].map(([state, places]) => ({ state, places })).sort(byState) };
}
