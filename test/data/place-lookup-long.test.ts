import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { memo } from '../../src/base/memo.ts';
import { answerFields, flatten } from '../../src/columns/topic-columns.ts';
import type { Field } from '../../src/contract/answer.ts';
import { TOPIC_SLUGS, type TopicSlug, topicOf } from '../../src/contract/topics.ts';
import { createPlaceLookup, type PlaceLookup } from '../../src/data/lookup/place-lookup.ts';
import { createAreaFinder } from '../../src/data/tables/area-finder.ts';
import {
  createDataVersion,
  type DataDatabase,
  openDataDatabase,
} from '../../src/data/tables/data-database.ts';
import { isMissing, joinedText } from '../../src/data/topics/result-text.ts';
import { createTopicAnswers } from '../../src/data/topics/topic-answers.ts';
import { CITIES } from '../../src/geo/cities.ts';
import type { Location } from '../../src/geo/coordinates.ts';
import { drawBetween, makeRandom, pick } from '../../src/sample/random.ts';
import { copySampleDatabase } from '../sample-database.ts';
import { coverOnly } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';

type Fields = (topic: TopicSlug, location: Location) => readonly Field[] | string;

/** The fields of a topic at a place, or in one word why there are none, by way of the service's JSON. */
function throughJson(database: DataDatabase, now: number): Fields {
  const version = createDataVersion(database);
  const areaAt = createAreaFinder(database, version);
  const { single } = createTopicAnswers(database, undefined, version);
  return (topic, location) => {
    const area = areaAt(location);
    if (area === null) return 'outside';
    const result = single(topic, location, area, now);
    if (isMissing(result)) return result;
    const details = JSON.parse(String(joinedText(result.details)));
    return flatten(topic, { value: JSON.parse(result.value), details }, location);
  };
}

/** The same from a look-up. */
function throughLookup(lookUp: PlaceLookup, now: number): Fields {
  // One list for all places, so that what holds in a whole area is asked once.
  const listOf = memo((topic: TopicSlug) => [topic]);
  return (topic, location) => {
    const found = lookUp(listOf(topic), location, now);
    if (found.kind !== 'covered') return 'outside';
    const [result] = found.results;
    return 'reason' in result! ? result.reason : answerFields(topic, result!);
  };
}

/** Places where the two could differ: all over the country, in cities, along state borders, on both sides of the 180th
 * meridian, off the coasts and abroad. */
function placesOf(count: number): Location[] {
  const random = makeRandom(7, 'places');
  const boxes: readonly (readonly [south: number, north: number, west: number, east: number])[] = [
    [24, 50, -125, -66],
    [24, 50, -125, -66],
    [51, 54, -180, -176],
    [51, 54, 172, 180],
    [18.8, 22.3, -160, -154.7],
    [17.6, 18.6, -67.3, -64.5],
    [36.5, 37.5, -110, -108],
    [38.8, 39.2, -77.3, -76.8],
    [58, 66, -165, -140],
  ];
  return Array.from({ length: count }, (_, index) => {
    if (index % 10 === 0) {
      const { lat, lng } = pick(random, CITIES);
      return {
        lat: lat + drawBetween(random, -0.1, 0.1),
        lng: lng + drawBetween(random, -0.1, 0.1),
      };
    }
    const [south, north, west, east] = boxes[index % boxes.length]!;
    const digits = index % 2 === 0 ? 1e4 : 1e7;
    return {
      lat: Math.round(drawBetween(random, south, north) * digits) / digits,
      lng: Math.round(drawBetween(random, west, east) * digits) / digits,
    };
  });
}

/** Takes away some of the sample data: a topic, some states, the rows of some counties. */
function thin(database: DataDatabase): void {
  database.exec(`
    DELETE FROM datasets WHERE name = 'sites:park';
    ${coverOnly('AK,CA,CO,DC,HI,NM,PR,VA', 'records:hail', 'records:wildfire.current', 'sites:cellTower')}
    ${coverOnly('AK,AZ,CO,MD,NM,NY,TX,UT', 'nri', 'radon', 'readings')}
    DELETE FROM ratings_county WHERE geoid LIKE '%3' AND topic = 'hail';
    DELETE FROM ratings_county WHERE geoid LIKE '%7';
    DELETE FROM radon WHERE geoid LIKE '%1';
    DELETE FROM reading_boxes WHERE pollutant = 'pm10' AND min_lng < -100;
  `);
}

test('a look-up gives the fields that the service sends and the client reads, column by column', (t) => {
  const file = join(temporaryFolder(t), 'data.db');
  copySampleDatabase(file);
  using database = openDataDatabase(file);
  database.pragma('synchronous = OFF');
  const now = Date.now();
  for (const change of [() => {}, thin]) {
    change(database);
    const places = placesOf(4_000);
    const service = throughJson(database, now);
    const local = throughLookup(
      createPlaceLookup(database, { counts: true }, createDataVersion(database)),
      now,
    );
    const seen = { outside: 0, unavailable: 0, no_data: 0, fields: 0, counted: 0, measured: 0 };
    for (const [index, place] of places.entries()) {
      // Some topics of each place: all of them would take a minute, for the JSON of the cities.
      for (let at = index % 9; at < TOPIC_SLUGS.length; at += 9) {
        const topic = TOPIC_SLUGS[at]!;
        const expected = service(topic, place);
        assert.deepEqual(local(topic, place), expected, `${topic} at ${place.lat},${place.lng}`);
        if (typeof expected === 'string') seen[expected as 'outside'] += 1;
        else {
          seen.fields += 1;
          if (topicOf(topic).category === 'proximity' && expected[1] !== null) seen.measured += 1;
          if (topicOf(topic).countColumns.length > 0 && Number(expected.at(-1)) > 0)
            seen.counted += 1;
        }
      }
    }
    t.diagnostic(JSON.stringify(seen));
    const { unavailable, no_data, ...always } = seen;
    for (const [name, count] of Object.entries(always)) assert.ok(count > 100, `${name}: ${count}`);
    assert.ok(
      change !== thin || (unavailable > 200 && no_data > 8),
      `${unavailable} unavailable, ${no_data} without data`,
    );
  }
});
