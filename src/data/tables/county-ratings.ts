import { counted, grouped } from '../../format-numbers.ts';
import type { DataDatabase } from './data-database.ts';

/*
 * A place gets the rating of its tract. It gets that of its county where the tract has an outline and no rating (outlines and ratings of
 * different years), and where no outline of a tract holds it. Each load of areas or ratings records the areas of such places, because
 * comparing 85,000 outlines with 1.5 million ratings takes a second.
 */

/** Where places get the rating of their county in place of one of their tract. */
export interface CountyRatings {
  /** Tracts with an outline. */
  readonly tracts: number;
  /** Of these, tracts without a rating in a county with one. */
  readonly unrated: number;
  /** Counties with a rating of which the outline of some tract is not here. */
  readonly counties: number;
  /** No tract has both: each place gets the rating of its county. */
  readonly isEverywhere: boolean;
  /** The years of the outlines and of the ratings of tracts. */
  readonly outlines: string;
  readonly ratings: string;
}

/** Records the areas again. Call it in the transaction that replaces areas or ratings. */
export function writeCountyRatedAreas(database: DataDatabase): void {
  database.exec(`
    DELETE FROM county_rated_areas;
    INSERT INTO county_rated_areas
      SELECT area.geoid FROM areas_tract AS area
      WHERE NOT EXISTS (SELECT 1 FROM ratings_tract AS rated WHERE rated.geoid = area.geoid)
        AND EXISTS (SELECT 1 FROM ratings_county AS rated WHERE rated.geoid = substr(area.geoid, 1, 5));
    INSERT INTO county_rated_areas
      SELECT county.geoid FROM areas_county AS county
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

/** The geoids of areas whose places get the rating of their county. */
export function countyRatedAreas(database: DataDatabase): ReadonlySet<string> {
  return new Set(database.prepare<[], string>('SELECT geoid FROM county_rated_areas').pluck().all());
}

/** The recorded areas; null if no place gets the rating of its county, and for sample data, which has only counties. */
export function readCountyRatings(database: DataDatabase): CountyRatings | null {
  const scalar = <T>(sql: string) => database.prepare<[], T>(sql).pluck().get()!;
  const areas = scalar<number>('SELECT count(*) FROM county_rated_areas');
  if (areas === 0 || scalar<number>("SELECT count(*) FROM datasets WHERE name IN ('areas', 'nri') AND sample = 1") > 0)
    return null;
  const counties = scalar<number>('SELECT count(*) FROM county_rated_areas WHERE length(geoid) = 5');
  const tracts = scalar<number>("SELECT ifnull(sum(rows), 0) FROM datasets WHERE name = 'areas' AND level = 'tract'");
  const vintages = (dataset: string) =>
    scalar<string>(
      `SELECT ifnull(group_concat(DISTINCT vintage), '') FROM parts WHERE dataset = '${dataset}' AND level = 'tract'`,
    );
  const isEverywhere =
    scalar<number>('SELECT EXISTS (SELECT 1 FROM areas_tract) AND EXISTS (SELECT 1 FROM ratings_tract)') === 0;
  return {
    tracts,
    unrated: areas - counties,
    counties,
    isEverywhere,
    outlines: vintages('areas'),
    ratings: vintages('nri'),
  };
}

/** One line for each way in which a place gets the rating of its county. */
export function countyRatingLines({
  tracts,
  unrated,
  counties,
  isEverywhere,
  outlines,
  ratings,
}: CountyRatings): string[] {
  if (isEverywhere) {
    const missing = tracts === 0 ? 'No outlines of tracts are here' : 'No ratings of tracts are here';
    return [`${missing}: places get the rating of their county.`];
  }
  const isSingular = unrated === 1;
  return [
    ...(unrated === 0
      ? []
      : [
          `${grouped(unrated)} of ${counted(tracts, 'tract')} here ${isSingular ? 'has' : 'have'} no rating (outlines ${outlines}, ratings ${ratings}): ` +
            `places in ${isSingular ? 'it' : 'them'} get the rating of their county.`,
        ]),
    ...(counties === 0
      ? []
      : [
          `In ${counties === 1 ? '1 county' : `${grouped(counties)} counties`} the outlines of tracts are not all here: ` +
            'places outside of them get the rating of their county.',
        ]),
  ];
}
