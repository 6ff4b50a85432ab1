import { type NaturalValue, RATINGS_WITHOUT_SCORE, type Rating } from '../../contract/topic-values.ts';
import { type NaturalSlug, topicOf } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Area } from '../tables/area-finder.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { type DataVersion, oncePerVersion } from '../tables/data-version.ts';
import type { FoundFeature, LayerSearch } from '../tables/layers.ts';
import type { EventKind } from '../tables/records.ts';
import { arrayText, collectionText, type MissingReason, type ResultText, type TextPart } from './result-text.ts';
import type { Radii } from './search-radii.ts';

interface RatingRow {
  readonly topic: NaturalSlug;
  readonly rating: Rating;
  readonly score: number | null;
  readonly frequency: number | null;
}

/** The ready values of an area's ratings. */
type AreaRatings = ReadonlyMap<NaturalSlug, string>;

/** The most areas with cached ratings: about 30 MB. */
const CACHED_AREAS = 10_000;

/**
 * Makes the function that answers a natural topic: the rating of the tract, else of its county, and the topic's events
 * around the location if `hasEvents`. Without a rating there is no data if the index has other rows of the county; if
 * it has none, the operator's file is incomplete and the topic unavailable. The index must be loaded.
 */
export function createNaturalAnswers(
  database: DataDatabase,
  search: LayerSearch,
  radii: Radii,
  versionOf: DataVersion,
  hasEvents: (event: EventKind, area: Area) => boolean,
): (topic: NaturalSlug, location: Location, area: Area) => ResultText | MissingReason {
  const ofTract = areaRatings(database, 'tract', versionOf);
  const ofCounty = areaRatings(database, 'county', versionOf);
  const inCounty = database.prepare<[string, string, string], number>(
    `SELECT 1 FROM ratings_county WHERE geoid = ? UNION ALL
     SELECT 1 FROM ratings_tract WHERE geoid BETWEEN ? AND ? || '999999' LIMIT 1`,
  );
  return (topic, location, area) => {
    const value = ofTract(area.geoid).get(topic) ?? ofCounty(area.county).get(topic);
    if (value === undefined) {
      const { county } = area;
      return inCounty.get(county, county, county) === undefined ? 'unavailable' : 'no_data';
    }
    const records = (event: EventKind) =>
      hasEvents(event, area) ? search(`records:${event}`, location, radii[event]) : null;
    return { value, details: detailsOf(topic, records, radii) };
  };
}

/** Reads all ratings of an area in one query and caches them until a dataset is replaced: a bundle needs 18, and a file
 * the same areas again and again. */
function areaRatings(
  database: DataDatabase,
  level: 'tract' | 'county',
  versionOf: DataVersion,
): (geoid: string) => AreaRatings {
  const select = database.prepare<[string], RatingRow>(
    `SELECT topic, rating, score, frequency FROM ratings_${level} WHERE geoid = ?`,
  );
  const cacheOf = oncePerVersion(versionOf, () => new Map<string, AreaRatings>());
  return (geoid) => {
    const cache = cacheOf();
    const known = cache.get(geoid);
    if (known !== undefined) return known;
    const ratings = new Map(
      select.all(geoid).map(({ topic, rating, score, frequency }) => {
        // The contract requires numbers, also where the index has none.
        const none = RATINGS_WITHOUT_SCORE.has(rating) ? 0 : null;
        const numbers = { score: score ?? none, frequency: frequency ?? none };
        const value: NaturalValue = { title: topicOf(topic).title, rating, ...numbers };
        return [topic, JSON.stringify(value)];
      }),
    );
    if (cache.size === CACHED_AREAS) cache.delete(cache.keys().next().value!);
    cache.set(geoid, ratings);
    return ratings;
  };
}

/** The events around a location; null when they are not loaded. */
type RecordsOf = (event: EventKind) => readonly FoundFeature[] | null;

function detailsOf(topic: NaturalSlug, recordsOf: RecordsOf, radii: Radii): readonly TextPart[] {
  switch (topic) {
    case 'hail':
    case 'hurricane':
    case 'tornado': {
      const records = recordsOf(topic);
      return records === null ? ['null'] : arrayText(records);
    }
    case 'earthquake': {
      const records = recordsOf(topic);
      return records === null ? ['null'] : collectionText(records, radii[topic]);
    }
    case 'wildfire':
      return wildfireText(recordsOf);
    default:
      return ['null'];
  }
}

/** A member for each kind of fire that is loaded; an empty object when all are and nothing is near (docs/service-api.md
 * 4.4). */
function wildfireText(recordsOf: RecordsOf): readonly TextPart[] {
  const members = FIRES.map((name) => [name, recordsOf(`wildfire.${name}`)] as const);
  const loaded = members.filter(
    (member): member is [(typeof FIRES)[number], readonly FoundFeature[]] => member[1] !== null,
  );
  if (loaded.length === 0) return ['null'];
  if (loaded.length === FIRES.length && loaded.every(([, records]) => records.length === 0)) return ['{}'];
  const parts = loaded.flatMap(([name, records], index): TextPart[] => [
    `${index === 0 ? '{' : ','}"${name}":`,
    ...arrayText(records),
  ]);
  return [...parts, '}'];
}

const FIRES = ['current', 'historical', 'perimeters'] as const;
