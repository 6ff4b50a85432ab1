import { counted, grouped } from '../../base/format-numbers.ts';
import { NATURAL_SLUGS, type NaturalSlug, type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { SqliteDatabase } from '../../sql/open-sqlite.ts';

/* A place gets the rating of its tract. It gets its county's rating if the tract has an outline but no rating (outlines and ratings of
 * different years), for hazards that the table of tracts lacks, and outside all outlines of tracts. Each load of areas or ratings
 * records the areas of such places, because comparing 85,000 outlines with 1.5 million ratings takes a second. */

/** The hazards for which an area's places get the rating of their county, separated by spaces; `*` is every hazard, '' none. */
export type CountyRated = string;

export const EVERY_HAZARD = '*';

/** Whether a topic is one of these hazards. */
export function isCountyRated(topic: TopicSlug, rated: CountyRated): boolean {
  if (rated === EVERY_HAZARD) return topicOf(topic).category === 'natural';
  return rated !== '' && rated.split(' ').includes(topic);
}

/** Where places get the rating of their county. */
export interface CountyRatings {
  /** Tracts with an outline. */
  readonly tracts: number;
  /** Of these, tracts without a rating, in a county with a rating. */
  readonly unrated: number;
  /** Tracts with an outline and without a rating, in a county without one, in a state with ratings: places in them get no rating. */
  readonly unanswered: number;
  /** The hazards that other tracts lack, with the number of these tracts. */
  readonly hazards: readonly { readonly topic: NaturalSlug; readonly tracts: number }[];
  /** Rated counties in which some tract has no outline. */
  readonly counties: number;
  /** No tract has an outline and a rating: each place gets the rating of its county. */
  readonly isEverywhere: boolean;
  /** The years of the outlines and of the ratings of tracts. */
  readonly outlines: string;
  readonly ratings: string;
}

/** Records the areas again. Call it in the transaction that replaces areas or ratings. */
export function writeCountyRatedAreas(database: SqliteDatabase): void {
  database.exec(`
    DELETE FROM county_rated_areas;
    INSERT INTO county_rated_areas
      SELECT
        area.geoid,
        CASE
          WHEN EXISTS (SELECT 1 FROM ratings_tract AS own WHERE own.geoid = area.geoid)
          THEN group_concat(rated.topic, ' ')
          ELSE '${EVERY_HAZARD}'
        END
      FROM areas_tract AS area JOIN ratings_county AS rated ON rated.geoid = substr(area.geoid, 1, 5)
      WHERE NOT EXISTS (SELECT 1 FROM ratings_tract AS own WHERE own.geoid = area.geoid AND own.topic = rated.topic)
      GROUP BY area.geoid;
    INSERT INTO county_rated_areas
      SELECT area.geoid, '' FROM areas_tract AS area
      WHERE NOT EXISTS (SELECT 1 FROM ratings_tract AS own WHERE own.geoid = area.geoid)
        AND NOT EXISTS (SELECT 1 FROM ratings_county AS rated WHERE rated.geoid = substr(area.geoid, 1, 5))
        AND (EXISTS (SELECT 1 FROM ratings_tract AS rated WHERE rated.geoid BETWEEN substr(area.geoid, 1, 2) AND substr(area.geoid, 1, 2) || ':')
          OR EXISTS (SELECT 1 FROM ratings_county AS rated WHERE rated.geoid BETWEEN substr(area.geoid, 1, 2) AND substr(area.geoid, 1, 2) || ':'));
    INSERT INTO county_rated_areas
      SELECT county.geoid, '${EVERY_HAZARD}' FROM areas_county AS county
      WHERE EXISTS (SELECT 1 FROM ratings_county AS rated WHERE rated.geoid = county.geoid)
        AND (
          NOT EXISTS (SELECT 1 FROM areas_tract AS area WHERE area.geoid BETWEEN county.geoid AND county.geoid || '999999')
          OR EXISTS (
            SELECT 1 FROM ratings_tract AS rated
            WHERE rated.geoid BETWEEN county.geoid AND county.geoid || '999999'
              AND NOT EXISTS (SELECT 1 FROM areas_tract AS area WHERE area.geoid = rated.geoid)
          )
        );`);
}

/** The areas whose places get the rating of their county, by geoid. */
export function countyRatedAreas(database: SqliteDatabase): ReadonlyMap<string, CountyRated> {
  return new Map(
    database
      .prepare<[], [string, CountyRated]>('SELECT geoid, topics FROM county_rated_areas')
      .raw()
      .all(),
  );
}

/** The recorded areas; null if no place gets the rating of its county, and for sample data, which has only counties. */
export function readCountyRatings(database: SqliteDatabase): CountyRatings | null {
  const scalar = <T>(sql: string) => database.prepare<[], T>(sql).pluck().get()!;
  const areas = scalar<number>('SELECT count(*) FROM county_rated_areas');
  if (
    areas === 0 ||
    scalar<number>("SELECT count(*) FROM datasets WHERE name IN ('areas', 'nri') AND sample = 1") >
      0
  )
    return null;
  const counties = scalar<number>(
    'SELECT count(*) FROM county_rated_areas WHERE length(geoid) = 5',
  );
  const tracts = scalar<number>(
    "SELECT ifnull(sum(rows), 0) FROM datasets WHERE name = 'areas' AND level = 'tract'",
  );
  const unrated =
    scalar<number>(`SELECT count(*) FROM county_rated_areas WHERE topics = '${EVERY_HAZARD}'`) -
    counties;
  const unanswered = scalar<number>("SELECT count(*) FROM county_rated_areas WHERE topics = ''");
  const lacking = database
    .prepare<[string], { topics: CountyRated; tracts: number }>(
      'SELECT topics, count(*) AS tracts FROM county_rated_areas WHERE topics <> ? GROUP BY topics',
    )
    .all(EVERY_HAZARD);
  const hazards = NATURAL_SLUGS.map((topic) => ({
    topic,
    tracts: lacking.reduce(
      (sum, { topics, tracts: own }) => sum + (isCountyRated(topic, topics) ? own : 0),
      0,
    ),
  }));
  const vintages = (dataset: string) =>
    database
      .prepare<[string], string>(
        "SELECT DISTINCT vintage FROM parts WHERE dataset = ? AND level = 'tract' AND vintage <> '' ORDER BY vintage",
      )
      .pluck()
      .all(dataset)
      .join(' and ');
  const isEverywhere =
    scalar<number>(
      'SELECT EXISTS (SELECT 1 FROM areas_tract) AND EXISTS (SELECT 1 FROM ratings_tract)',
    ) === 0;
  return {
    tracts,
    unrated,
    unanswered,
    hazards: hazards.filter(({ tracts: own }) => own > 0),
    counties,
    isEverywhere,
    outlines: vintages('areas'),
    ratings: vintages('nri'),
  };
}

/** The messages on places that get the rating of their county. */
export function countyRatingLines(told: CountyRatings): string[] {
  const { tracts, unrated, unanswered, hazards, counties, outlines, ratings } = told;
  if (told.isEverywhere) {
    const missing =
      tracts === 0 ? 'No outlines of tracts are here' : 'No ratings of tracts are here';
    return [`${missing}: places get the rating of their county.`];
  }
  const [years, ofCounty] = [
    `outlines ${outlines}, ratings ${ratings}`,
    'the rating of their county',
  ];
  const withoutRating = (count: number, nor: string, of = years, get = ofCounty) =>
    `${grouped(count)} of ${counted(tracts, 'loaded tract')} ${count === 1 ? 'has' : 'have'} no rating${nor} ` +
    `(${of}): places in ${count === 1 ? 'it' : 'them'} get ${get}.`;
  const butCounty = (count: number) => `, but ${count === 1 ? 'its' : 'their'} county has one`;
  // Each line names the hazards that the same number of tracts lack.
  const byTracts = Map.groupBy(hazards, ({ tracts: own }) => own);
  return [
    ...[...byTracts].map(([own, some]) => {
      const topics = some.map(({ topic }) => topic).join(', ');
      return `${topics}: ${withoutRating(own, butCounty(own), `ratings ${ratings}`)}`;
    }),
    ...(unrated === 0 ? [] : [withoutRating(unrated, butCounty(unrated))]),
    ...(unanswered === 0
      ? []
      : [withoutRating(unanswered, ', nor has their county', years, 'none')]),
    ...(counties === 0
      ? []
      : [
          `In ${counties === 1 ? '1 county' : `${grouped(counties)} counties`} some outlines of tracts are missing: ` +
            'places outside the others get the rating of their county.',
        ]),
  ];
}
