import { type NaturalSlug, topicOf } from '../../contract/topics.ts';
import type { NaturalValue, Rating } from '../../contract/values.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Area } from '../data/area-finder.ts';
import type { DataVersion } from '../data/data-version.ts';
import type { ServiceDatabase } from '../data/database.ts';
import type { FoundFeature, LayerSearch } from '../data/layers.ts';
import type { RecordFeed } from '../data/records.ts';
import { arrayText, collectionText, type ResultText, type TextPart } from './result-text.ts';
import type { Radii } from './search-radii.ts';

interface RatingRow {
  readonly topic: NaturalSlug;
  readonly rating: Rating;
  readonly score: number | null;
  readonly frequency: number | null;
}

/** The ready values of an area's ratings. */
type AreaRatings = ReadonlyMap<NaturalSlug, string>;

/** Areas whose ratings are kept: some 30 MB. */
const KEPT_AREAS = 10_000;

/**
 * Makes the function that answers a natural topic: the rating of the tract, else of its county, and the records of the
 * topic's feed around the location. Null when neither area has a rating. The topic's data sets must be loaded.
 */
export function createNaturalAnswers(
  database: ServiceDatabase,
  search: LayerSearch,
  radii: Radii,
  versionOf: DataVersion,
): (topic: NaturalSlug, location: Location, area: Area) => ResultText | null {
  const ofTract = areaRatings(database, 'tract', versionOf);
  const ofCounty = areaRatings(database, 'county', versionOf);
  return (topic, location, area) => {
    const value = ofTract(area.geoid).get(topic) ?? ofCounty(area.county).get(topic);
    if (value === undefined) return null;
    const records = (feed: RecordFeed) => search(`records:${feed}`, location, radii[feed]);
    return { value, details: detailsOf(topic, records, radii) };
  };
}

/** All ratings of an area by one query, and kept until a data set is replaced: a bundle asks for 18, a book for an area
 * again and again. */
function areaRatings(
  database: ServiceDatabase,
  level: 'tract' | 'county',
  versionOf: DataVersion,
): (geoid: string) => AreaRatings {
  const select = database.prepare<[string], RatingRow>(
    `SELECT topic, rating, score, frequency FROM ratings_${level} WHERE geoid = ?`,
  );
  const kept = new Map<string, AreaRatings>();
  let version = -1;
  return (geoid) => {
    const current = versionOf();
    if (current !== version) kept.clear();
    version = current;
    const known = kept.get(geoid);
    if (known !== undefined) return known;
    const ratings = new Map(
      select.all(geoid).map(({ topic, ...row }) => {
        const value: NaturalValue = { title: topicOf(topic).title, ...row };
        return [topic, JSON.stringify(value)];
      }),
    );
    if (kept.size === KEPT_AREAS) kept.delete(kept.keys().next().value!);
    kept.set(geoid, ratings);
    return ratings;
  };
}

function detailsOf(
  topic: NaturalSlug,
  records: (feed: RecordFeed) => readonly FoundFeature[],
  radii: Radii,
): readonly TextPart[] {
  switch (topic) {
    case 'hail':
    case 'hurricane':
    case 'tornado':
      return arrayText(records(topic));
    case 'earthquake':
      return collectionText(records(topic), radii[topic]);
    case 'wildfire': {
      const current = records('wildfire.current');
      const historical = records('wildfire.historical');
      const perimeters = records('wildfire.perimeters');
      if (current.length + historical.length + perimeters.length === 0) return ['{}'];
      return [
        ...['{"current":', ...arrayText(current)],
        ...[',"historical":', ...arrayText(historical)],
        ...[',"perimeters":', ...arrayText(perimeters), '}'],
      ];
    }
    default:
      return ['null'];
  }
}
