import { isoTime } from '../base/format-numbers.ts';
import type { TopicSlug } from '../contract/topics.ts';
import { type CountyRated, isCountyRated } from '../data/tables/county-ratings.ts';
import { datasetsOf, type OriginNotes } from '../data/topics/origin-notes.ts';
import type { Job } from '../job/settings.ts';
import type { LocalConnection } from './frame/connection-kinds.ts';
import { placesWithoutData } from './frame/local-data.ts';
import type { RunContext } from './frame/run-context.ts';
import type { Plan } from './plan/planning.ts';
import type { LocalSourceSummary, SourceSummary } from './summary-shapes.ts';

/** Where a run's answers come from: the datasets of a local source that the job's topics use, and the topics and places that none of them
 * answers; or the service, and the local source beside it. */
export function sourceSummary({ sources: [first, beside] }: RunContext, plan: Plan): SourceSummary {
  const { connection } = first;
  const { scan } = plan;
  if (connection.kind === 'local')
    return localSummary(connection, first.job, plan, plan.origin, scan);
  if (connection.sample) return { kind: 'sample' as const };
  const asked = { kind: 'service' as const, address: connection.source };
  if (beside?.connection.kind !== 'local') return asked;
  const { order } = plan.beside ?? { order: new Uint32Array() };
  return {
    ...asked,
    beside: {
      topics: beside.job.topics,
      places_to_look_up: order.length,
      ...localSummary(beside.connection, beside.job, { order }, null, scan),
    },
  };
}

function localSummary(
  connection: LocalConnection,
  { topics, counts }: Job,
  { order }: Pick<Plan, 'order'>,
  origin: OriginNotes | null,
  scan: Plan['scan'],
): LocalSourceSummary {
  const { datasets, topics: here, topicsWithoutRecords } = connection.data;
  const used = datasetsOf(topics, counts);
  const { withoutData, leftOut } = placesWithoutData(connection.data, topics, order, scan.cells);
  return {
    kind: 'local' as const,
    datasets: datasets
      .filter(({ name }) => used.has(name))
      .map(({ name, level, source, vintage, licence, states, loadedAt }) => ({
        name,
        level,
        source,
        vintage,
        licence,
        states: states ?? null,
        loaded_at: isoTime(loadedAt),
      })),
    topics_without_data: topics.filter((topic) => !here.has(topic)),
    /** These topics are answered without a count: records of their events are not loaded. */
    topics_without_records: topics.filter((topic) => counts && topicsWithoutRecords.has(topic)),
    places_without_data: withoutData,
    /** Places that the loaded boundaries of their state leave out. */
    places_left_out: leftOut,
    ...countyRatedPlaces(topics, origin, scan.cells.size),
  };
}

/** The places that get the rating of their county, because their tract has no rating or no outline here: all of them, and by hazard. */
function countyRatedPlaces(
  topics: readonly TopicSlug[],
  origin: OriginNotes | null,
  cells: number,
) {
  const places = new Map<CountyRated, number>();
  for (let cell = 0; origin !== null && cell < cells; cell++) {
    const { ofCounty } = origin.originOf(cell);
    places.set(ofCounty, (places.get(ofCounty) ?? 0) + 1);
  }
  const placesOf = (some: readonly TopicSlug[]) =>
    [...places].reduce(
      (sum, [rated, count]) =>
        sum + (some.some((topic) => isCountyRated(topic, rated)) ? count : 0),
      0,
    );
  const byTopic = topics
    .map((topic) => [topic, placesOf([topic])] as const)
    .filter(([, count]) => count > 0);
  return {
    places_with_county_ratings: placesOf(topics),
    county_ratings: Object.fromEntries(byTopic),
  };
}
