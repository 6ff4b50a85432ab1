import { memo } from '../../base/memo.ts';
import { type NaturalValue, RATINGS_WITHOUT_SCORE } from '../../contract/topic-values.ts';
import { type NaturalSlug, topicOf } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Area } from '../tables/area-finder.ts';
import type { BoundaryCheck } from '../tables/boundary-check.ts';
import { type DataDatabase, type DataVersion, oncePerVersion } from '../tables/data-database.ts';
import type { NaturalRatingRecord } from '../tables/records.ts';
import { TopicValue } from './result-text.ts';
import { ratingInSquare } from './sample-ratings.ts';

export interface NaturalRule {
  readonly rate: (
    topic: NaturalSlug,
    area: Area,
    location: Location,
  ) => TopicValue | 'no_data' | 'incomplete' | 'no_tracts';
  /** Whether places of one area may have different ratings: made-up ones. */
  readonly variesWithin: () => boolean;
}

/** Makes the rule of the natural topics: the rating of the tract, else of its county. Without a rating there is no data if the index has
 * other rows of the county, and ratings of the hazard in the state; otherwise the loaded file is `incomplete`. If the tract is unknown
 * because outlines of rated tracts are missing, so is its rating (`no_tracts`). The index must be loaded.
 * @param cachedAreas the most areas whose ratings are cached, 3 kB each */
export function createNaturalRule(
  database: DataDatabase,
  versionOf: DataVersion,
  boundaries: BoundaryCheck,
  cachedAreas: number,
): NaturalRule {
  const ofTract = areaRatings(database, 'tract', versionOf, cachedAreas);
  const ofCounty = areaRatings(database, 'county', versionOf, cachedAreas);
  const inCounty = database.prepare<[string, string, string], number>(
    `SELECT 1 FROM ratings_county WHERE geoid = ? UNION ALL
     SELECT 1 FROM ratings_tract WHERE geoid BETWEEN ? AND ? || '999999' LIMIT 1`,
  );
  const inState = database
    .prepare<Record<'from' | 'to', string>, NaturalSlug>(
      `SELECT topic FROM ratings_county WHERE geoid BETWEEN @from AND @to UNION
       SELECT topic FROM ratings_tract WHERE geoid BETWEEN @from AND @to`,
    )
    .pluck();
  // Kept, because all ratings of a state are read.
  const hazardsOf = oncePerVersion(versionOf, () =>
    memo((state: string) => new Set(inState.all({ from: state, to: `${state}999999999` }))),
  );
  const sample = database
    .prepare<[], 0 | 1>("SELECT max(sample) FROM datasets WHERE name = 'nri'")
    .pluck();
  const isSample = oncePerVersion(versionOf, () => sample.get() === 1);
  const rate: NaturalRule['rate'] = (topic, { geoid, county }, location) => {
    const tract = ofTract()(geoid).get(topic);
    if (tract !== undefined) return tract;
    const value = ofCounty()(county).get(topic);
    if (value !== undefined && isSample())
      return new TopicValue(ratingInSquare(value.value as NaturalValue, topic, location));
    if (value !== undefined) return value;
    if (
      inCounty.get(county, county, county) === undefined ||
      !hazardsOf()(county.slice(0, 2)).has(topic)
    )
      return 'incomplete';
    return geoid === county && boundaries.lacksTract(county) ? 'no_tracts' : 'no_data';
  };
  return { rate, variesWithin: isSample };
}

/** Reads all ratings of an area in one query, and caches them: a bundle needs 18, and a file has many locations in the same areas. */
function areaRatings(
  database: DataDatabase,
  level: 'tract' | 'county',
  versionOf: DataVersion,
  cachedAreas: number,
): () => (geoid: string) => ReadonlyMap<NaturalSlug, TopicValue> {
  const select = database.prepare<[string], Omit<NaturalRatingRecord, 'geoid'>>(
    `SELECT topic, rating, score, frequency FROM ratings_${level} WHERE geoid = ?`,
  );
  const read = (geoid: string) =>
    new Map(
      select.all(geoid).map(({ topic, rating, score, frequency }) => {
        // The contract requires numbers, also where the index has none.
        const none = RATINGS_WITHOUT_SCORE.has(rating) ? 0 : null;
        const numbers = { score: score ?? none, frequency: frequency ?? none };
        const value: NaturalValue = { title: topicOf(topic).title, rating, ...numbers };
        return [topic, new TopicValue(value)];
      }),
    );
  return oncePerVersion(versionOf, () => memo(read, cachedAreas));
}
