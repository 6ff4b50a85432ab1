import { type NaturalSlug, topicOf } from '../../contract/topics.ts';
import type { NaturalValue, Rating } from '../../contract/values.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Area } from '../data/area-finder.ts';
import type { ServiceDatabase } from '../data/database.ts';
import type { LayerSearch } from '../data/layers.ts';
import type { RecordFeed } from '../data/records.ts';
import { arrayText, collectionText, type ResultText } from './result-text.ts';
import type { Radii } from './search-radii.ts';

interface RatingRow {
  readonly rating: Rating;
  readonly score: number | null;
  readonly frequency: number | null;
}

/**
 * Makes the function that answers a natural topic: the rating of the tract, else of its county, and the records of the
 * topic's feed around the location. Null when neither area has a rating. The topic's data sets must be loaded.
 */
export function createNaturalAnswers(
  database: ServiceDatabase,
  search: LayerSearch,
  radii: Radii,
): (topic: NaturalSlug, location: Location, area: Area) => ResultText | null {
  const select = (level: 'tract' | 'county') =>
    database.prepare<[string, string], RatingRow>(
      `SELECT rating, score, frequency FROM ratings_${level} WHERE geoid = ? AND topic = ?`,
    );
  const ofTract = select('tract');
  const ofCounty = select('county');
  return (topic, location, area) => {
    const row = ofTract.get(area.geoid, topic) ?? ofCounty.get(area.county, topic);
    if (row === undefined) return null;
    const value: NaturalValue = { title: topicOf(topic).title, ...row };
    const records = (feed: RecordFeed) => search(`records:${feed}`, location, radii[feed]);
    return { value: JSON.stringify(value), details: detailsOf(topic, records) };
  };
}

function detailsOf(topic: NaturalSlug, records: (feed: RecordFeed) => string[]): string {
  switch (topic) {
    case 'hail':
    case 'hurricane':
    case 'tornado':
      return arrayText(records(topic));
    case 'earthquake':
      return collectionText(records(topic));
    case 'wildfire': {
      const current = records('wildfire.current');
      const historical = records('wildfire.historical');
      const perimeters = records('wildfire.perimeters');
      if (current.length + historical.length + perimeters.length === 0) return '{}';
      return `{"current":${arrayText(current)},"historical":${arrayText(historical)},"perimeters":${arrayText(perimeters)}}`;
    }
    default:
      return 'null';
  }
}
